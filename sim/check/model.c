/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/model.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void model_start(struct model_line *line)
{
	memset(line, 0, sizeof(*line));
	line->home.state = STATE_HI;
	line->home.owner = line->home.pending = line->home.missed = MODEL_NONE;
	line->home.write_back = MODEL_NO_DATA;
	for (int p = 0; p < MODEL_CACHES_MAX; p++) {
		line->cache[p].state = STATE_I;
		line->cache[p].data = MODEL_NO_DATA;
		line->cache[p].request_data = line->cache[p].answer_data = MODEL_NO_DATA;
	}
}

static enum model_outcome broken(struct model *model, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static enum model_outcome broken(struct model *model, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (!model->broken[0])
		vsnprintf(model->broken, sizeof(model->broken), format, arguments);
	va_end(arguments);
	return MODEL_BROKEN;
}

/* ---- channels ------------------------------------------------------------------------------- */

static void send_forward(struct model *model, struct model_line *line, uint32_t to,
			 enum cache_event event, uint32_t requester, int acks)
{
	struct model_cache *cache = &line->cache[to];

	if (to >= model->caches) {
		broken(model, "%s to no cache", cache_event_name(event));
		return;
	}
	if (cache->forwards == MODEL_FORWARDS_MAX) {
		broken(model, "more than %d messages from the home on the way to a cache",
		       MODEL_FORWARDS_MAX);
		return;
	}
	cache->forward[cache->forwards++] =
		(struct model_forward){ (uint8_t)event, (uint8_t)requester, (uint8_t)acks };
}

static void send_answer(struct model *model, struct model_line *line, uint32_t to,
			enum cache_event event, int acks, uint16_t data)
{
	struct model_cache *cache = &line->cache[to];

	if (to >= model->caches || cache->answer) {
		broken(model, to < model->caches ? "two answers on the way to one cache"
						 : "data to no cache");
		return;
	}
	if (data == MODEL_NO_DATA && event != EVENT_Result)
		broken(model, "data sent from where there are none");
	cache->answer = (uint8_t)(event + 1);
	cache->answer_acks = (uint8_t)acks;
	cache->answer_data = data;
}

static void send_request(struct model *model, struct model_cache *cache, enum home_event event,
			 uint16_t data)
{
	if (cache->request)
		broken(model, "two requests of one cache");
	cache->request = (uint8_t)(event + 1);
	cache->request_data = data;
}

static void flag(struct model *model, bool *channel, const char *name)
{
	if (*channel)
		broken(model, "two %s on the way to the home", name);
	*channel = true;
}

/* The data of the line change, by a store or at the home. */
static uint16_t write_data(struct model *model, struct model_line *line, uint32_t cache,
			   uint16_t old)
{
	model->wrote = true;
	if (old != line->home.latest)
		broken(model, "a write finds another value than the last one stored");
	line->home.latest = model->write(model->context, cache, old);
	return line->home.latest;
}

/* A message that waits, and a load that hits, change nothing. */
static enum model_outcome waits(struct model *model, const struct protocol_row *row,
				uint32_t action, uint32_t state)
{
	if (row->actions != action || row->next != state)
		return broken(model,
			      "a message that waits, or a load that hits, changes something");
	return MODEL_NOT_NOW;
}

/* ---- caches --------------------------------------------------------------------------------- */

/* What a message, or a core, brings to a cache. */
struct brought {
	enum cache_event event;
	uint32_t requester;
	int acks;
	uint16_t data;
};

/* A request was under way in this state. */
static bool requesting(enum cache_state state)
{
	return !cache_stable(state) && state != STATE_MI_A && state != STATE_EI_A &&
	       state != STATE_SI_A && state != STATE_II_A;
}

/* Does the event bring what the action takes? */
static bool fits(uint32_t actions, enum cache_event event)
{
#define BIT(name) (1u << ACTION_##name)
	const uint32_t core = BIT(hit) | BIT(sGetS) | BIT(sGetM) | BIT(sAtomic) | BIT(sPutS) |
			      BIT(sPutE) | BIT(sPutM);
	const uint32_t requester = BIT(sInvAck) | BIT(sData) | BIT(sDataF) | BIT(sMissed);
	const uint32_t data = BIT(take) | BIT(once);

	switch (event) {
	case EVENT_Load:
	case EVENT_Store:
	case EVENT_Far:
	case EVENT_Evict:
		return !(actions & (requester | data | BIT(expect) | BIT(count) | BIT(done) |
				    BIT(result) | BIT(stall) | BIT(sWriteBack)));
	case EVENT_FwdGetS:
	case EVENT_FwdGetF:
	case EVENT_FwdGetM:
	case EVENT_Inv:
		return !(actions & (core | data | BIT(expect) | BIT(count) | BIT(result)));
	case EVENT_DataExcl:
	case EVENT_DataF:
	case EVENT_DataAck0:
	case EVENT_DataAckN:
		return !(actions & (core | requester | BIT(expect) | BIT(count) | BIT(result)));
	case EVENT_AckCount0:
	case EVENT_AckCountN:
		return !(actions & (core | requester | data | BIT(count) | BIT(result)));
	case EVENT_InvAck:
	case EVENT_LastInvAck:
		return !(actions & (core | requester | data | BIT(expect) | BIT(result)));
	case EVENT_Result:
		return !(actions & (core | requester | data | BIT(expect) | BIT(count)));
	default:
		return !(actions &
			 (core | requester | data | BIT(expect) | BIT(count) | BIT(result)));
	}
#undef BIT
}

static void cache_sends(struct model *model, struct model_line *line, struct model_cache *cache,
			const struct protocol_row *row, const struct brought *brought)
{
	struct model_home *home = &line->home;
	uint32_t to = brought->requester;

	if (DOES(row, sGetS))
		send_request(model, cache, EVENT_GetS, MODEL_NO_DATA);
	if (DOES(row, sGetM))
		send_request(model, cache, EVENT_GetM, MODEL_NO_DATA);
	if (DOES(row, sAtomic))
		send_request(model, cache, EVENT_Atomic, MODEL_NO_DATA);
	if (DOES(row, sPutS))
		send_request(model, cache, EVENT_PutOther, MODEL_NO_DATA);
	if (DOES(row, sPutE))
		send_request(model, cache, EVENT_PutOwnerE, MODEL_NO_DATA);
	if (DOES(row, sPutM))
		send_request(model, cache, EVENT_PutOwnerM, cache->data);
	if (DOES(row, sInvAck) && to == MODEL_NONE)
		home->inv_acks++;
	else if (DOES(row, sInvAck))
		line->cache[to].inv_acks++;
	if (DOES(row, sData))
		send_answer(model, line, to, EVENT_DataAck0, brought->acks, cache->data);
	if (DOES(row, sDataF))
		send_answer(model, line, to, EVENT_DataF, 0, cache->data);
	if (DOES(row, sWriteBack)) {
		if (home->write_back != MODEL_NO_DATA || cache->data == MODEL_NO_DATA)
			broken(model, "two write-backs on the way, or one without data");
		home->write_back = cache->data;
	}
	if (DOES(row, sPassed))
		flag(model, &home->passed, "Passed");
	if (DOES(row, sUnblock))
		flag(model, &home->unblock, "Unblock");
	if (DOES(row, sMissed)) {
		if (home->missed != MODEL_NONE)
			broken(model, "two Missed on the way to the home");
		home->missed = (uint8_t)to;
	}
}

static bool is_access(enum cache_event event)
{
	return event == EVENT_Load || event == EVENT_Store || event == EVENT_Far;
}

static const uint32_t SERVES =
	1u << ACTION_hit | 1u << ACTION_sGetS | 1u << ACTION_sGetM | 1u << ACTION_sAtomic;

/* The accesses that wait are done when, and only when, the request is over. */
static void cache_ends(struct model *model, const struct protocol_row *row, enum cache_state old)
{
	bool over = requesting(old) && cache_stable(row->next);
	bool served = DOES(row, done) && cache_readable(row->next);
	bool once = DOES(row, once) || DOES(row, result);

	if ((DOES(row, done) && !served) || (once && !over))
		broken(model, "a request is done in %s", cache_state_name(row->next));
	if (over != (served || (once && !cache_readable(row->next))) ||
	    (served && (DOES(row, once) || DOES(row, result))))
		broken(model, "%s to %s: the accesses that wait are %s", cache_state_name(old),
		       cache_state_name(row->next), over ? "forgotten" : "done too soon");
}

static enum model_outcome cache_step(struct model *model, struct model_line *line, uint32_t p,
				     const struct brought *brought)
{
	struct model_cache *cache = &line->cache[p];
	enum cache_state old = cache->state;
	const struct protocol_row *row = &model->rows->cache[old][brought->event];

	if (!row->valid)
		return broken(model, "no row for %s in %s", cache_event_name(brought->event),
			      cache_state_name(old));
	model->cache_visits[old][brought->event]++;
	if (!fits(row->actions, brought->event))
		return broken(model, "%s in %s: an action without what it takes",
			      cache_event_name(brought->event), cache_state_name(old));
	if (DOES(row, stall))
		return waits(model, row, 1u << ACTION_stall, old);
	if (is_access(brought->event) && !(row->actions & SERVES))
		return broken(model, "%s in %s is neither done nor asked for",
			      cache_event_name(brought->event), cache_state_name(old));
	cache_sends(model, line, cache, row, brought);
	if (DOES(row, take))
		cache->data = brought->data;
	if (DOES(row, take) || DOES(row, expect))
		cache->acks = (int8_t)(cache->acks + brought->acks);
	if (DOES(row, count))
		cache->acks--;
	if (DOES(row, once) && !DOES(row, take))
		broken(model, "loads are done without data");
	if (DOES(row, drop)) {
		if (cache->data == MODEL_NO_DATA)
			broken(model, "data dropped where there are none");
		cache->data = MODEL_NO_DATA;
	}
	if (DOES(row, hit)) {
		if (!cache_writable(row->next))
			broken(model, "a write in %s", cache_state_name(row->next));
		cache->data = write_data(model, line, p, cache->data);
	}
	cache_ends(model, row, old);
	cache->state = row->next;
	return model->broken[0] ? MODEL_BROKEN : MODEL_MOVED;
}

/* ---- the home ------------------------------------------------------------------------------- */

static int invalidate(struct model *model, struct model_line *line, uint32_t except,
		      uint32_t ack_to)
{
	int count = 0;

	if (!line->home.sharers)
		broken(model, "Inv where no sharer is on record");
	for (uint32_t q = 0; q < model->caches; q++)
		if (q != except && line->home.sharers >> q & 1) {
			send_forward(model, line, q, EVENT_Inv, ack_to, 0);
			count++;
		}
	line->home.sharers = 0;
	return count;
}

static void home_sends(struct model *model, struct model_line *line, const struct protocol_row *row,
		       uint32_t p)
{
	struct model_home *home = &line->home;
	bool own = model->mistake == MISTAKE_OWN_ACK && home->sharers >> p & 1;
	int acks = DOES(row, inv) ? invalidate(model, line, p, p) + own : 0;

	if (DOES(row, gExcl))
		send_answer(model, line, p, EVENT_DataExcl, 0, home->memory);
	if (DOES(row, gShared))
		send_answer(model, line, p, EVENT_DataAck0, 0, home->memory);
	if (DOES(row, gForward))
		send_answer(model, line, p, EVENT_DataF, 0, home->memory);
	if (DOES(row, gM))
		send_answer(model, line, p, EVENT_DataAck0, acks, home->memory);
	if (DOES(row, gCount))
		send_forward(model, line, p, EVENT_AckCount0, MODEL_NONE, acks);
	if (DOES(row, fGetS))
		send_forward(model, line, home->owner, EVENT_FwdGetS, p, 0);
	if (DOES(row, fGetF))
		send_forward(model, line, home->owner, EVENT_FwdGetF, p, 0);
	if (DOES(row, fGetM))
		send_forward(model, line, home->owner, EVENT_FwdGetM, p, acks);
	if (DOES(row, recall)) {
		send_forward(model, line, home->owner, EVENT_Recall, MODEL_NONE, 0);
		home->answers++;
	}
	if (DOES(row, recallAll))
		home->answers =
			(uint8_t)(home->answers + invalidate(model, line, MODEL_NONE, MODEL_NONE));
	if (DOES(row, recall) || DOES(row, recallAll))
		home->pending = (uint8_t)p;
	if (DOES(row, ack))
		send_forward(model, line, p, EVENT_PutAck, MODEL_NONE, 0);
}

static void home_keeps(struct model *model, struct model_line *line, const struct protocol_row *row,
		       uint32_t p)
{
	struct model_home *home = &line->home;

	if (DOES(row, sharer) || DOES(row, sharers))
		home->sharers |= (uint8_t)(1u << p);
	if (DOES(row, sharers)) {
		if (home->owner == MODEL_NONE)
			broken(model, "nobody is the owner that is to share");
		else
			home->sharers |= (uint8_t)(1u << home->owner);
	}
	if (DOES(row, disown)) {
		if (home->owner == MODEL_NONE)
			broken(model, "nobody is the owner to disown");
		home->owner = MODEL_NONE;
	}
	if (DOES(row, owner))
		home->owner = (uint8_t)p;
	if (DOES(row, leave))
		home->sharers &= (uint8_t) ~(1u << p);
	if (DOES(row, heard) && !home->answers--)
		broken(model, "an answer that nobody waits for");
}

static void home_operates(struct model *model, struct model_line *line, uint32_t p)
{
	struct model_home *home = &line->home;
	uint32_t to = home->pending == MODEL_NONE ? p : home->pending;

	home->memory = write_data(model, line, to, home->memory);
	send_answer(model, line, to, EVENT_Result, 0, MODEL_NO_DATA);
	home->pending = MODEL_NONE;
}

/* Who sent the event is known, and its request is over. */
static bool has_sender(enum home_event event)
{
	return event != EVENT_WriteBack && event != EVENT_WriteBackLast && event != EVENT_Passed &&
	       event != EVENT_Unblock && event != EVENT_UnblockLast && event != EVENT_HomeAck &&
	       event != EVENT_LastHomeAck;
}

static bool home_fits(uint32_t actions, enum home_event event)
{
#define BIT(name) (1u << ACTION_##name)
	const uint32_t sender = BIT(inv) | BIT(gExcl) | BIT(gShared) | BIT(gForward) | BIT(gM) |
				BIT(gCount) | BIT(fGetS) | BIT(fGetF) | BIT(fGetM) | BIT(sharer) |
				BIT(sharers) | BIT(owner) | BIT(leave) | BIT(ack) | BIT(recall) |
				BIT(recallAll) | BIT(wait);
	bool data = event == EVENT_PutOwnerM || event == EVENT_WriteBack ||
		    event == EVENT_WriteBackLast || event == EVENT_PutOther ||
		    event == EVENT_PutLast;
	bool request = event == EVENT_GetS || event == EVENT_GetM || event == EVENT_GetMOwner;

	return !(actions & sender && !has_sender(event)) && !(actions & BIT(put) && !data) &&
	       !(actions & BIT(operate) && (request || event == EVENT_Missed));
#undef BIT
}

static enum model_outcome home_step(struct model *model, struct model_line *line,
				    enum home_event event, uint32_t p, uint16_t data)
{
	struct model_home *home = &line->home;
	enum home_state old = home->state;
	const struct protocol_row *row = &model->rows->home[old][event];

	if (!row->valid)
		return broken(model, "no row for %s in %s", home_event_name(event),
			      home_state_name(old));
	model->home_visits[old][event]++;
	if (!home_fits(row->actions, event))
		return broken(model, "%s in %s: an action without what it takes",
			      home_event_name(event), home_state_name(old));
	if (DOES(row, wait))
		return waits(model, row, 1u << ACTION_wait, old);
	if (DOES(row, put)) {
		if (data == MODEL_NO_DATA)
			return broken(model, "%s without data", home_event_name(event));
		home->memory = data;
	}
	home_sends(model, line, row, p);
	home_keeps(model, line, row, p);
	if (DOES(row, operate))
		home_operates(model, line, p);
	home->state = row->next;
	return model->broken[0] ? MODEL_BROKEN : MODEL_MOVED;
}

/* ---- moves ---------------------------------------------------------------------------------- */

/* An answer, or the number of acks, as an event of the table: acks are counted here. */
static enum cache_event with_acks(enum cache_event event, int left)
{
	if (event == EVENT_DataAck0 && left)
		return EVENT_DataAckN;
	if (event == EVENT_AckCount0 && left)
		return EVENT_AckCountN;
	return event;
}

static enum model_outcome take_answer(struct model *model, struct model_line *line, uint32_t p)
{
	struct model_cache *cache = &line->cache[p];
	struct brought brought = { .requester = MODEL_NONE,
				   .acks = cache->answer_acks,
				   .data = cache->answer_data };

	if (!cache->answer)
		return MODEL_NOT_NOW;
	brought.event =
		with_acks((enum cache_event)(cache->answer - 1), cache->acks + cache->answer_acks);
	cache->answer = cache->answer_acks = 0;
	cache->answer_data = MODEL_NO_DATA;
	return cache_step(model, line, p, &brought);
}

static enum model_outcome take_inv_ack(struct model *model, struct model_line *line, uint32_t p)
{
	struct model_cache *cache = &line->cache[p];
	bool last = cache->acks == 1 && (cache->state == STATE_IM_A || cache->state == STATE_SM_A);

	if (!cache->inv_acks)
		return MODEL_NOT_NOW;
	cache->inv_acks--;
	return cache_step(model, line, p,
			  &(struct brought){ .event = last ? EVENT_LastInvAck : EVENT_InvAck,
					     .requester = MODEL_NONE,
					     .data = MODEL_NO_DATA });
}

static enum model_outcome take_forward(struct model *model, struct model_line *line, uint32_t p,
				       uint32_t at)
{
	struct model_cache *cache = &line->cache[p];
	struct model_forward forward = cache->forward[at];
	struct brought brought = { (enum cache_event)forward.event, forward.requester, forward.acks,
				   MODEL_NO_DATA };

	if (at >= cache->forwards)
		return MODEL_NOT_NOW;
	brought.event = with_acks(brought.event, cache->acks + forward.acks);
	cache->forwards--;
	memmove(cache->forward + at, cache->forward + at + 1,
		(cache->forwards - at) * sizeof(*cache->forward));
	memset(&cache->forward[cache->forwards], 0, sizeof(*cache->forward));
	return cache_step(model, line, p, &brought);
}

/* What a request means depends on who owns and shares the line by now. */
static enum home_event classify(const struct model_line *line, uint32_t p)
{
	const struct model_home *home = &line->home;
	enum home_event event = (enum home_event)(line->cache[p].request - 1);
	bool owner = home->owner == p;

	if (event == EVENT_GetM)
		return owner ? EVENT_GetMOwner : EVENT_GetM;
	if (event == EVENT_GetS || event == EVENT_Atomic)
		return event;
	if (owner && event != EVENT_PutOther)
		return event;
	if (home->sharers == 1u << p)
		return EVENT_PutLast;
	return owner ? EVENT_PutOwnerF : EVENT_PutOther;
}

static enum model_outcome take_request(struct model *model, struct model_line *line, uint32_t p)
{
	struct model_cache *cache = &line->cache[p];
	uint16_t data = cache->request_data;
	enum home_event event;

	if (!cache->request)
		return MODEL_NOT_NOW;
	event = classify(line, p);
	cache->request = 0;
	cache->request_data = MODEL_NO_DATA;
	return home_step(model, line, event, p, data);
}

static enum model_outcome take_write_back(struct model *model, struct model_line *line)
{
	struct model_home *home = &line->home;
	uint16_t data = home->write_back;
	bool more = home->answers ? home->answers > 1 : home->sharers != 0;

	if (data == MODEL_NO_DATA)
		return MODEL_NOT_NOW;
	home->write_back = MODEL_NO_DATA;
	return home_step(model, line, more ? EVENT_WriteBack : EVENT_WriteBackLast, MODEL_NONE,
			 data);
}

static enum model_outcome take_missed(struct model *model, struct model_line *line)
{
	uint32_t p = line->home.missed;

	if (p == MODEL_NONE)
		return MODEL_NOT_NOW;
	line->home.missed = MODEL_NONE;
	return home_step(model, line, EVENT_Missed, p, MODEL_NO_DATA);
}

static enum model_outcome take_flag(struct model *model, struct model_line *line, bool *channel,
				    enum home_event event)
{
	if (!*channel)
		return MODEL_NOT_NOW;
	*channel = false;
	return home_step(model, line, event, MODEL_NONE, MODEL_NO_DATA);
}

static enum model_outcome take_home_ack(struct model *model, struct model_line *line)
{
	struct model_home *home = &line->home;

	if (!home->inv_acks)
		return MODEL_NOT_NOW;
	home->inv_acks--;
	return home_step(model, line, home->answers == 1 ? EVENT_LastHomeAck : EVENT_HomeAck,
			 MODEL_NONE, MODEL_NO_DATA);
}

/* A core does what its cache's state has a row for; it waits while a request is under way. */
static enum model_outcome core_move(struct model *model, struct model_line *line, uint32_t p,
				    enum cache_event event)
{
	enum cache_state state = line->cache[p].state;
	const struct protocol_row *row = &model->rows->cache[state][event];

	if (event == EVENT_Load && row->valid && state != STATE_I) {
		model->cache_visits[state][event]++;
		if (!cache_readable(state))
			return broken(model, "a load hits in %s", cache_state_name(state));
		return waits(model, row, 1u << ACTION_hit, state);
	}
	if (!cache_stable(state) || (event == EVENT_Evict && state == STATE_I) ||
	    (event == EVENT_Load && state != STATE_I))
		return MODEL_NOT_NOW;
	return cache_step(model, line, p,
			  &(struct brought){
				  .event = event, .requester = MODEL_NONE, .data = MODEL_NO_DATA });
}

enum model_outcome model_move(struct model *model, struct model_line *line, enum model_move move,
			      uint32_t cache, uint32_t at)
{
	struct model_home *home = &line->home;

	switch (move) {
	case MOVE_LOAD:
		return core_move(model, line, cache, EVENT_Load);
	case MOVE_STORE:
		return core_move(model, line, cache, EVENT_Store);
	case MOVE_FAR:
		return core_move(model, line, cache, EVENT_Far);
	case MOVE_EVICT:
		return core_move(model, line, cache, EVENT_Evict);
	case MOVE_ANSWER:
		return take_answer(model, line, cache);
	case MOVE_INV_ACK:
		return take_inv_ack(model, line, cache);
	case MOVE_FORWARD:
		return take_forward(model, line, cache, at);
	case MOVE_REQUEST:
		return take_request(model, line, cache);
	case MOVE_WRITE_BACK:
		return take_write_back(model, line);
	case MOVE_PASSED:
		return take_flag(model, line, &home->passed, EVENT_Passed);
	case MOVE_UNBLOCK:
		return take_flag(model, line, &home->unblock,
				 home->sharers ? EVENT_Unblock : EVENT_UnblockLast);
	case MOVE_MISSED:
		return take_missed(model, line);
	default:
		return take_home_ack(model, line);
	}
}

void model_describe(const struct model_line *line, enum model_move move, uint32_t cache, char *text,
		    size_t size)
{
	const struct model_cache *at = &line->cache[cache];
	static const char *const names[MOVE_COUNT] = {
		[MOVE_LOAD] = "Load",
		[MOVE_STORE] = "Store",
		[MOVE_FAR] = "Far",
		[MOVE_EVICT] = "Evict",
		[MOVE_ANSWER] = "the answer",
		[MOVE_INV_ACK] = "InvAck",
		[MOVE_FORWARD] = "a forward",
		[MOVE_REQUEST] = "a request",
		[MOVE_WRITE_BACK] = "WriteBack",
		[MOVE_PASSED] = "Passed",
		[MOVE_UNBLOCK] = "Unblock",
		[MOVE_MISSED] = "Missed",
		[MOVE_HOME_ACK] = "HomeAck",
	};
	const char *event = names[move];

	if (move == MOVE_ANSWER && at->answer)
		event = cache_event_name((enum cache_event)(at->answer - 1));
	if (move == MOVE_FORWARD && at->forwards)
		event = cache_event_name((enum cache_event)at->forward[0].event);
	if (move == MOVE_REQUEST && at->request)
		event = home_event_name(classify(line, cache));
	if (move == MOVE_REQUEST)
		snprintf(text, size, "home in %s: %s of cache %u",
			 home_state_name(line->home.state), event, cache);
	else if (model_move_is_home(move))
		snprintf(text, size, "home in %s: %s", home_state_name(line->home.state), event);
	else
		snprintf(text, size, "cache %u in %s: %s", cache, cache_state_name(at->state),
			 event);
}

/* ---- properties ----------------------------------------------------------------------------- */

static bool must(struct model *model, bool holds, const char *property)
{
	if (!holds)
		broken(model, "%s", property);
	return holds;
}

/* In these states a cache has the line's data, and in no other. */
static bool holds_data(enum cache_state state)
{
	return cache_readable(state) || state == STATE_IM_A || state == STATE_MI_A ||
	       state == STATE_EI_A;
}

static bool cache_sound(struct model *model, const struct model_line *line, uint32_t p)
{
	const struct model_cache *cache = &line->cache[p];

	return must(model, (cache->data != MODEL_NO_DATA) == holds_data(cache->state),
		    "a cache holds data just where its state says so") &&
	       must(model, !cache_readable(cache->state) || cache->data == line->home.latest,
		    "a readable copy has the last value stored") &&
	       must(model, !cache_stable(cache->state) || (!cache->acks && !cache->inv_acks),
		    "no ack is due to a cache at rest");
}

bool model_sound(struct model *model, const struct model_line *line)
{
	enum home_state home = line->home.state;
	uint32_t readers = 0, writers = 0, forwarders = 0;

	for (uint32_t p = 0; p < model->caches; p++) {
		enum cache_state state = line->cache[p].state;

		if (!cache_sound(model, line, p))
			return false;
		readers += cache_readable(state);
		writers += cache_writable(state);
		forwarders += state == STATE_F || state == STATE_FM_AD;
	}
	return must(model, !writers || readers == 1, "one writer or many readers") &&
	       must(model, forwarders <= 1, "one forwarder") &&
	       must(model,
		    (home != STATE_HI && home != STATE_HS && home != STATE_HF) ||
			    line->home.memory == line->home.latest,
		    "memory is current where nobody owns the line");
}

static bool home_rests(enum home_state state)
{
	return state == STATE_HI || state == STATE_HS || state == STATE_HE || state == STATE_HM ||
	       state == STATE_HF || state == STATE_HO;
}

bool model_quiet(const struct model *model, const struct model_line *line)
{
	const struct model_home *home = &line->home;

	if (!home_rests(home->state) || home->passed || home->unblock || home->inv_acks ||
	    home->missed != MODEL_NONE || home->write_back != MODEL_NO_DATA)
		return false;
	for (uint32_t p = 0; p < model->caches; p++) {
		const struct model_cache *cache = &line->cache[p];

		if (!cache_stable(cache->state) || cache->request || cache->answer ||
		    cache->inv_acks || cache->forwards)
			return false;
	}
	return true;
}

/* May a cache rest in this state while the home's record is so? */
static bool may_rest(const struct model_home *home, uint32_t p, enum cache_state state, bool exact)
{
	bool sharer = home->sharers >> p & 1, owner = home->owner == p;
	bool gone = state == STATE_I;

	switch (home->state) {
	case STATE_HI:
		return gone;
	case STATE_HE:
		return owner ? state == STATE_E || state == STATE_M : gone;
	case STATE_HM:
		return owner ? state == STATE_M || (exact && state == STATE_O) : gone;
	case STATE_HF:
		if (owner)
			return state == STATE_F || (gone && !exact);
		break;
	case STATE_HO:
		if (owner)
			return state == STATE_O;
		break;
	default:
		break;
	}
	return sharer ? state == STATE_S || (gone && !exact) : gone;
}

bool model_agrees(struct model *model, const struct model_line *line, bool exact)
{
	const struct model_home *home = &line->home;
	bool owned = home->state == STATE_HE || home->state == STATE_HM ||
		     home->state == STATE_HF || home->state == STATE_HO;
	bool shared = home->state == STATE_HS || home->state == STATE_HF || home->state == STATE_HO;

	if (!must(model, (home->owner != MODEL_NONE) == owned && (home->sharers != 0) == shared,
		  "the home has an owner and sharers on record just where its state says so"))
		return false;
	for (uint32_t p = 0; p < model->caches; p++)
		if (!must(model, may_rest(home, p, line->cache[p].state, exact),
			  "the home's record agrees with the caches at rest"))
			return false;
	return true;
}
