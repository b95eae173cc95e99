/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The home of a line: who has it, who waits for it, who is next.
 *
 * Invariant: of the home's messages about one line none overtakes another on the way to the same
 * cache, since all take the same leg and each leaves at `busy_until` or later. */
#include "coherence/coherence.h"
#include <string.h>

static bool sharers_empty(const struct line *line)
{
	uint64_t any = 0;

	for (int k = 0; k < SHARER_WORDS; k++)
		any |= line->sharers[k];
	return !any;
}

static void sharers_add(struct line *line, uint32_t core)
{
	line->sharers[core / 64] |= 1ull << (core % 64);
}

static void sharers_remove(struct line *line, uint32_t core)
{
	line->sharers[core / 64] &= ~(1ull << (core % 64));
}

/* ---- LLC ------------------------------------------------------------------------------------ */

static struct line **llc_set(struct coherence *coherence, const struct line *line)
{
	const struct coherence_config *config = &coherence->config;
	uint64_t set = line->address / config->line % config->llc_sets;

	return coherence->llc + (line->socket * config->llc_sets + set) * config->llc_ways;
}

/* Makes the line the most recent of its set. */
static void llc_touch(struct coherence *coherence, struct line *line)
{
	struct line **set = llc_set(coherence, line);
	uint32_t ways = coherence->config.llc_ways, k = 0;

	while (k < ways - 1 && set[k] && set[k] != line)
		k++;
	if (set[k] && set[k] != line)
		set[k]->in_llc = false;
	memmove(set + 1, set, k * sizeof(*set));
	set[0] = line;
	line->in_llc = true;
}

/* ---- answers -------------------------------------------------------------------------------- */

static struct message *answer(struct coherence *coherence, struct line *line,
			      const struct message *request, uint8_t type)
{
	struct message *message = message_new(coherence);

	message->type = type;
	message->line = line;
	message->requester = request->core;
	message->origin = request->origin;
	message->queued = request->queued;
	message->event.source = coherence->fabric->cores + line->socket;
	message->event.count = coherence->home_count[line->socket]++;
	return message;
}

/* From the LLC or from memory. */
static uint64_t memory_leg(struct coherence *coherence, struct line *line,
			   const struct message *request)
{
	const struct fabric *fabric = coherence->fabric;
	bool across = line->socket != fabric_socket(fabric, request->core), hit = line->in_llc;

	llc_touch(coherence, line);
	if (hit)
		return across ? fabric->clean[DISTANCE_CROSS] : fabric->llc;
	line->counts.memory++;
	coherence->cores[request->core].counts.dram[across]++;
	return fabric->dram[across];
}

/* From where the home's data come: a cache that shares the line, the LLC, or memory. With a
 * forwarder the home would have asked it instead. */
static uint64_t data_leg(struct coherence *coherence, struct line *line,
			 const struct message *request)
{
	const struct fabric *fabric = coherence->fabric;
	enum distance nearest = DISTANCES, distance;

	if (request->as_sharer && sharers_has(line, request->core))
		return fabric->grant;
	for (uint32_t core = 0; core < fabric->cores && nearest > 0; core++) {
		if (core == request->core || !sharers_has(line, core))
			continue;
		distance = fabric_distance(fabric, core, request->core);
		nearest = distance < nearest ? distance : nearest;
	}
	if (nearest == DISTANCES || coherence->config.protocol == PROTOCOL_MESIF)
		return memory_leg(coherence, line, request);
	line->counts.transfers[nearest == DISTANCE_CROSS]++;
	return fabric->clean[nearest];
}

/* The home is busy until then at least. */
static void stay_busy(struct line *line, uint64_t until)
{
	line->busy_until = until > line->busy_until ? until : line->busy_until;
}

static void grant(struct coherence *coherence, struct line *line, const struct message *request,
		  enum cache_event type, int acks, uint64_t start)
{
	struct message *message = answer(coherence, line, request, (uint8_t)type);
	uint64_t leg = data_leg(coherence, line, request), now = coherence->now;
	uint64_t wait = start - now +
			fabric_link_wait(coherence->fabric, line->socket,
					 fabric_socket(coherence->fabric, request->core), start);

	message->acks = (int16_t)acks;
	message->sent = now;
	message->queued += wait;
	memcpy(message->data, line->memory, coherence->config.line);
	message_to_cache(coherence, message, request->core, now, now + wait + leg);
	stay_busy(line, start + coherence->fabric->home_occupancy);
}

/* Tells an owner that it may write once so many acks are in. The word must not be overtaken by a
 * forward, which takes less time: the home is busy meanwhile. */
static void grant_count(struct coherence *coherence, struct line *line,
			const struct message *request, int acks, uint64_t start)
{
	const struct fabric *fabric = coherence->fabric;
	struct message *message = answer(coherence, line, request, EVENT_AckCount0);

	message->acks = (int16_t)acks;
	message->sent = coherence->now;
	message->queued += start - coherence->now;
	message_to_cache(coherence, message, request->core, coherence->now, start + fabric->grant);
	stay_busy(line, start + fabric->home_occupancy);
	if (fabric->grant > fabric->forward)
		stay_busy(line, start + fabric->grant - fabric->forward);
}

/* Tells the sharers of one distance from the requester to invalidate, one after the other. */
static int invalidate(struct coherence *coherence, struct line *line, const struct message *request,
		      bool across, bool recall, uint64_t *start)
{
	const struct fabric *fabric = coherence->fabric;
	uint32_t socket = fabric_socket(fabric, request->core);
	int count = 0;

	for (uint32_t core = 0; core < fabric->cores; core++) {
		if ((core == request->core && !recall) || !sharers_has(line, core) ||
		    across != (fabric_socket(fabric, core) != socket))
			continue;
		struct message *message = answer(coherence, line, request, EVENT_Inv);

		message->requester = recall ? NOBODY : request->core;
		message_to_cache(coherence, message, core, coherence->now,
				 *start + fabric->forward);
		*start += fabric->invalidate_serial;
		count++;
	}
	return count;
}

/* Tells every sharer but the requester, or for a recall every sharer, to invalidate: the far ones
 * last, so that what is waited for is the slowest and the whole serial part. The number of acks to
 * come; *last: when the home has sent them all. */
static int invalidate_all(struct coherence *coherence, struct line *line,
			  const struct message *request, bool recall, uint64_t *last)
{
	int acks = invalidate(coherence, line, request, false, recall, last);

	acks += invalidate(coherence, line, request, true, recall, last);
	line->counts.invalidations += (uint64_t)acks;
	return acks;
}

static void forward(struct coherence *coherence, struct line *line, const struct message *request,
		    enum cache_event type, int acks, uint64_t start)
{
	struct message *message = answer(coherence, line, request, (uint8_t)type);

	message->acks = (int16_t)acks;
	message->queued += start - coherence->now;
	message_to_cache(coherence, message, line->owner, coherence->now,
			 start + coherence->fabric->forward);
}

/* ---- far operations ------------------------------------------------------------------------- */

/* Calls the copies in; the operation waits for them. */
static void recall(struct coherence *coherence, struct line *line, const struct message *request,
		   const struct protocol_row *row, uint64_t start)
{
	uint64_t last = start;

	line->pending = message_new(coherence);
	*line->pending = *request;
	if (DOES(row, recall)) {
		forward(coherence, line, request, EVENT_Recall, 0, start);
		line->answers++;
	}
	if (DOES(row, recallAll)) {
		line->answers += (uint32_t)invalidate_all(coherence, line, request, true, &last);
		memset(line->sharers, 0, sizeof(line->sharers));
	}
	stay_busy(line, last);
}

/* Does the operation on the home's data, and sends its result. */
static void operate(struct coherence *coherence, struct line *line, const struct message *last,
		    uint64_t start)
{
	const struct message *request = line->pending ? line->pending : last;
	struct copy at_home = { .line = line, .address = line->address, .state = STATE_M };
	struct message *message = answer(coherence, line, request, EVENT_Result);
	uint64_t leg = memory_leg(coherence, line, request);

	if (coherence->config.paranoid)
		audit_operate(coherence, line);
	memcpy(at_home.data, line->memory, coherence->config.line);
	coherence->client.operate(coherence->client.context, request->access, &at_home);
	memcpy(line->memory, at_home.data, coherence->config.line);
	line->counts.far++;
	message->access = request->access;
	message->queued += start - coherence->now;
	message_to_cache(coherence, message, request->core, coherence->now, start + leg);
	stay_busy(line, start + coherence->fabric->far_occupancy);
	if (line->pending)
		message_free(coherence, line->pending);
	line->pending = NULL;
}

/* ---- requests ------------------------------------------------------------------------------- */

/* Is this core the only sharer on record? */
static bool shares_alone(const struct line *line, uint32_t core)
{
	uint64_t others = 0;

	for (uint32_t k = 0; k < SHARER_WORDS; k++)
		others |= line->sharers[k] & ~(core / 64 == k ? 1ull << (core % 64) : 0);
	return !others && sharers_has(line, core);
}

static enum home_event classify_put(const struct line *line, const struct message *message)
{
	bool owner = line->owner == message->core;

	if (owner && message->type != EVENT_PutOther)
		return message->type;
	if (shares_alone(line, message->core))
		return EVENT_PutLast;
	return owner ? EVENT_PutOwnerF : EVENT_PutOther;
}

/* A message as an event of the table: what it means depends on who owns and shares the line by
 * now. */
static inline enum home_event classify(const struct line *line, const struct message *message)
{
	switch (message->type) {
	case EVENT_GetM:
		return line->owner == message->core ? EVENT_GetMOwner : EVENT_GetM;
	case EVENT_PutOwnerE:
	case EVENT_PutOwnerM:
	case EVENT_PutOther:
		return classify_put(line, message);
	case EVENT_WriteBack:
		return line->answers > 1 || (!line->answers && !sharers_empty(line))
			       ? EVENT_WriteBack
			       : EVENT_WriteBackLast;
	case EVENT_Unblock:
		return sharers_empty(line) ? EVENT_UnblockLast : EVENT_Unblock;
	case EVENT_HomeAck:
		return line->answers == 1 ? EVENT_LastHomeAck : EVENT_HomeAck;
	default:
		return message->type;
	}
}

static bool is_request(const struct message *message)
{
	return message->type == EVENT_GetS || message->type == EVENT_GetM ||
	       message->type == EVENT_Atomic;
}

static void wait_at_home(struct coherence *coherence, struct line *line, struct message *message)
{
	message->arrived = coherence->now;
	message->next = NULL;
	*line->waiting_tail = message;
	line->waiting_tail = &message->next;
	line->waiting_count++;
	line->puts_waiting += !is_request(message);
}

static void note_request(struct coherence *coherence, struct line *line,
			 const struct message *message)
{
	uint16_t socket = (uint16_t)fabric_socket(coherence->fabric, message->core);

	line->counts.reads += message->type == EVENT_GetS;
	line->counts.owns += message->type == EVENT_GetM;
	line->counts.queued += message->queued;
	line->batch = socket == fabric_socket(coherence->fabric, line->last)
			      ? (uint16_t)(line->batch + 1)
			      : 0;
	line->last = message->core;
}

/* Sends what the row says. */
static void respond(struct coherence *coherence, struct line *line, const struct message *message,
		    const struct protocol_row *row, uint64_t start)
{
	uint64_t last = start;
	int acks = DOES(row, inv) ? invalidate_all(coherence, line, message, false, &last) : 0;

	line->counts.upgrades += (DOES(row, gM) || DOES(row, gCount)) && message->as_sharer;
	if (DOES(row, gExcl))
		grant(coherence, line, message, EVENT_DataExcl, 0, start);
	if (DOES(row, gShared))
		grant(coherence, line, message, EVENT_DataAck0, 0, start);
	if (DOES(row, gForward))
		grant(coherence, line, message, EVENT_DataF, 0, start);
	if (DOES(row, gM))
		grant(coherence, line, message, EVENT_DataAck0, acks, start);
	if (DOES(row, gCount))
		grant_count(coherence, line, message, acks, start);
	if (DOES(row, fGetS))
		forward(coherence, line, message, EVENT_FwdGetS, 0, start);
	if (DOES(row, fGetF))
		forward(coherence, line, message, EVENT_FwdGetF, 0, start);
	if (DOES(row, fGetM))
		forward(coherence, line, message, EVENT_FwdGetM, acks, start);
	if (DOES(row, recall) || DOES(row, recallAll))
		recall(coherence, line, message, row, start);
	if (DOES(row, ack)) {
		struct message *ack = answer(coherence, line, message, EVENT_PutAck);

		message_to_cache(coherence, ack, message->core, coherence->now,
				 start + coherence->fabric->forward);
	}
	if (DOES(row, inv)) {
		stay_busy(line, last);
		memset(line->sharers, 0, sizeof(line->sharers));
	}
}

/* Who owns and shares the line from now on. */
static void keep_record(struct line *line, const struct message *message,
			const struct protocol_row *row)
{
	if (DOES(row, sharer) || DOES(row, sharers))
		sharers_add(line, message->core);
	if (DOES(row, sharers))
		sharers_add(line, line->owner);
	if (DOES(row, disown))
		line->owner = NOBODY;
	if (DOES(row, owner))
		line->owner = message->core;
	if (DOES(row, leave))
		sharers_remove(line, message->core);
	if (DOES(row, heard))
		line->answers--;
}

/* Does what the row says. False where the message must wait. */
static bool home_apply(struct coherence *coherence, struct line *line, struct message *message)
{
	enum home_event event = classify(line, message);
	const struct protocol_row *row = &coherence->protocol.home[line->state][event];
	uint64_t now = coherence->now, start = line->busy_until > now ? line->busy_until : now;

	if (!row->valid) {
		coherence_defect(coherence, line, "no row for %s from core %u",
				 home_event_name(event), message->core);
		return true;
	}
	if (coherence->visits)
		coherence->visits->home[line->state][event]++;
	if (DOES(row, wait))
		return false;
	if (is_request(message))
		note_request(coherence, line, message);
	if (DOES(row, put)) {
		memcpy(line->memory, message->data, coherence->config.line);
		llc_touch(coherence, line);
		line->counts.busy += message->sent ? now - message->sent : 0;
	}
	if (row->actions) {
		respond(coherence, line, message, row, start);
		keep_record(line, message, row);
	}
	line->state = row->next;
	if (DOES(row, operate))
		operate(coherence, line, message, start);
	return true;
}

/* ---- service -------------------------------------------------------------------------------- */

static bool servable(const struct coherence *coherence, const struct line *line,
		     const struct message *message)
{
	return !DOES(&coherence->protocol.home[line->state][classify(line, message)], wait);
}

/* Those from the socket of the last one served, from its neighbourhood, and the others. */
enum whose { ANYONES, FROM_SOCKET, FROM_OTHER_SOCKETS, FROM_NEAR, FROM_FAR };

static bool is_from(const struct coherence *coherence, const struct line *line,
		    const struct message *message, enum whose whose)
{
	const struct fabric *fabric = coherence->fabric;

	switch (whose) {
	case FROM_SOCKET:
	case FROM_OTHER_SOCKETS:
		return (fabric_socket(fabric, message->core) ==
			fabric_socket(fabric, line->last)) == (whose == FROM_SOCKET);
	case FROM_NEAR:
	case FROM_FAR:
		return (fabric_neighbourhood(fabric, message->core) ==
			fabric_neighbourhood(fabric, line->last)) == (whose == FROM_NEAR);
	default:
		return true;
	}
}

/* The k-th request that waits, of those from there; NULL where there are not so many. */
static struct message **waiter(struct coherence *coherence, struct line *line, uint64_t k,
			       enum whose whose)
{
	for (struct message **at = &line->waiting; *at; at = &(*at)->next)
		if (is_request(*at) && is_from(coherence, line, *at, whose) && k-- == 0)
			return at;
	return NULL;
}

/* One at random, each of those near the last one served with `bias` times the weight of another. */
static struct message **biased(struct coherence *coherence, struct line *line, uint32_t requests)
{
	uint32_t near = 0;
	double bias = coherence->config.bias, drawn;

	for (struct message *at = line->waiting; at; at = at->next)
		near += is_request(at) && is_from(coherence, line, at, FROM_NEAR);
	drawn = random_real(&coherence->random) * (bias * near + (requests - near));
	if (near && (drawn < bias * near || near == requests)) {
		uint64_t k = (uint64_t)(drawn / bias);

		return waiter(coherence, line, k < near ? k : near - 1, FROM_NEAR);
	}
	uint64_t far = (uint64_t)(drawn - bias * near), last = requests - near - 1;

	return waiter(coherence, line, far < last ? far : last, FROM_FAR);
}

/* A Put that waits is served before any request: it takes nothing from anyone. */
static struct message **waiting_put(struct coherence *coherence, struct line *line)
{
	for (struct message **at = &line->waiting; *at && line->puts_waiting; at = &(*at)->next)
		if (!is_request(*at) && servable(coherence, line, *at))
			return at;
	return NULL;
}

/* Who is next, or NULL where the state serves nobody. In each state requests to read and to write
 * are served alike, or both wait. */
static struct message **choose(struct coherence *coherence, struct line *line)
{
	struct message **put = waiting_put(coherence, line), **first, **near = NULL;
	uint32_t requests = line->waiting_count - line->puts_waiting;

	if (put || !requests)
		return put;
	first = waiter(coherence, line, 0, ANYONES);
	if (!servable(coherence, line, *first))
		return NULL;
	switch (coherence->config.discipline) {
	case DISCIPLINE_RANDOM:
		return waiter(coherence, line, random_below(&coherence->random, requests), ANYONES);
	case DISCIPLINE_SOCKET_BATCH:
		near = waiter(coherence, line, 0,
			      line->batch < coherence->config.batch ? FROM_SOCKET
								    : FROM_OTHER_SOCKETS);
		return near ? near : first;
	case DISCIPLINE_BIASED:
		return biased(coherence, line, requests);
	default:
		return first;
	}
}

static struct message *unlink_waiter(struct line *line, struct message **at)
{
	struct message *message = *at;

	*at = message->next;
	if (!*at)
		line->waiting_tail = at;
	line->waiting_count--;
	line->puts_waiting -= !is_request(message);
	return message;
}

void home_handle(struct coherence *coherence, struct message *message)
{
	struct line *line = message->line;
	struct message **next;

	if (line->first == NOBODY) {
		line->first = message->core;
		line->number = coherence->line_seen++;
	}
	line->shared |= line->first != message->core;
	if (!home_apply(coherence, line, message)) {
		wait_at_home(coherence, line, message);
		return;
	}
	message_free(coherence, message);
	while (line->waiting && (next = choose(coherence, line)) && !coherence->defect.text[0]) {
		message = unlink_waiter(line, next);
		message->queued += coherence->now - message->arrived;
		home_apply(coherence, line, message);
		message_free(coherence, message);
	}
}
