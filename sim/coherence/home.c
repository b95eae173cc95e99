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

/* From where the home's data come: a cache that shares the line, the LLC, or memory. */
static uint64_t data_leg(struct coherence *coherence, struct line *line,
			 const struct message *request)
{
	const struct fabric *fabric = coherence->fabric;
	uint32_t socket = fabric_socket(fabric, request->core);
	bool shared = false, near = false;

	if (request->as_sharer && sharers_has(line, request->core))
		return fabric->grant;
	for (uint32_t core = 0; core < fabric->cores && !near; core++)
		if (core != request->core && sharers_has(line, core)) {
			shared = true;
			near = fabric_socket(fabric, core) == socket;
		}
	if (shared) {
		line->counts.transfers[!near]++;
		return fabric->clean[!near];
	}
	bool across = line->socket != socket, hit = line->in_llc;

	llc_touch(coherence, line);
	if (hit)
		return across ? fabric->clean[1] : fabric->llc;
	line->counts.memory++;
	coherence->cores[request->core].counts.dram[across]++;
	return fabric->dram[across];
}

static uint64_t grant(struct coherence *coherence, struct line *line, const struct message *request,
		      uint8_t type, int acks, uint64_t start)
{
	struct message *message = answer(coherence, line, request, type);
	uint64_t leg = data_leg(coherence, line, request), now = coherence->now;
	uint64_t wait = start - now +
			fabric_link_wait(coherence->fabric, line->socket,
					 fabric_socket(coherence->fabric, request->core), start);

	message->acks = (int16_t)acks;
	message->sent = now;
	message->queued += wait;
	memcpy(message->data, line->memory, coherence->config.line);
	message_to_cache(coherence, message, request->core, now, now + wait + leg);
	return start + coherence->fabric->home_occupancy;
}

/* Tells the sharers of one distance from the requester to invalidate, one after the other. */
static int invalidate(struct coherence *coherence, struct line *line, const struct message *request,
		      bool across, uint64_t *start)
{
	const struct fabric *fabric = coherence->fabric;
	uint32_t socket = fabric_socket(fabric, request->core);
	int count = 0;

	for (uint32_t core = 0; core < fabric->cores; core++) {
		if (core == request->core || !sharers_has(line, core) ||
		    across != (fabric_socket(fabric, core) != socket))
			continue;
		struct message *message = answer(coherence, line, request, EVENT_Inv);

		message_to_cache(coherence, message, core, coherence->now,
				 *start + fabric->forward);
		*start += fabric->invalidate_serial;
		count++;
	}
	return count;
}

static void forward(struct coherence *coherence, struct line *line, const struct message *request,
		    uint8_t type, uint64_t start)
{
	struct message *message = answer(coherence, line, request, type);

	message->queued += start - coherence->now;
	message_to_cache(coherence, message, line->owner, coherence->now,
			 start + coherence->fabric->forward);
}

static void grant_to_write(struct coherence *coherence, struct line *line,
			   const struct message *request, uint64_t start)
{
	/* The far ones last, so that what is waited for is the slowest and the whole serial part.
	 */
	uint64_t last = start, free_at;
	int acks = invalidate(coherence, line, request, false, &last);

	acks += invalidate(coherence, line, request, true, &last);
	line->counts.invalidations += (uint64_t)acks;
	line->counts.upgrades += request->as_sharer;
	free_at = grant(coherence, line, request, EVENT_DataAck0, acks, start);
	line->busy_until = last > free_at ? last : free_at;
	memset(line->sharers, 0, sizeof(line->sharers));
}

/* ---- requests ------------------------------------------------------------------------------- */

/* A message as an event of the table: what a Put means depends on who owns and shares the line by
 * now. */
static enum home_event classify(const struct line *line, const struct message *message)
{
	bool others = false, sharing = line->state == STATE_HS || line->state == STATE_SD ||
				       line->state == STATE_BS || line->state == STATE_BSD;

	switch (message->type) {
	case EVENT_PutOwnerE:
	case EVENT_PutOwnerM:
		if (line->owner == message->core)
			return message->type;
		/* fallthrough */
	case EVENT_PutOther:
		for (int k = 0; k < SHARER_WORDS; k++)
			others |= (line->sharers[k] &
				   ~(message->core / 64 == k ? 1ull << (message->core % 64) : 0)) !=
				  0;
		return sharing && !others ? EVENT_PutLast : EVENT_PutOther;
	case EVENT_WriteBack:
		return sharers_empty(line) ? EVENT_WriteBackLast : EVENT_WriteBack;
	default:
		return message->type;
	}
}

static bool is_put(const struct message *message)
{
	return message->type != EVENT_GetS && message->type != EVENT_GetM;
}

static void wait_at_home(struct coherence *coherence, struct line *line, struct message *message)
{
	message->arrived = coherence->now;
	message->next = NULL;
	*line->waiting_tail = message;
	line->waiting_tail = &message->next;
	line->waiting_count++;
	line->puts_waiting += is_put(message);
}

static void note_request(struct coherence *coherence, struct line *line,
			 const struct message *message)
{
	uint16_t socket = (uint16_t)fabric_socket(coherence->fabric, message->core);

	line->counts.reads += message->type == EVENT_GetS;
	line->counts.owns += message->type == EVENT_GetM;
	line->counts.queued += message->queued;
	line->batch = socket == line->last_socket ? (uint16_t)(line->batch + 1) : 0;
	line->last_socket = socket;
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
	if (DOES(row, wait))
		return false;
	if (event == EVENT_GetS || event == EVENT_GetM)
		note_request(coherence, line, message);
	if (DOES(row, put)) {
		memcpy(line->memory, message->data, coherence->config.line);
		llc_touch(coherence, line);
		line->counts.busy += message->sent ? now - message->sent : 0;
	}
	if (DOES(row, gExcl))
		line->busy_until = grant(coherence, line, message, EVENT_DataExcl, 0, start);
	if (DOES(row, gShared))
		line->busy_until = grant(coherence, line, message, EVENT_DataAck0, 0, start);
	if (DOES(row, gM))
		grant_to_write(coherence, line, message, start);
	if (DOES(row, fGetS))
		forward(coherence, line, message, EVENT_FwdGetS, start);
	if (DOES(row, fGetM))
		forward(coherence, line, message, EVENT_FwdGetM, start);
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
	if (DOES(row, ack)) {
		struct message *ack = answer(coherence, line, message, EVENT_PutAck);

		message_to_cache(coherence, ack, message->core, now,
				 start + coherence->fabric->forward);
	}
	line->state = row->next;
	return true;
}

/* ---- service -------------------------------------------------------------------------------- */

static bool servable(const struct coherence *coherence, const struct line *line,
		     const struct message *message)
{
	return !DOES(&coherence->protocol.home[line->state][classify(line, message)], wait);
}

enum whose { ANYONES, FROM_SOCKET, FROM_ELSEWHERE };

/* The k-th request that waits, of those from a socket or from elsewhere; NULL where there are not
 * so many. */
static struct message **waiter(struct coherence *coherence, struct line *line, uint64_t k,
			       enum whose whose)
{
	for (struct message **at = &line->waiting; *at; at = &(*at)->next) {
		bool here = fabric_socket(coherence->fabric, (*at)->core) == line->last_socket;

		if (!is_put(*at) && (whose == ANYONES || here == (whose == FROM_SOCKET)) &&
		    k-- == 0)
			return at;
	}
	return NULL;
}

/* A Put that waits is served before any request: it takes nothing from anyone. */
static struct message **waiting_put(struct coherence *coherence, struct line *line)
{
	for (struct message **at = &line->waiting; *at && line->puts_waiting; at = &(*at)->next)
		if (is_put(*at) && servable(coherence, line, *at))
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
			      line->batch < coherence->config.batch ? FROM_SOCKET : FROM_ELSEWHERE);
		return near ? near : first;
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
	line->puts_waiting -= is_put(message);
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
