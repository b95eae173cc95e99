/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private caches, homes and the messages between them, in exact time.
 *
 * Each core has one private cache (L1 over L2, shared by its hardware threads); each line has a
 * home, in a socket. What a cache or a home does with an event is a row of protocol.def; this layer
 * adds where lines are kept, how long messages travel, and who waits. Every copy carries its own
 * data, so a coherence mistake shows as a wrong value. */
#ifndef COHERENCE_COHERENCE_H
#define COHERENCE_COHERENCE_H

#include "coherence/fabric.h"
#include "coherence/protocol.h"
#include "engine/queue.h"
#include "engine/random.h"
#include <stddef.h>
#include <string.h>

enum {
	INBOUND_MAX = 48,
	LINE_MAX = 128,
	SHARER_WORDS = FABRIC_CORES_MAX / 64,
	WROTE_LINES = 256, /* a power of two */
	NOBODY = UINT16_MAX
};

/* Who is served next among the requests that wait at a line's home. */
enum discipline { DISCIPLINE_RANDOM, DISCIPLINE_FIFO, DISCIPLINE_SOCKET_BATCH, DISCIPLINE_BIASED };

struct cache_geometry {
	uint32_t sets, ways;
	uint64_t latency; /* cycles to load from it */
};

/* A locked RMW is a write that reads. */
enum { ORIGIN_READ, ORIGIN_STORE, ORIGIN_LOCKED };

/* What an access is about, for attribution: it travels with the request. */
struct origin {
	uint16_t field;       /* number of a field, as the layer above counts them */
	uint8_t offset, size; /* bytes within the line */
	uint8_t write;        /* ORIGIN_READ: 0; else what writes */
};

/* A thread's access that waits for its line. The thread owns it; the copy links it. */
struct access {
	struct access *next;
	struct origin origin;
	bool write;  /* needs the line in M: a store or a locked RMW */
	bool locked; /* a locked RMW: with far atomics it may be done at the home */
	bool late;   /* joined a request whose data are older than an Inv already acknowledged */
	uint64_t since;
	void *client;
};

struct copy;
struct line;

/* What this layer calls in the layers above. */
struct client {
	void *context;
	/* The line now allows this access: do it. Returns for how many cycles it holds the line
	 * from `now` (a locked RMW until its store, a burst of stores one cycle each), 0 for a
	 * load. A load may be called with the copy in IS_D_I: its data are older than the Inv that
	 * the cache has already acknowledged. A locked RMW may be called with the copy in II_R: the
	 * home has done it (operate), and its result has come. */
	uint64_t (*perform)(void *context, struct access *access, struct copy *copy, uint64_t now);
	/* Does a locked RMW on the home's data. */
	void (*operate)(void *context, struct access *access, struct copy *at_home);
	/* The core's copy can no longer be read: what its threads have read from it early is to be
	 * read again. */
	void (*lost)(void *context, uint32_t core, uint64_t line_address);
	/* There is no memory to go on with. Does not return while a run is under way. */
	void (*give_up)(void *context);
};

enum loss { LOSS_INVALIDATED, LOSS_DOWNGRADED, LOSS_EVICTED };

/* What an observer may see. All may be NULL. */
struct observer {
	void *context;
	/* the data of a request have come; no access has been done yet */
	void (*gained)(void *context, uint32_t core, struct copy *copy, uint64_t now);
	/* a copy was lost, or may only be read from now on, because of the access `by` of another
	 * core */
	void (*lost)(void *context, uint32_t core, struct copy *copy, enum loss loss,
		     const struct origin *by, uint64_t now);
	/* HITM: what this access of the core reads is modified in another core's cache, in this socket or
	 * across */
	void (*hitm)(void *context, uint32_t core, const struct origin *by, bool across);
};

enum message_kind { TO_CACHE, TO_HOME, UNLOCK, WAKE, SIGNAL };

struct message {
	struct event event; /* must be first */
	uint8_t kind;
	uint8_t type;       /* cache_event or home_event */
	bool as_sharer;     /* of a GetM: the requester has a copy to read */
	uint16_t core;      /* the cache it goes to, or comes from */
	uint16_t requester; /* whom to answer; NOBODY: the home */
	int16_t acks;
	struct origin origin;
	struct line *line;
	void *thread;          /* of a WAKE or SIGNAL */
	struct access *access; /* of a far operation, and of its result */
	uint64_t arrived;      /* when it began to wait here */
	uint64_t sent;         /* of data: when the line began to move */
	uint64_t queued;       /* cycles that the request has waited in queues so far */
	struct message *next;
	uint8_t data[LINE_MAX];
};

/* A line as its home knows it. */
struct line {
	uint64_t address;  /* of its first byte */
	struct line *next; /* in the hash table */
	uint8_t state;     /* home_state */
	bool in_llc;
	bool shared;             /* more than one core has asked for it */
	uint8_t socket;          /* of the home */
	uint16_t owner;          /* the owner on record: it has the line or it is on its way */
	uint16_t first;          /* the first core that asked */
	uint16_t batch;          /* hand-overs within one socket in a row */
	uint16_t last;           /* the core last served */
	uint32_t number;         /* in the order of the first requests */
	uint32_t answers;        /* in HA: copies called in that are still to come */
	struct message *pending; /* in HA: the far operation */
	uint32_t waiting_count, puts_waiting;
	struct message *waiting, **waiting_tail;
	uint64_t busy_until;
	uint64_t sharers[SHARER_WORDS];
	uint16_t readable, writable, sources; /* copies, with config.paranoid */
	void *notes;                          /* the observer's */
	struct line_counts {
		uint64_t reads, owns, upgrades; /* requests served */
		uint64_t far;                   /* operations done at the home */
		uint64_t transfers[2];          /* from another cache: [across] */
		uint64_t hitm[2]; /* of these, modified there, for a load or locked RMW */
		uint64_t memory, invalidations;
		uint64_t queued; /* cycles that requests waited */
		uint64_t busy;   /* cycles that the line was moving or locked */
	} counts;
	uint8_t memory[LINE_MAX];
	uint8_t golden[LINE_MAX]; /* the last value stored, in coherence order; with config.paranoid
				   */
};

/* A line in a private cache. */
struct copy {
	struct line *line;
	uint64_t address;
	struct copy *next; /* among those that are in no set: requests and write-backs under way */
	uint8_t state;     /* cache_state */
	bool in_set;
	bool fresh;            /* data have come, and no access has been done yet */
	bool watched;          /* other cores have asked for the line too: observers want to know */
	int16_t acks;          /* still to come; below 0 when acks overtook the data */
	uint64_t locked_until; /* a locked RMW or a burst of stores holds it */
	uint64_t kept_until;   /* the core goes on with it although others have asked */
	uint64_t unlock;       /* when the next UNLOCK is due; 0: none is under way */
	uint64_t queued;       /* cycles that the last request waited in queues */
	bool upgraded;         /* the last request found a copy to read */
	uint64_t filled;       /* when the data of the last request came */
	uint64_t moving_since; /* when the data began to move here */
	struct access *waiting, **waiting_tail;
	struct access *far;  /* is done at the home */
	bool written;        /* since the data came */
	uint32_t changed_by; /* for the layer above: who did the last locked RMW here; 0: nobody */
	struct message *stalled, **stalled_tail;
	uint8_t data[LINE_MAX];
};

struct core {
	uint32_t number, socket;
	uint32_t count; /* messages sent, for the queue's order */
	uint32_t inbound_count, inbound_more;
	uint64_t inbound[INBOUND_MAX]; /* times of the events under way to this core; `more` have no
					  place */
	uint64_t *l1_tag;              /* [set * ways + k], the most recent first */
	struct copy **l1, **l2;
	struct copy *transit; /* copies in no set */
	uint64_t *wrote;      /* [WROTE_LINES] with config.migratory, else NULL: lines, by their
			    addresses' low bits, that it had written when it last lost them */
	struct core_counts {
		uint64_t evictions, dram[2];
	} counts;
};

struct coherence_config {
	uint32_t line; /* bytes: 32, 64 or 128 */
	struct cache_geometry l1, l2;
	uint32_t llc_sets, llc_ways; /* a socket's */
	enum protocol_kind protocol;
	enum s_eviction eviction;
	enum home_kind home;
	enum atomics atomics;
	enum discipline discipline;
	uint32_t batch; /* DISCIPLINE_SOCKET_BATCH: at most so many hand-overs in a row within a
			   socket */
	double bias;    /* DISCIPLINE_BIASED: weight of a waiter near the core last served, against
			one elsewhere; above 0 */
	bool migratory; /* a core asks to own a line that it had written when it last lost it, even
			   to read it */
	bool paranoid;
	uint64_t seed;
};

/* How often each row of the protocol was taken. An access that hits counts when it reads or writes
 * the data. */
struct visits {
	uint64_t cache[CACHE_STATE_COUNT][CACHE_EVENT_COUNT];
	uint64_t home[HOME_STATE_COUNT][HOME_EVENT_COUNT];
};

/* What kind of mistake was found: an event without a row or a cache at odds with itself, a load of
 * anything but the last value stored, copies beside one that may be written, a request without an
 * end. */
enum defect { DEFECT_NONE, DEFECT_PROTOCOL, DEFECT_VALUE, DEFECT_COPIES, DEFECT_STUCK };

struct coherence {
	struct coherence_config config;
	struct protocol protocol;
	struct visits *visits; /* with config.paranoid, else NULL */
	struct fabric *fabric;
	struct client client;
	struct observer observer;
	struct queue *queue;
	struct core *cores;
	struct line **table; /* hash of lines by address */
	size_t table_size, line_count;
	uint32_t line_seen; /* lines that their homes have heard of */
	struct line **llc;  /* [socket][set][way], the most recent first */
	struct message *pool;
	struct copy *copies;
	void *chunks;                          /* memory to free at the end */
	uint32_t line_shift, l1_mask, l2_mask; /* set = address >> line_shift & mask */
	struct random random;
	uint32_t *home_count; /* messages sent, a home */
	uint64_t now;
	uint64_t events;
	struct error defect; /* set: the run must stop */
	enum defect defect_kind;
};

/* Takes over the fabric, also where it returns NULL, without memory. */
struct coherence *coherence_new(const struct coherence_config *config, struct fabric *fabric,
				const struct client *client);
void coherence_free(struct coherence *coherence);

/* The line that holds a byte; a new one is homed in socket 0. NULL only without memory and outside a run;
 * `defect` is set then. */
struct line *coherence_line(struct coherence *coherence, uint64_t address);

/* Places a line's initial memory, before the run. */
void coherence_poke(struct coherence *coherence, uint64_t address, const void *data, size_t size);
void coherence_set_home(struct coherence *coherence, uint64_t address, uint32_t socket);
/* The value that a load would return now, from whichever copy is current. For use when nothing is
 * under way. */
void coherence_peek(struct coherence *coherence, uint64_t address, void *data, size_t size);

/* The copy of a line in a core's cache or on its way, NULL where there is none. */
struct copy *cache_find(struct coherence *coherence, struct core *core, uint64_t line_address);

/* Looks up the L1, then the L2 and brings the line up from there. Returns the copy if the threads
 * of the core may read it (or, with `write`, write it: E becomes M) at once, and adds the latency
 * to *cycles; else NULL. */
struct copy *cache_look_up(struct coherence *coherence, struct core *core, uint64_t line_address,
			   bool write, uint64_t now, uint64_t *cycles);

/* Do others wait for the copy, whose turn it is? */
static inline bool copy_owed(const struct copy *copy, uint64_t now)
{
	return copy->stalled && copy->kept_until <= now;
}

/* The same, with the commonest case in line: the line that its L1 set used last, readable or
 * already in M. */
static inline struct copy *cache_hit(struct coherence *coherence, struct core *core,
				     uint64_t line_address, bool write, uint64_t now,
				     uint64_t *cycles)
{
	size_t at = (size_t)(line_address >> coherence->line_shift & coherence->l1_mask) *
		    coherence->config.l1.ways;
	struct copy *copy = core->l1[at];

	if (core->l1_tag[at] == line_address && copy &&
	    (write ? copy->state == STATE_M && copy->locked_until <= now && !copy_owed(copy, now)
		   : cache_readable(copy->state))) {
		*cycles += coherence->config.l1.latency;
		return copy;
	}
	return cache_look_up(coherence, core, line_address, write, now, cycles);
}

/* Queues an access for a line that did not hit, and sends the request if none is under way. `now`
 * may lie ahead of the event being run, up to where nothing can reach the core. */
void cache_wait(struct coherence *coherence, struct core *core, uint64_t line_address,
		struct access *access, uint64_t now);

/* Answers what has waited for a lock that has ended by `now`, so that a line leaves right after one
 * locked operation if another core waits. To be called before a thread goes on after such an
 * operation. */
void cache_settle(struct coherence *coherence, struct core *core, uint64_t line_address,
		  uint64_t now);

/* What config.paranoid adds, in audit.c: each load is compared with the last value stored, each
 * change of a copy's state is checked for copies beside one that may be written, rows are counted.
 */
void audit_read(struct coherence *coherence, const struct copy *copy, const struct origin *where,
		uint64_t value);
void audit_state(struct coherence *coherence, struct copy *copy, enum cache_state old);
/* The home is about to do an operation: no copy may be left to read. */
void audit_operate(struct coherence *coherence, struct line *line);

/* Ends the run as a defect that names the access that has waited longest, its line and all who wait
 * at the line's home. False where no access waits. */
bool audit_stuck(struct coherence *coherence);
/* For the end of a run, when nothing is under way: a defect if anyone still waits, or a home or a
 * copy is on its way to another state. */
void audit_rest(struct coherence *coherence);

/* Reads `size` bytes (1, 2, 4, 8) of a copy that allows it. With config.paranoid every read is
 * compared with the last value stored by anyone (but for data that are older than an acknowledged
 * Inv). */
static inline uint64_t copy_read(struct coherence *coherence, struct copy *copy,
				 const struct origin *where)
{
	const uint8_t *at = copy->data + where->offset;
	uint64_t value = 0;

	if (where->size == 8)
		memcpy(&value, at, 8);
	else
		memcpy(&value, at, where->size);
	if (__builtin_expect(coherence->config.paranoid, 0))
		audit_read(coherence, copy, where, value);
	return value;
}

/* Writes them. */
static inline void copy_write(struct coherence *coherence, struct copy *copy,
			      const struct origin *where, uint64_t value)
{
	copy->written = true;
	if (where->size == 8)
		memcpy(copy->data + where->offset, &value, 8);
	else
		memcpy(copy->data + where->offset, &value, where->size);
	if (__builtin_expect(coherence->config.paranoid, 0))
		memcpy(copy->line->golden + where->offset, &value, where->size);
}

/* Takes the earliest event of all and moves `now` there. NULL when nothing is under way. */
struct message *coherence_next(struct coherence *coherence);

/* Runs one message of kind TO_CACHE, TO_HOME or UNLOCK, and releases it where it is done. */
void coherence_handle(struct coherence *coherence, struct message *message);

/* For the file that keeps homes, caches and messages together. */
struct message *message_new(struct coherence *coherence);
void message_free(struct coherence *coherence, struct message *message);
void message_to_cache(struct coherence *coherence, struct message *message, uint32_t core,
		      uint64_t cause, uint64_t time);
void message_to_home(struct coherence *coherence, struct message *message, uint64_t cause,
		     uint64_t time);
struct copy *copy_new(struct coherence *coherence);
void copy_free(struct coherence *coherence, struct copy *copy);
void core_schedule(struct coherence *coherence, struct core *core, struct message *message,
		   uint64_t time);
void home_handle(struct coherence *coherence, struct message *message);
void cache_handle(struct coherence *coherence, struct message *message);
void coherence_defect(struct coherence *coherence, const struct line *line, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

/* The earliest time at which anything under way can reach the core. */
uint64_t core_horizon(struct coherence *coherence, const struct core *core);

static inline bool sharers_has(const struct line *line, uint32_t core)
{
	return line->sharers[core / 64] >> (core % 64) & 1;
}

#endif
