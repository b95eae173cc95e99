/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line, its caches and its home without time: the rows of protocol.def, the very ones that the
 * simulator runs, between networks that may deliver in any order they are allowed to.
 *
 * Nothing else of the simulator is used, so that what explores this model is a second opinion on
 * how rows are carried out, and the first on whether they are right. What a row may not do is
 * refused: an action that the event cannot carry, a message that finds its channel full, an event
 * without a row. */
#ifndef CHECK_MODEL_H
#define CHECK_MODEL_H

#include "coherence/protocol.h"
#include <stddef.h>

enum {
	MODEL_CACHES_MAX = 5,
	MODEL_FORWARDS_MAX = 7,
	MODEL_NONE = 0xff,     /* no cache; the home */
	MODEL_NO_DATA = 0xffff /* what a cache holds that holds nothing */
};

/* From the home, in order. */
struct model_forward {
	uint8_t event; /* cache_event */
	uint8_t requester, acks;
};

struct model_cache {
	uint8_t state;   /* cache_state */
	uint8_t request; /* home_event of the request that the home has not served, plus 1; 0: none */
	uint8_t answer; /* cache_event of the data under way to here, plus 1; 0: none */
	uint8_t answer_acks;
	uint8_t inv_acks; /* under way to here */
	uint8_t forwards; /* under way to here */
	int8_t acks;      /* still to come; below 0 when acks overtook the data */
	uint16_t data, request_data, answer_data;
	struct model_forward forward[MODEL_FORWARDS_MAX];
};

struct model_home {
	uint8_t state; /* home_state */
	uint8_t owner;
	uint8_t sharers; /* a bit a cache */
	uint8_t answers, pending;
	uint8_t inv_acks, missed; /* under way to here; missed: whose request */
	bool passed, unblock;     /* under way to here */
	uint16_t memory, write_back;
	uint16_t
		latest; /* the last value stored, in coherence order; nobody in the machine knows it */
};

struct model_line {
	struct model_home home;
	struct model_cache cache[MODEL_CACHES_MAX];
};

/* What can happen next at a line. */
enum model_move {
	MOVE_LOAD,  /* a core asks for a line that it cannot read */
	MOVE_STORE, /* or stores, or asks for the right to */
	MOVE_FAR,   /* or does a locked operation that may be done at the home */
	MOVE_EVICT,
	MOVE_ANSWER, /* data arrive at a cache */
	MOVE_INV_ACK,
	MOVE_FORWARD, /* the oldest message from the home arrives */
	MOVE_REQUEST, /* a cache's request arrives at the home */
	MOVE_WRITE_BACK,
	MOVE_PASSED,
	MOVE_UNBLOCK,
	MOVE_MISSED,
	MOVE_HOME_ACK,
	MOVE_COUNT
};

enum model_outcome {
	MODEL_MOVED,
	MODEL_NOT_NOW, /* nothing is there, or it has to wait */
	MODEL_BROKEN   /* model->broken says what is wrong */
};

/* Mistakes of the machinery rather than of a row, to see that they are found. */
enum model_mistake {
	MISTAKE_NONE,
	MISTAKE_OWN_ACK,  /* a requester that shares is told to wait for its own ack */
	MISTAKE_UNORDERED /* messages from the home may overtake each other */
};

struct model {
	uint32_t caches;
	enum model_mistake mistake;
	uint32_t data_bytes; /* of a packed line's data: 1 or 2 */
	const struct protocol *rows;
	/* What a store or a far operation of `cache` makes of the line's data. */
	uint16_t (*write)(void *context, uint32_t cache, uint16_t data);
	void *context;
	bool wrote; /* set by a move that called write */
	uint64_t cache_visits[CACHE_STATE_COUNT][CACHE_EVENT_COUNT];
	uint64_t home_visits[HOME_STATE_COUNT][HOME_EVENT_COUNT];
	char broken[160];
};

/* All caches in I, memory 0, nothing under way. */
void model_start(struct model_line *line);

/* Makes one move of `cache` (0 .. caches - 1; for moves of the home alone it is not looked at). `at`:
 * which of the messages from the home arrives, 0 but for MISTAKE_UNORDERED. On MODEL_NOT_NOW and
 * MODEL_BROKEN the line is to be thrown away. */
enum model_outcome model_move(struct model *model, struct model_line *line, enum model_move move,
			      uint32_t cache, uint32_t at);

/* Is the move the home's alone, so that it is made once and not for each cache? */
static inline bool model_move_is_home(enum model_move move)
{
	return move >= MOVE_WRITE_BACK;
}

/* What the move is, for a reader: "cache 1 in SM_AD: Inv". */
void model_describe(const struct model_line *line, enum model_move move, uint32_t cache, char *text,
		    size_t size);

/* What must hold in every state. False with model->broken set. */
bool model_sound(struct model *model, const struct model_line *line);

/* Nothing under way and every cache at rest. */
bool model_quiet(const struct model *model, const struct model_line *line);

/* What must hold in a quiet state: the home's record agrees with the caches. `exact`: sharers on
 * record have the line. */
bool model_agrees(struct model *model, const struct model_line *line, bool exact);

/* Writes the line as bytes, as few as it takes; equal lines give equal bytes, others do not.
 * Returns the length, at most MODEL_PACKED_MAX. */
enum { MODEL_PACKED_MAX = 16 + MODEL_CACHES_MAX * (16 + 2 * MODEL_FORWARDS_MAX) };
size_t model_pack(const struct model *model, const struct model_line *line, uint8_t *bytes);
/* Reads them back. Returns the length. */
size_t model_unpack(const struct model *model, const uint8_t *bytes, struct model_line *line);

/* The line with cache p renamed to[p]. */
void model_rename(const struct model *model, const struct model_line *line, const uint8_t *to,
		  struct model_line *renamed);

/* Bytes of a cache that do not change when caches are renamed, for sorting. Returns the length. */
size_t model_signature(const struct model *model, const struct model_line *line, uint32_t cache,
		       uint8_t *bytes);

#endif
