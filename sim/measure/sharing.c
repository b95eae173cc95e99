/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "measure/sharing.h"
#include <stdlib.h>
#include <string.h>

enum { WORD = 4, WORDS_MAX = LINE_MAX / WORD, OPEN_MAX = 4, TABLE_START = 256 };

static const uint32_t NO_CORE = UINT32_MAX;

enum reason { NEVER_HELD, HELD, EVICTED, INVALIDATED };

/* A core's past with a line. */
struct past {
	uint64_t essential; /* the line's version at the core's last essential miss */
	uint16_t culprit;   /* whose access took the line away */
	uint8_t reason;     /* what became of the last copy */
	struct lifetime *lifetime;
};

/* The present copy of a core, from its data's arrival until it is lost. */
struct lifetime {
	struct past *past;
	struct lifetime *next, **link; /* among all that are open */
	uint64_t version;              /* of the line when the data came */
	uint32_t core;
	uint16_t culprit;
	uint8_t verdict;
	bool decided;
	uint32_t open_count;
	struct pair open[OPEN_MAX]; /* stalls whose verdict is to come */
};

struct notes {
	struct notes *next;
	uint64_t version; /* counts writes */
	struct {
		uint64_t version;
		uint16_t core;
	} word[WORDS_MAX]; /* last write */
	struct {
		struct origin read;
		uint32_t core; /* NO_CORE: none since the last write */
	} reader[2];           /* the last two cores that read a shared copy, the latest first */
	struct origin upgraded_for; /* whose read the last write has ended */
	struct past past[];         /* a core */
};

struct sharing {
	struct machine *machine;
	struct notes *all;
	struct lifetime *open, *unused;
	struct pair *pairs; /* hash by (victim, culprit, verdict) while running */
	uint32_t size, count;
	bool sorted;
};

struct sharing *sharing_new(struct machine *machine)
{
	struct sharing *sharing = calloc(1, sizeof(*sharing));

	if (!sharing)
		return NULL;
	sharing->machine = machine;
	sharing->size = TABLE_START;
	sharing->pairs = calloc(TABLE_START, sizeof(*sharing->pairs));
	if (!sharing->pairs) {
		free(sharing);
		return NULL;
	}
	return sharing;
}

void sharing_free(struct sharing *sharing)
{
	if (!sharing)
		return;
	for (struct lifetime *life = sharing->open, *next; life; life = next) {
		next = life->next;
		free(life);
	}
	for (struct lifetime *life = sharing->unused, *next; life; life = next) {
		next = life->next;
		free(life);
	}
	for (struct notes *notes = sharing->all, *next; notes; notes = next) {
		next = notes->next;
		free(notes);
	}
	free(sharing->pairs);
	free(sharing);
}

/* ---- pairs ---------------------------------------------------------------------------------- */

static struct pair *pair_slot(struct pair *pairs, uint32_t size, const struct pair *key)
{
	uint64_t h = ((uint64_t)key->victim << 20 ^ (uint64_t)key->culprit << 4 ^ key->verdict) *
		     0x9e3779b97f4a7c15u;

	for (uint32_t k = (uint32_t)(h >> 40) % size;; k = (k + 1) % size) {
		struct pair *pair = &pairs[k];

		if (!pair->count || (pair->victim == key->victim && pair->culprit == key->culprit &&
				     pair->verdict == key->verdict))
			return pair;
	}
}

static void pair_add(struct sharing *sharing, const struct pair *add)
{
	struct pair *pair = pair_slot(sharing->pairs, sharing->size, add);

	if (!pair->count && ++sharing->count * 2 > sharing->size) {
		uint32_t size = sharing->size * 2;
		struct pair *pairs = calloc(size, sizeof(*pairs));

		if (!pairs) {
			error_set(&sharing->machine->coherence->defect, "out of memory");
			return;
		}
		for (uint32_t k = 0; k < sharing->size; k++)
			if (sharing->pairs[k].count)
				*pair_slot(pairs, size, &sharing->pairs[k]) = sharing->pairs[k];
		free(sharing->pairs);
		sharing->pairs = pairs;
		sharing->size = size;
		pair = pair_slot(pairs, size, add);
	}
	pair->victim = add->victim;
	pair->culprit = add->culprit;
	pair->verdict = add->verdict;
	pair->cycles += add->cycles;
	pair->queued += add->queued;
	pair->count += add->count;
}

/* ---- lifetimes ------------------------------------------------------------------------------ */

static struct notes *notes_of(struct sharing *sharing, struct line *line)
{
	uint32_t cores = sharing->machine->coherence->fabric->cores;
	struct notes *notes = line->notes;

	if (notes)
		return notes;
	notes = calloc(1, sizeof(*notes) + cores * sizeof(struct past));
	if (!notes) {
		error_set(&sharing->machine->coherence->defect, "out of memory");
		return NULL;
	}
	notes->reader[0].core = notes->reader[1].core = NO_CORE;
	notes->next = sharing->all;
	sharing->all = notes;
	line->notes = notes;
	return notes;
}

static struct lifetime *lifetime_begin(struct sharing *sharing, struct past *past)
{
	struct lifetime *life = sharing->unused;

	if (life)
		sharing->unused = life->next;
	else if (!(life = malloc(sizeof(*life))))
		return NULL;
	memset(life, 0, offsetof(struct lifetime, open));
	life->past = past;
	life->next = sharing->open;
	life->link = &sharing->open;
	if (life->next)
		life->next->link = &life->next;
	sharing->open = life;
	past->lifetime = life;
	return life;
}

static void decide(struct sharing *sharing, struct lifetime *life, enum verdict verdict)
{
	life->decided = true;
	life->verdict = (uint8_t)verdict;
	for (uint32_t k = 0; k < life->open_count; k++) {
		life->open[k].verdict = (uint8_t)verdict;
		pair_add(sharing, &life->open[k]);
	}
	life->open_count = 0;
	if (verdict != VERDICT_FALSE)
		life->past->essential = life->version;
}

static void lifetime_end(struct sharing *sharing, struct lifetime *life)
{
	if (!life->decided)
		decide(sharing, life, VERDICT_FALSE);
	life->past->lifetime = NULL;
	*life->link = life->next;
	if (life->next)
		life->next->link = life->link;
	life->next = sharing->unused;
	sharing->unused = life;
}

static bool is_news(const struct notes *notes, const struct past *past, uint32_t core,
		    const struct origin *origin)
{
	for (uint32_t w = origin->offset / WORD; w <= (origin->offset + origin->size - 1u) / WORD;
	     w++)
		if (notes->word[w].version > past->essential && notes->word[w].core != core)
			return true;
	return false;
}

/* ---- what is heard -------------------------------------------------------------------------- */

void sharing_gained(void *context, uint32_t core, struct copy *copy, uint64_t now)
{
	struct sharing *sharing = context;
	struct notes *notes = notes_of(sharing, copy->line);
	struct past *past = notes ? &notes->past[core] : NULL;

	(void)now;
	if (!past || past->lifetime) /* an upgrade goes on with the copy it had */
		return;
	struct lifetime *life = lifetime_begin(sharing, past);

	if (!life)
		return;
	life->core = core;
	life->version = notes->version;
	life->culprit = past->culprit;
	if (past->reason == NEVER_HELD)
		decide(sharing, life, VERDICT_COLD);
	else if (past->reason == EVICTED)
		decide(sharing, life, VERDICT_CAPACITY);
	past->reason = HELD;
}

void sharing_lost(void *context, uint32_t core, struct copy *copy, enum loss loss,
		  const struct origin *by, uint64_t now)
{
	struct sharing *sharing = context;
	struct notes *notes = notes_of(sharing, copy->line);
	struct past *past = notes ? &notes->past[core] : NULL;

	(void)now;
	if (!past)
		return;
	if (loss == LOSS_DOWNGRADED)
		return;
	past->reason = loss == LOSS_EVICTED ? EVICTED : INVALIDATED;
	past->culprit = by ? by->field : 0;
	if (past->lifetime)
		lifetime_end(sharing, past->lifetime);
}

static void reader_seen(struct notes *notes, uint32_t core, const struct origin *read)
{
	if (notes->reader[0].core != core)
		notes->reader[1] = notes->reader[0];
	notes->reader[0].core = core;
	notes->reader[0].read = *read;
}

/* The writer's own read is what an upgrade is for only where nobody else has read. */
static void readers_end(struct notes *notes, uint32_t writer)
{
	bool own = notes->reader[0].core == writer && notes->reader[1].core != NO_CORE;

	if (notes->reader[0].core == NO_CORE)
		return;
	notes->upgraded_for = notes->reader[own].read;
	notes->reader[0].core = notes->reader[1].core = NO_CORE;
}

void sharing_touched(void *context, uint32_t core, struct copy *copy, const struct origin *origin)
{
	struct sharing *sharing = context;
	struct notes *notes = notes_of(sharing, copy->line);

	if (!notes)
		return;
	struct past *past = &notes->past[core];

	if (past->lifetime && !past->lifetime->decided && is_news(notes, past, core, origin))
		decide(sharing, past->lifetime, VERDICT_TRUE);
	if (!origin->write) {
		if (!cache_writable(copy->state))
			reader_seen(notes, core, origin);
		return;
	}
	readers_end(notes, core);
	notes->version++;
	for (uint32_t w = origin->offset / WORD; w <= (origin->offset + origin->size - 1u) / WORD;
	     w++) {
		notes->word[w].version = notes->version;
		notes->word[w].core = (uint16_t)core;
	}
}

static bool overlap(const struct origin *a, const struct origin *b)
{
	return a->offset < b->offset + b->size && b->offset < a->offset + a->size;
}

void sharing_stalled(struct sharing *sharing, const struct stall *stall)
{
	struct notes *notes = notes_of(sharing, stall->copy->line);
	struct pair pair = { .victim = stall->origin.field,
			     .cycles = stall->cycles,
			     .queued = stall->queued,
			     .count = 1 };

	if (!notes)
		return;
	struct past *past = &notes->past[stall->core];
	struct lifetime *life = past->lifetime;

	if (stall->local) {
		pair.culprit = pair.victim;
		pair.verdict = VERDICT_TRUE;
	} else if (!life) { /* data that were used once, and not kept */
		pair.culprit = past->culprit;
		pair.verdict = is_news(notes, past, stall->core, &stall->origin) ? VERDICT_TRUE
										 : VERDICT_FALSE;
	} else if (stall->upgrade) {
		pair.culprit = notes->upgraded_for.field;
		pair.verdict = overlap(&notes->upgraded_for, &stall->origin) ? VERDICT_TRUE
									     : VERDICT_FALSE;
	} else if (life->decided || life->open_count == OPEN_MAX) {
		pair.culprit = life->culprit;
		pair.verdict = life->decided ? life->verdict : VERDICT_FALSE;
	} else {
		pair.culprit = life->culprit;
		life->open[life->open_count++] = pair;
		return;
	}
	if (pair.verdict == VERDICT_COLD || pair.verdict == VERDICT_CAPACITY)
		pair.culprit = 0;
	pair_add(sharing, &pair);
}

void sharing_finish(struct sharing *sharing, uint32_t core)
{
	for (struct lifetime *life = sharing->open, *next; life; life = next) {
		next = life->next;
		if (life->core == core)
			lifetime_end(sharing, life);
	}
}

static int by_cycles(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;

	if (a->cycles != b->cycles)
		return a->cycles < b->cycles ? 1 : -1;
	if (a->victim != b->victim)
		return a->victim < b->victim ? -1 : 1;
	if (a->culprit != b->culprit)
		return a->culprit < b->culprit ? -1 : 1;
	return (int)a->verdict - (int)b->verdict;
}

const struct pair *sharing_pairs(struct sharing *sharing, uint32_t *count)
{
	if (!sharing->sorted) {
		uint32_t n = 0;

		for (uint32_t k = 0; k < sharing->size; k++)
			if (sharing->pairs[k].count)
				sharing->pairs[n++] = sharing->pairs[k];
		qsort(sharing->pairs, n, sizeof(*sharing->pairs), by_cycles);
		sharing->count = n;
		sharing->sorted = true;
	}
	*count = sharing->count;
	return sharing->pairs;
}
