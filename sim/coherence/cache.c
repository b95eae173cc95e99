/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The private cache of a core: where its copies are, what messages do to them, and which accesses
 * wait for them.
 *
 * A copy is in the L2, or in transit (its first request or its write-back is under way); the L1
 * holds some of those in the L2. A request that upgrades a shared copy leaves it in its set. Sets
 * are kept in order of use, the most recent first. */
#include "coherence/coherence.h"
#include <string.h>

/* ---- places --------------------------------------------------------------------------------- */

static struct copy **l2_set(struct coherence *coherence, struct core *core, uint64_t line_address)
{
	return core->l2 + (line_address >> coherence->line_shift & coherence->l2_mask) *
				  coherence->config.l2.ways;
}

/* Moves entry k of a set to the front, the others back. */
static struct copy *to_front(struct copy **set, uint32_t k)
{
	struct copy *copy = set[k];

	memmove(set + 1, set, k * sizeof(*set));
	set[0] = copy;
	return copy;
}

/* Where in its set a line is; NULL where it is not. Finding is not using: the order of the set
 * stays. */
static struct copy **l2_find(struct coherence *coherence, struct core *core, uint64_t line_address)
{
	struct copy **set = l2_set(coherence, core, line_address);

	for (uint32_t k = 0; k < coherence->config.l2.ways && set[k]; k++)
		if (set[k]->address == line_address)
			return &set[k];
	return NULL;
}

static size_t l1_set(const struct coherence *coherence, uint64_t line_address)
{
	return (size_t)(line_address >> coherence->line_shift & coherence->l1_mask) *
	       coherence->config.l1.ways;
}

static void l1_insert(struct coherence *coherence, struct core *core, struct copy *copy)
{
	size_t at = l1_set(coherence, copy->address), n = coherence->config.l1.ways - 1;

	memmove(core->l1 + at + 1, core->l1 + at, n * sizeof(*core->l1));
	memmove(core->l1_tag + at + 1, core->l1_tag + at, n * sizeof(*core->l1_tag));
	core->l1[at] = copy;
	core->l1_tag[at] = copy->address;
}

static void l1_remove(struct coherence *coherence, struct core *core, const struct copy *copy)
{
	size_t at = l1_set(coherence, copy->address);
	uint32_t ways = coherence->config.l1.ways, k = 0;

	while (k < ways && core->l1[at + k] != copy)
		k++;
	if (k == ways)
		return;
	memmove(core->l1 + at + k, core->l1 + at + k + 1, (ways - 1 - k) * sizeof(*core->l1));
	memmove(core->l1_tag + at + k, core->l1_tag + at + k + 1,
		(ways - 1 - k) * sizeof(*core->l1_tag));
	core->l1[at + ways - 1] = NULL;
}

static void leave_set(struct coherence *coherence, struct core *core, struct copy *copy)
{
	struct copy **set = l2_set(coherence, core, copy->address);
	uint32_t ways = coherence->config.l2.ways, k = 0;

	while (set[k] != copy)
		k++;
	memmove(set + k, set + k + 1, (ways - 1 - k) * sizeof(*set));
	set[ways - 1] = NULL;
	l1_remove(coherence, core, copy);
	copy->in_set = false;
}

static void leave_transit(struct core *core, struct copy *copy)
{
	struct copy **at = &core->transit;

	while (*at != copy)
		at = &(*at)->next;
	*at = copy->next;
}

static void enter_transit(struct core *core, struct copy *copy)
{
	copy->next = core->transit;
	core->transit = copy;
}

struct copy *cache_find(struct coherence *coherence, struct core *core, uint64_t line_address)
{
	struct copy **way = l2_find(coherence, core, line_address), *copy;

	if (way)
		return *way;
	for (copy = core->transit; copy && copy->address != line_address; copy = copy->next)
		;
	return copy;
}

/* ---- sending -------------------------------------------------------------------------------- */

static struct message *compose(struct coherence *coherence, struct core *core, struct copy *copy,
			       uint8_t type)
{
	struct message *message = message_new(coherence);

	message->type = type;
	message->line = copy->line;
	message->core = message->requester = (uint16_t)core->number;
	message->event.source = core->number;
	message->event.count = core->count++;
	return message;
}

static void with_data(struct coherence *coherence, struct message *message, const struct copy *copy,
		      uint64_t now)
{
	message->sent = now;
	memcpy(message->data, copy->data, coherence->config.line);
}

/* Data for the home travel like data for a cache beside it; a word for the home takes the short
 * way. */
static void tell_home(struct coherence *coherence, struct core *core, struct copy *copy,
		      uint8_t type, bool data, uint64_t now)
{
	struct fabric *fabric = coherence->fabric;
	struct message *message = compose(coherence, core, copy, type);
	uint64_t leg = fabric->request;

	if (data) {
		with_data(coherence, message, copy, now);
		leg = fabric_write_back(fabric, core->number, copy->line->socket);
	}
	message_to_home(coherence, message, now, now + leg);
}

static void request(struct coherence *coherence, struct core *core, struct copy *copy, uint8_t type,
		    struct access *access, uint64_t now)
{
	struct message *message = compose(coherence, core, copy, type);

	message->origin = access->origin;
	message->access = access;
	message->as_sharer = cache_readable(copy->state);
	message_to_home(coherence, message, now, now + coherence->fabric->request);
}

static uint64_t answer_leg(const struct coherence *coherence, const struct core *core,
			   const struct message *forward)
{
	const struct fabric *fabric = coherence->fabric;
	uint32_t to = forward->requester;

	switch (forward->type) {
	case EVENT_FwdGetM:
		return fabric_own(fabric, core->number, to, forward->line->socket);
	case EVENT_FwdGetF:
		return fabric->share[fabric_distance(fabric, core->number, to)];
	default:
		return fabric_read(fabric, core->number, to, forward->line->socket);
	}
}

/* Is the copy newer than memory? */
static bool dirty(const struct copy *copy)
{
	return copy->state == STATE_M || copy->state == STATE_MI_A || copy->state == STATE_O ||
	       copy->state == STATE_OM_AC;
}

/* The answer to a forward, straight to the requester. */
/* As the PMU counts: a load that finds the line modified elsewhere, that of a locked RMW too, but not
 * the request of a plain store. */
static void count_hitm(struct coherence *coherence, struct line *line,
		       const struct message *request, bool across)
{
	line->counts.hitm[across]++;
	if (coherence->observer.hitm)
		coherence->observer.hitm(coherence->observer.context, request->requester,
					 &request->origin, across);
}

static void send_data(struct coherence *coherence, struct core *core, struct copy *copy,
		      const struct message *forward, enum cache_event type)
{
	struct fabric *fabric = coherence->fabric;
	uint32_t to = forward->requester, socket = fabric_socket(fabric, to);
	uint64_t now = coherence->now, wait = fabric_link_wait(fabric, core->socket, socket, now);
	uint64_t leg = answer_leg(coherence, core, forward);
	struct message *message = compose(coherence, core, copy, (uint8_t)type);

	with_data(coherence, message, copy, now);
	message->acks = forward->acks;
	message->queued = forward->queued + wait;
	copy->line->counts.transfers[core->socket != socket]++;
	if (dirty(copy) && forward->origin.write != ORIGIN_STORE)
		count_hitm(coherence, copy->line, forward, core->socket != socket);
	message_to_cache(coherence, message, to, now, now + wait + leg);
}

/* To whoever waits for the Inv to be done: a cache, or the home itself. */
static void send_ack(struct coherence *coherence, struct core *core, const struct message *inv)
{
	struct message *message = message_new(coherence);
	uint32_t to = inv->requester;
	uint64_t now = coherence->now;

	message->type = to == NOBODY ? (uint8_t)EVENT_HomeAck : (uint8_t)EVENT_InvAck;
	message->line = inv->line;
	message->event.source = core->number;
	message->event.count = core->count++;
	if (to == NOBODY)
		message_to_home(coherence, message, now, now + coherence->fabric->request);
	else
		message_to_cache(coherence, message, to, now,
				 now + fabric_ack(coherence->fabric, core->number, to));
}

/* The copy that was to be forwarded is gone: the request goes back to the home. */
static void send_missed(struct coherence *coherence, struct core *core,
			const struct message *forward)
{
	struct message *message = message_new(coherence);
	uint64_t now = coherence->now;

	message->type = EVENT_Missed;
	message->line = forward->line;
	message->core = forward->requester;
	message->origin = forward->origin;
	message->queued = forward->queued;
	message->event.source = core->number;
	message->event.count = core->count++;
	message_to_home(coherence, message, now, now + coherence->fabric->request);
}

/* ---- states --------------------------------------------------------------------------------- */

/* Every change of a copy's state goes through here. */
static void become(struct coherence *coherence, struct copy *copy, enum cache_state next)
{
	enum cache_state old = copy->state;

	copy->state = (uint8_t)next;
	if (__builtin_expect(coherence->config.paranoid, 0))
		audit_state(coherence, copy, old);
}

static void visit(struct coherence *coherence, enum cache_state state, enum cache_event event)
{
	if (__builtin_expect(coherence->visits != NULL, 0))
		coherence->visits->cache[state][event]++;
}

static void stall(struct coherence *coherence, struct copy *copy, struct message *message)
{
	message->arrived = coherence->now;
	message->next = NULL;
	*copy->stalled_tail = message;
	copy->stalled_tail = &message->next;
}

static uint64_t *wrote_slot(struct coherence *coherence, struct core *core, uint64_t line_address)
{
	return &core->wrote[line_address >> coherence->line_shift & (WROTE_LINES - 1)];
}

/* The core remembers whether it had written the line. Address 0 is no line of a thread's. */
static void remember(struct coherence *coherence, struct core *core, const struct copy *copy)
{
	uint64_t *slot = wrote_slot(coherence, core, copy->address);

	if (copy->written)
		*slot = copy->address;
	else if (*slot == copy->address)
		*slot = 0;
}

/* Tells the layers above that a copy can be read, or written, no longer. */
static void note_loss(struct coherence *coherence, struct core *core, struct copy *copy,
		      enum cache_state old, const struct message *message, uint64_t now)
{
	enum cache_state state = copy->state;
	enum loss loss = !message                ? LOSS_EVICTED
			 : cache_readable(state) ? LOSS_DOWNGRADED
						 : LOSS_INVALIDATED;
	bool unread = cache_readable(old) && !cache_readable(state);
	bool unwritten = cache_writable(old) && !cache_writable(state);

	copy->watched |= message != NULL;
	if (unread && coherence->config.migratory)
		remember(coherence, core, copy);
	if (unread || state == STATE_IS_D_I)
		coherence->client.lost(coherence->client.context, core->number, copy->address);
	if (coherence->observer.lost && (unread || unwritten))
		coherence->observer.lost(coherence->observer.context, core->number, copy, loss,
					 message ? &message->origin : NULL, now);
}

static void release(struct coherence *coherence, struct core *core, struct copy *copy);
static void pump(struct coherence *coherence, struct core *core, struct copy *copy, uint64_t now);

static bool idle(const struct copy *copy)
{
	return cache_stable(copy->state) && !copy->waiting;
}

/* Locked, or the lock has just ended and whoever waited for it is still to be answered. */
static bool held(const struct copy *copy, uint64_t now)
{
	return copy->locked_until > now || copy->stalled;
}

/* The copy that has to go: the least recently used that nothing is under way for and that is not
 * held; failing that, one that is only held. Of a thread's writes one is under way at most, and
 * a set has a way more than the core has threads, but a burst of stores may hold a second line. */
static struct copy *victim(const struct coherence *coherence, struct copy **set)
{
	struct copy *last = NULL;

	for (uint32_t k = coherence->config.l2.ways; k-- > 0;) {
		if (idle(set[k]) && !held(set[k], coherence->now))
			return set[k];
		if (!last && idle(set[k]))
			last = set[k];
	}
	return last;
}

static void give_up(struct coherence *coherence, struct core *core, struct copy *copy)
{
	const struct protocol_row *row = &coherence->protocol.cache[copy->state][EVENT_Evict];
	enum cache_state old = copy->state;
	uint64_t now = coherence->now;

	if (!row->valid) {
		coherence_defect(coherence, copy->line, "no row for Evict in %s at core %u",
				 cache_state_name(old), core->number);
		return;
	}
	core->counts.evictions++;
	visit(coherence, old, EVENT_Evict);
	if (DOES(row, sPutS))
		tell_home(coherence, core, copy, EVENT_PutOther, false, now);
	if (DOES(row, sPutE))
		tell_home(coherence, core, copy, EVENT_PutOwnerE, false, now);
	if (DOES(row, sPutM))
		tell_home(coherence, core, copy, EVENT_PutOwnerM, true, now);
	become(coherence, copy, row->next);
	note_loss(coherence, core, copy, old, NULL, now);
	leave_set(coherence, core, copy);
	enter_transit(core, copy);
	if (copy->state == STATE_I)
		release(coherence, core, copy);
}

/* Gives a way of a full set up. A lock that stands in the way ends early: what was done under it is
 * done, and whoever waited for it is answered now. */
static void evict(struct coherence *coherence, struct core *core, struct copy **set)
{
	uint64_t now = coherence->now;
	struct copy *copy = victim(coherence, set);

	if (copy && held(copy, now)) {
		copy->locked_until = copy->kept_until = now;
		pump(coherence, core, copy, now);
		if (!set[coherence->config.l2.ways - 1])
			return;
	}
	if (!copy) {
		coherence_defect(coherence, set[0]->line,
				 "no way of the set can be evicted at core %u", core->number);
		return;
	}
	give_up(coherence, core, copy);
}

static void enter_set(struct coherence *coherence, struct core *core, struct copy *copy)
{
	struct copy **set = l2_set(coherence, core, copy->address);
	uint32_t ways = coherence->config.l2.ways, k = 0;

	if (set[ways - 1])
		evict(coherence, core, set);
	while (k < ways - 1 && set[k])
		k++;
	leave_transit(core, copy);
	memmove(set + 1, set, k * sizeof(*set));
	set[0] = copy;
	copy->in_set = true;
	l1_insert(coherence, core, copy);
}

/* Forgets a copy of which nothing is left. */
static void release(struct coherence *coherence, struct core *core, struct copy *copy)
{
	if (copy->in_set)
		leave_set(coherence, core, copy);
	else
		leave_transit(core, copy);
	copy_free(coherence, copy);
}

/* ---- messages ------------------------------------------------------------------------------- */

/* A message as an event of the table: acks are counted here. */
static enum cache_event classify(const struct copy *copy, const struct message *message)
{
	int left = (copy ? copy->acks : 0) + message->acks;

	switch (message->type) {
	case EVENT_DataAck0:
		return left ? EVENT_DataAckN : EVENT_DataAck0;
	case EVENT_AckCount0:
		return left ? EVENT_AckCountN : EVENT_AckCount0;
	case EVENT_InvAck:
		return copy && copy->acks == 1 &&
				       (copy->state == STATE_IM_A || copy->state == STATE_SM_A)
			       ? EVENT_LastInvAck
			       : EVENT_InvAck;
	default:
		return message->type;
	}
}

/* The grant is here: how many acks are still to come, and what it cost so far. */
static void expect(struct copy *copy, const struct message *message)
{
	copy->acks = (int16_t)(copy->acks + message->acks);
	copy->queued = message->queued;
	copy->moving_since = message->sent;
}

static void take(struct coherence *coherence, struct copy *copy, const struct message *message)
{
	memcpy(copy->data, message->data, coherence->config.line);
	expect(copy, message);
}

static void done(struct coherence *coherence, struct core *core, struct copy *copy)
{
	copy->fresh = true;
	copy->filled = coherence->now;
	copy->changed_by = 0;
	copy->written = false;
	copy->kept_until =
		cache_writable(copy->state) ? copy->filled + coherence->fabric->retain : 0;
	copy->watched = copy->line->shared;
	if (coherence->observer.gained)
		coherence->observer.gained(coherence->observer.context, core->number, copy,
					   coherence->now);
	if (!copy->in_set)
		enter_set(coherence, core, copy);
}

/* Does the loads that wait, out of turn of the writes among them. Data that an Inv has outrun are
 * not for loads that came after it: their threads may have seen by then what the writer did next. */
static void perform_loads(struct coherence *coherence, struct copy *copy, uint64_t now)
{
	struct access **at = &copy->waiting, *access;

	while ((access = *at)) {
		if (access->write || (access->late && copy->state == STATE_IS_D_I)) {
			at = &access->next;
			continue;
		}
		*at = access->next;
		if (!*at)
			copy->waiting_tail = at;
		coherence->client.perform(coherence->client.context, access, copy, now);
	}
}

/* Most messages are answers themselves. */
static const uint32_t RESPONSES = 1u << ACTION_sData | 1u << ACTION_sDataF |
				  1u << ACTION_sWriteBack | 1u << ACTION_sPassed |
				  1u << ACTION_sUnblock;

/* Sends what the row says in answer to a message. */
static void respond(struct coherence *coherence, struct core *core, struct copy *copy,
		    const struct protocol_row *row, const struct message *message)
{
	uint64_t now = coherence->now;

	if (DOES(row, sData))
		send_data(coherence, core, copy, message, EVENT_DataAck0);
	if (DOES(row, sDataF))
		send_data(coherence, core, copy, message, EVENT_DataF);
	if (DOES(row, sWriteBack))
		tell_home(coherence, core, copy, EVENT_WriteBack, true, now);
	if (DOES(row, sPassed))
		tell_home(coherence, core, copy, EVENT_Passed, false, now);
	if (DOES(row, sUnblock))
		tell_home(coherence, core, copy, EVENT_Unblock, false, now);
}

/* Does what the row says. False where the message must wait at this cache. */
static bool apply(struct coherence *coherence, struct core *core, struct copy *copy,
		  struct message *message)
{
	enum cache_event event = classify(copy, message);
	enum cache_state old = copy ? copy->state : STATE_I;
	const struct protocol_row *row = &coherence->protocol.cache[old][event];
	bool locks = event == EVENT_FwdGetS || event == EVENT_FwdGetM || event == EVENT_Recall ||
		     event == EVENT_Inv;
	uint64_t now = coherence->now;

	if (!row->valid) {
		coherence_defect(coherence, message->line, "no row for %s in %s at core %u",
				 cache_event_name(event), cache_state_name(old), core->number);
		return true;
	}
	if (locks && copy && (copy->locked_until > now || copy->kept_until > now))
		return false;
	visit(coherence, old, event);
	if (DOES(row, stall))
		return false;
	if (DOES(row, sInvAck))
		send_ack(coherence, core, message);
	if (DOES(row, sMissed))
		send_missed(coherence, core, message);
	if (!copy)
		return true;
	if (row->actions & RESPONSES)
		respond(coherence, core, copy, row, message);
	if (DOES(row, take))
		take(coherence, copy, message);
	if (DOES(row, expect))
		expect(copy, message);
	if (DOES(row, count))
		copy->acks--;
	if (DOES(row, once))
		perform_loads(coherence, copy, now);
	if (DOES(row, result)) {
		copy->queued = message->queued;
		copy->upgraded = false;
		copy->far = NULL;
		coherence->client.perform(coherence->client.context, message->access, copy, now);
	}
	become(coherence, copy, row->next);
	note_loss(coherence, core, copy, old, message, now);
	/* Loads that wait ask for the line anew. There may be many: they hold no way meanwhile, as a
	 * write does whose copy was lost. */
	if (row->next == STATE_I && copy->in_set && copy->waiting && !copy->waiting->write) {
		leave_set(coherence, core, copy);
		enter_transit(core, copy);
	}
	if (DOES(row, done)) {
		copy->upgraded = cache_readable(old);
		done(coherence, core, copy);
	}
	return true;
}

/* Answers the oldest stalled message if the state now allows it. */
static bool answer_stalled(struct coherence *coherence, struct core *core, struct copy *copy,
			   uint64_t now)
{
	struct message *message = copy->stalled;
	uint64_t waited;

	/* A core that has run ahead has no message that waits (it would have bounded the
	 * run-ahead). */
	if (!message || now != coherence->now)
		return false;
	waited = now - message->arrived;
	message->queued += waited;
	if (!apply(coherence, core, copy, message)) {
		message->queued -= waited;
		return false;
	}
	copy->stalled = message->next;
	if (!copy->stalled)
		copy->stalled_tail = &copy->stalled;
	message_free(coherence, message);
	return true;
}

/* An access as an event of the table. */
static enum cache_event event_of(const struct coherence *coherence, const struct access *access)
{
	if (!access->write)
		return EVENT_Load;
	return access->locked && coherence->config.atomics == ATOMICS_FAR ? EVENT_Far : EVENT_Store;
}

static struct access *take_waiting(struct copy *copy)
{
	struct access *access = copy->waiting;

	copy->waiting = access->next;
	if (!copy->waiting)
		copy->waiting_tail = &copy->waiting;
	return access;
}

/* A write, or a locked operation, on a copy that allows it: E becomes M. */
static void own(struct coherence *coherence, struct copy *copy, enum cache_event event)
{
	visit(coherence, copy->state, event);
	become(coherence, copy, coherence->protocol.cache[copy->state][event].next);
}

/* Does one access that waits, if the state allows it. */
static bool perform_one(struct coherence *coherence, struct copy *copy, uint64_t now)
{
	struct access *access = copy->waiting;

	if (!access || !(access->write ? cache_writable(copy->state) : cache_readable(copy->state)))
		return false;
	take_waiting(copy);
	if (access->write)
		own(coherence, copy, event_of(coherence, access));
	uint64_t hold = coherence->client.perform(coherence->client.context, access, copy, now);

	copy->locked_until = now + hold;
	if (copy->moving_since)
		copy->line->counts.busy += now + hold - copy->moving_since;
	copy->moving_since = 0;
	return true;
}

/* As what the oldest waiting access asks for its line. */
static enum cache_event request_of(struct coherence *coherence, struct core *core,
				   const struct copy *copy)
{
	enum cache_event event = event_of(coherence, copy->waiting);

	if (event == EVENT_Load && copy->state == STATE_I && coherence->config.migratory &&
	    *wrote_slot(coherence, core, copy->address) == copy->address)
		return EVENT_Store;
	return event;
}

/* Asks for what the oldest waiting access needs. */
static void ask(struct coherence *coherence, struct core *core, struct copy *copy, uint64_t now)
{
	struct access *access = copy->waiting;
	enum cache_event event = request_of(coherence, core, copy);
	const struct protocol_row *row = &coherence->protocol.cache[copy->state][event];

	if (DOES(row, sGetS))
		request(coherence, core, copy, EVENT_GetS, access, now);
	else if (DOES(row, sGetM))
		request(coherence, core, copy, EVENT_GetM, access, now);
	else if (DOES(row, sAtomic))
		request(coherence, core, copy, EVENT_Atomic, copy->far = take_waiting(copy), now);
	else
		return;
	visit(coherence, copy->state, event);
	become(coherence, copy, row->next);
}

/* Takes the copy up again at `time`, unless that is to happen sooner anyway. */
static void unlock_at(struct coherence *coherence, struct core *core, struct copy *copy,
		      uint64_t time, uint64_t cause)
{
	if (copy->unlock && copy->unlock <= time)
		return;
	struct message *message = compose(coherence, core, copy, 0);

	message->kind = UNLOCK;
	message->event.cause = cause;
	copy->unlock = time;
	core_schedule(coherence, core, message, time);
}

/* Takes a copy as far as it goes now: fresh data serve the loads that wait and one write first;
 * then whoever asked for the line gets it; then the rest of the accesses, or a request for them. */
static void pump(struct coherence *coherence, struct core *core, struct copy *copy, uint64_t now)
{
	for (;;) {
		if (copy->locked_until > now) {
			if (copy->waiting || copy->stalled)
				unlock_at(coherence, core, copy, copy->locked_until, now);
			return;
		}
		if (copy->fresh) {
			copy->fresh = false;
			perform_loads(coherence, copy, now);
			perform_one(coherence, copy, now);
			copy->moving_since = 0;
			continue;
		}
		if (answer_stalled(coherence, core, copy, now))
			continue;
		if (!perform_one(coherence, copy, now))
			break;
	}
	if (copy->stalled && copy->kept_until > now)
		unlock_at(coherence, core, copy, copy->kept_until, now);
	if (copy->waiting && cache_stable(copy->state))
		ask(coherence, core, copy, now);
	if (copy->state == STATE_I && !copy->waiting && !copy->stalled)
		release(coherence, core, copy);
}

/* Is it one of the messages that reach a cache in the order in which its line's home sent them? */
static bool from_home_in_order(const struct message *message)
{
	switch (message->type) {
	case EVENT_FwdGetS:
	case EVENT_FwdGetF:
	case EVENT_FwdGetM:
	case EVENT_Recall:
	case EVENT_Inv:
	case EVENT_PutAck:
	case EVENT_AckCount0:
		return true;
	default:
		return false;
	}
}

/* What the home sends waits behind what is stalled already, even if the state, or the end of a lock
 * at this very cycle, would let it pass. */
void cache_handle(struct coherence *coherence, struct message *message)
{
	struct core *core = &coherence->cores[message->core];
	struct copy *copy = cache_find(coherence, core, message->line->address);

	if (message->kind == UNLOCK) {
		if (copy && copy->unlock == coherence->now)
			copy->unlock = 0;
		message_free(coherence, message);
	} else if ((copy && copy->stalled && from_home_in_order(message)) ||
		   !apply(coherence, core, copy, message)) {
		stall(coherence, copy, message);
	} else {
		message_free(coherence, message);
	}
	if (copy && !coherence->defect.text[0])
		pump(coherence, core, copy, coherence->now);
}

/* ---- accesses ------------------------------------------------------------------------------- */

static bool permits(struct coherence *coherence, struct copy *copy, bool write, uint64_t now)
{
	if (!write)
		return cache_readable(copy->state);
	if (!cache_writable(copy->state) || copy->locked_until > now || copy_owed(copy, now))
		return false;
	own(coherence, copy, EVENT_Store);
	return true;
}

struct copy *cache_look_up(struct coherence *coherence, struct core *core, uint64_t line_address,
			   bool write, uint64_t now, uint64_t *cycles)
{
	size_t at = l1_set(coherence, line_address);
	struct copy *copy;

	for (uint32_t k = 0; k < coherence->config.l1.ways && core->l1[at + k]; k++) {
		if (core->l1_tag[at + k] != line_address)
			continue;
		copy = core->l1[at + k];
		if (!permits(coherence, copy, write, now))
			return NULL;
		if (k) {
			to_front(core->l1 + at, k);
			memmove(core->l1_tag + at + 1, core->l1_tag + at,
				k * sizeof(*core->l1_tag));
			core->l1_tag[at] = line_address;
		}
		*cycles += coherence->config.l1.latency;
		return copy;
	}
	struct copy **way = l2_find(coherence, core, line_address), **set;

	if (!way || !permits(coherence, *way, write, now))
		return NULL;
	set = l2_set(coherence, core, line_address);
	copy = to_front(set, (uint32_t)(way - set));
	l1_insert(coherence, core, copy);
	*cycles += coherence->config.l2.latency;
	return copy;
}

void cache_wait(struct coherence *coherence, struct core *core, uint64_t line_address,
		struct access *access, uint64_t now)
{
	struct copy *copy = cache_find(coherence, core, line_address);

	if (!copy) {
		copy = copy_new(coherence);
		copy->line = coherence_line(coherence, line_address);
		copy->address = line_address;
		copy->state = STATE_I;
		enter_transit(core, copy);
	}
	access->since = now;
	access->late = copy->state == STATE_IS_D_I;
	access->next = NULL;
	*copy->waiting_tail = access;
	copy->waiting_tail = &access->next;
	pump(coherence, core, copy, now);
}

void cache_settle(struct coherence *coherence, struct core *core, uint64_t line_address,
		  uint64_t now)
{
	struct copy *copy = cache_find(coherence, core, line_address);

	if (copy && copy_owed(copy, now) && copy->locked_until <= now)
		pump(coherence, core, copy, now);
}
