/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/mutate.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDITS_MAX = 8, KEEP = 255 };

/* A cell made wrong. */
struct edit {
	bool valid, home;
	uint8_t state, event, next; /* KEEP: the next state stays */
	uint32_t less, more;        /* actions */
};

/* ---- planted mistakes ----------------------------------------------------------------------- */

#define DO(action) (1u << ACTION_##action)
#define CACHE(state, event, minus, plus, to)                               \
	{                                                                  \
		true, false, STATE_##state, EVENT_##event, to, minus, plus \
	}
#define HOME(state, event, minus, plus, to)                               \
	{                                                                 \
		true, true, STATE_##state, EVENT_##event, to, minus, plus \
	}

static const struct planted {
	const char *name, *race;
	enum model_mistake mistake;
	struct edit edits[EDITS_MAX];
} planted[PLANTED_COUNT] = {
	{ "an Inv leaves the copy of a lost upgrade",
	  "R3",
	  0,
	  { CACHE(SM_AD, Inv, DO(drop), 0, STATE_SM_AD) } },
	{ "a write-back from one who is no longer the owner is taken",
	  "R1",
	  0,
	  { HOME(HI, PutOther, 0, DO(put), KEEP), HOME(HS, PutOther, 0, DO(put), KEEP),
	    HOME(HE, PutOther, 0, DO(put), KEEP), HOME(HM, PutOther, 0, DO(put), KEEP),
	    HOME(SD, PutOther, 0, DO(put), KEEP), HOME(MF, PutOther, 0, DO(put), KEEP) } },
	{ "the data of a silent upgrade are dropped",
	  "R10",
	  0,
	  { HOME(HE, PutOwnerM, DO(put), 0, KEEP) } },
	{ "an evicted line that was forwarded waits for no PutAck",
	  "R1",
	  0,
	  { CACHE(MI_A, FwdGetM, 0, 0, STATE_I) } },
	{ "a requester that shares waits for its own ack", "R14", MISTAKE_OWN_ACK, { { 0 } } },
	{ "a stale sharer does not acknowledge",
	  "R11",
	  0,
	  { CACHE(IS_D, Inv, DO(sInvAck), DO(stall), STATE_IS_D) } },
	{ "acks that overtake the data are not counted",
	  "R5",
	  0,
	  { CACHE(IM_AD, InvAck, DO(count), 0, KEEP), CACHE(SM_AD, InvAck, DO(count), 0, KEEP) } },
	{ "an exclusive grant is dropped after a stale Inv",
	  "R13",
	  0,
	  { CACHE(IS_D_I, DataExcl, DO(done), DO(once) | DO(drop), STATE_I) } },
	{ "the old owner is not a sharer",
	  "R15",
	  0,
	  { HOME(HE, GetS, DO(sharers), DO(sharer), KEEP),
	    HOME(HM, GetS, DO(sharers), DO(sharer), KEEP) } },
	{ "a sharer that leaves during a write-back stays on record",
	  "R18",
	  0,
	  { HOME(SD, PutOther, DO(leave), 0, KEEP), HOME(SD, PutLast, DO(leave), 0, KEEP) } },
	{ "a PutAck overtakes a forward", "R16", MISTAKE_UNORDERED, { { 0 } } },
	{ "a store leaves the line clean", "R10", 0, { CACHE(E, Store, 0, 0, STATE_E) } },
	{ "requests are served during a write-back",
	  "R17",
	  0,
	  { HOME(HE, GetS, 0, 0, STATE_HS), HOME(HM, GetS, 0, 0, STATE_HS) } },
	{ "the write-back is not sent",
	  "R2",
	  0,
	  { CACHE(E, FwdGetS, DO(sWriteBack), 0, KEEP), CACHE(M, FwdGetS, DO(sWriteBack), 0, KEEP),
	    CACHE(MI_A, FwdGetS, DO(sWriteBack), 0, KEEP),
	    CACHE(EI_A, FwdGetS, DO(sWriteBack), 0, KEEP) } },
	{ "Unblock is sent before the acks are in",
	  "R20",
	  0,
	  { CACHE(IM_AD, DataAckN, 0, DO(sUnblock), KEEP),
	    CACHE(SM_AD, DataAckN, 0, DO(sUnblock), KEEP),
	    CACHE(IM_A, LastInvAck, DO(sUnblock), 0, KEEP),
	    CACHE(SM_A, LastInvAck, DO(sUnblock), 0, KEEP) } },
	{ "a store does not wait for the acks",
	  "R7",
	  0,
	  { CACHE(IM_AD, DataAckN, 0, DO(done), STATE_M) } },
	{ "a copy stays behind when ownership passes",
	  "R21",
	  0,
	  { CACHE(M, FwdGetM, DO(drop), 0, STATE_S), CACHE(E, FwdGetM, DO(drop), 0, STATE_S) } },
	{ "an Inv before the data is forgotten", "R12", 0, { CACHE(IS_D, Inv, 0, 0, STATE_IS_D) } },
	{ "a Put gets no PutAck", "R22", 0, { HOME(HM, PutOwnerM, DO(ack), 0, KEEP) } },
	{ "the first ack is taken for the last",
	  "R6",
	  0,
	  { CACHE(IM_A, InvAck, 0, DO(done), STATE_M),
	    CACHE(SM_A, InvAck, 0, DO(done), STATE_M) } },
};

#undef DO
#undef CACHE
#undef HOME

const char *planted_name(uint32_t k)
{
	return planted[k - 1].name;
}

const char *planted_race(uint32_t k)
{
	return planted[k - 1].race;
}

static struct protocol_row *cell(struct protocol *rows, const struct edit *edit)
{
	return edit->home ? &rows->home[edit->state][edit->event]
			  : &rows->cache[edit->state][edit->event];
}

/* Does the variant have the cell, and does the edit change it? */
static bool apply(struct protocol *rows, const struct edit *edit)
{
	struct protocol_row *row = cell(rows, edit), old = *row;

	if (!row->valid)
		return false;
	row->actions = (row->actions & ~edit->less) | edit->more;
	row->next = edit->next == KEEP ? row->next : edit->next;
	return row->actions != old.actions || row->next != old.next;
}

/* A mutant may have states without end where the protocol has few. */
static enum mutant_fate fate(struct explore_options *options, const struct explore_result *right,
			     struct explore_result *found)
{
	options->limit = right->states * 2;
	switch (explore(options, found)) {
	case EXPLORE_VIOLATED:
		return MUTANT_KILLED;
	case EXPLORE_HOLDS:
		return found->states == right->states && found->rules == right->rules
			       ? MUTANT_SURVIVED
			       : MUTANT_COUNTED;
	default:
		return MUTANT_COUNTED;
	}
}

enum mutant_fate planted_try(uint32_t k, const struct protocol_variant *variant, uint32_t caches,
			     const struct explore_result *right, struct explore_result *found)
{
	const struct planted *mistake = &planted[k - 1];
	struct protocol rows;
	struct explore_options options = { .variant = *variant,
					   .rows = &rows,
					   .caches = caches,
					   .lines = 1,
					   .symmetry = true,
					   .mistake = mistake->mistake };
	bool present = mistake->mistake != MISTAKE_NONE;

	protocol_select(&rows, variant);
	for (uint32_t e = 0; e < EDITS_MAX && mistake->edits[e].valid; e++)
		present |= apply(&rows, &mistake->edits[e]);
	return present ? fate(&options, right, found) : MUTANT_ABSENT;
}

/* ---- every single cell ---------------------------------------------------------------------- */

struct cells {
	struct edit *edit;
	size_t count, room;
	bool no_memory;
};

static void add_edit(struct cells *cells, struct edit edit)
{
	if (cells->count == cells->room) {
		size_t room = cells->room * 2 + 256;
		struct edit *larger = realloc(cells->edit, room * sizeof(*larger));

		cells->no_memory |= !larger;
		if (!larger)
			return;
		cells->edit = larger;
		cells->room = room;
	}
	cells->edit[cells->count++] = edit;
}

/* `used`: the states that the variant has, a bit each. */
static void add_cell(struct cells *cells, const struct protocol_row *row, struct edit edit,
		     uint32_t used, uint32_t actions)
{
	edit.valid = true;
	for (uint8_t next = 0; next < 32; next++)
		if (used >> next & 1 && next != row->next) {
			edit.next = next;
			add_edit(cells, edit);
		}
	edit.next = KEEP;
	for (uint32_t action = 0; action < actions; action++) {
		bool has = row->actions >> action & 1;

		edit.less = has ? 1u << action : 0;
		edit.more = has ? 0 : 1u << action;
		add_edit(cells, edit);
	}
}

static void add_cells(struct cells *cells, const struct protocol *rows)
{
	uint32_t caches = 0, homes = 0;

	for (uint8_t s = 0; s < CACHE_STATE_COUNT; s++)
		for (uint8_t e = 0; e < CACHE_EVENT_COUNT; e++)
			caches |= (uint32_t)rows->cache[s][e].valid << s;
	for (uint8_t s = 0; s < HOME_STATE_COUNT; s++)
		for (uint8_t e = 0; e < HOME_EVENT_COUNT; e++)
			homes |= (uint32_t)rows->home[s][e].valid << s;
	for (uint8_t s = 0; s < CACHE_STATE_COUNT; s++)
		for (uint8_t e = 0; e < CACHE_EVENT_COUNT; e++)
			if (rows->cache[s][e].valid)
				add_cell(cells, &rows->cache[s][e],
					 (struct edit){ .home = false, .state = s, .event = e },
					 caches, CACHE_ACTION_COUNT);
	for (uint8_t s = 0; s < HOME_STATE_COUNT; s++)
		for (uint8_t e = 0; e < HOME_EVENT_COUNT; e++)
			if (rows->home[s][e].valid)
				add_cell(cells, &rows->home[s][e],
					 (struct edit){ .home = true, .state = s, .event = e },
					 homes, HOME_ACTION_COUNT);
}

static enum mutant_fate try_edit(const struct explore_options *options,
				 const struct explore_result *right, const struct edit *edit)
{
	struct explore_options with = *options;
	struct explore_result found;
	struct protocol rows;

	protocol_select(&rows, &options->variant);
	apply(&rows, edit);
	with.rows = &rows;
	return fate(&with, right, &found);
}

/* Either of two states becomes the other. */
static bool swaps(const struct edit *edit, uint32_t old, uint32_t a, uint32_t b)
{
	return (old == a && edit->next == b) || (old == b && edit->next == a);
}

static const char *cache_reason(const struct protocol_row *row, const struct edit *edit)
{
	if (swaps(edit, row->next, STATE_IM_A, STATE_SM_A) ||
	    swaps(edit, row->next, STATE_IM_AD, STATE_SM_AD))
		return "only whether loads hit while the acks come";
	if (swaps(edit, row->next, STATE_SI_A, STATE_II_A))
		return "nothing but PutAck can come in either";
	if (row->next == STATE_E && edit->next == STATE_M)
		return "a clean line counts as dirty: a write-back more";
	return NULL;
}

static const char *home_reason(const struct protocol_row *row, const struct edit *edit)
{
	const uint32_t share = 1u << ACTION_sharer | 1u << ACTION_sharers;

	if (swaps(edit, row->next, STATE_HM, STATE_HE) ||
	    swaps(edit, row->next, STATE_BM, STATE_BE))
		return "HE takes whatever HM takes";
	if ((edit->more | edit->less) == 1u << ACTION_leave)
		return "the sender is no sharer on record, or all leave";
	if (edit->more == 1u << ACTION_inv && edit->event == EVENT_PutLast)
		return "the sender alone shares: nobody is told";
	if (edit->more & share &&
	    (row->actions & (share | 1u << ACTION_leave) || edit->event == EVENT_Missed))
		return "they are on record already, or the sender is taken off again";
	if (edit->more == 1u << ACTION_disown && DOES(row, owner))
		return "the row sets the owner after it";
	if (edit->more == 1u << ACTION_owner &&
	    (edit->event == EVENT_GetMOwner || edit->event == EVENT_Missed))
		return "it is the owner already";
	return NULL;
}

/* Why a mistake does no harm, NULL where that is not known. */
static const char *reason(const struct protocol *rows, const struct edit *edit)
{
	return edit->home ? home_reason(&rows->home[edit->state][edit->event], edit)
			  : cache_reason(&rows->cache[edit->state][edit->event], edit);
}

static void describe(FILE *out, const struct protocol *rows, const struct edit *edit)
{
	uint32_t changed = edit->less | edit->more;
	int action = changed ? __builtin_ctz(changed) : 0;
	const char *why = reason(rows, edit);

	if (edit->home)
		fprintf(out, "%s/%s: ", home_state_name(edit->state), home_event_name(edit->event));
	else
		fprintf(out, "%s/%s: ", cache_state_name(edit->state),
			cache_event_name(edit->event));
	if (edit->next != KEEP)
		fprintf(out, "to %s",
			edit->home ? home_state_name(edit->next) : cache_state_name(edit->next));
	else
		fprintf(out, "%s %s", edit->less ? "without" : "with",
			edit->home ? home_action_name((enum home_action)action)
				   : cache_action_name((enum cache_action)action));
	fprintf(out, ": %s\n", why ? why : "NO REASON KNOWN");
}

static bool report(const struct protocol *rows, const struct cells *cells, const uint8_t *fates,
		   uint32_t every, struct mutants *mutants)
{
	size_t size;
	FILE *out = open_memstream(&mutants->survivors, &size);

	if (!out)
		return false;
	for (size_t k = 0; k < cells->count; k += every) {
		mutants->tried++;
		mutants->killed += fates[k] == MUTANT_KILLED;
		mutants->counted += fates[k] == MUTANT_COUNTED;
		if (fates[k] == MUTANT_SURVIVED) {
			describe(out, rows, &cells->edit[k]);
			mutants->unexplained += !reason(rows, &cells->edit[k]);
		}
	}
	return fclose(out) == 0;
}

bool mutants_try(const struct protocol_variant *variant, uint32_t caches, uint32_t every,
		 struct mutants *mutants)
{
	struct explore_options options = {
		.variant = *variant, .caches = caches, .lines = 1, .symmetry = true
	};
	struct explore_result right;
	struct cells cells = { .no_memory = false };
	struct protocol rows;
	uint8_t *fates = NULL;
	bool done = false;

	memset(mutants, 0, sizeof(*mutants));
	protocol_select(&rows, variant);
	add_cells(&cells, &rows);
	fates = calloc(cells.count, 1);
	if (fates && !cells.no_memory && explore(&options, &right) == EXPLORE_HOLDS) {
#pragma omp parallel for schedule(dynamic, 16)
		for (size_t k = 0; k < cells.count; k += every)
			fates[k] = (uint8_t)try_edit(&options, &right, &cells.edit[k]);
		done = report(&rows, &cells, fates, every, mutants);
	}
	free(fates);
	free(cells.edit);
	return done;
}
