/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run is checked for beside the protocol's rows: that a load sees the last store, that a copy
 * which may be written is alone, that every request comes to an end. */
#include "coherence/coherence.h"
#include <stdio.h>

/* ---- values and copies ---------------------------------------------------------------------- */

static void defect_of(struct coherence *coherence, enum defect kind)
{
	if (!coherence->defect.text[0])
		coherence->defect_kind = kind;
}

void audit_read(struct coherence *coherence, const struct copy *copy, const struct origin *where,
		uint64_t value)
{
	coherence->visits->cache[copy->state][EVENT_Load] += copy->state != STATE_IS_D_I;
	/* data older than an acknowledged Inv may be read once */
	if (copy->state == STATE_IS_D_I ||
	    !memcmp(&value, copy->line->golden + where->offset, where->size))
		return;
	defect_of(coherence, DEFECT_VALUE);
	coherence_defect(coherence, copy->line,
			 "a load at offset %u reads %llu, not the last value stored", where->offset,
			 (unsigned long long)value);
}

/* "1 4 7": the cores whose copies may be read and not written. */
static void list_readers(struct coherence *coherence, const struct line *line, char *text,
			 size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t k = 0; k < coherence->fabric->cores && used < size; k++) {
		const struct copy *copy =
			cache_find(coherence, &coherence->cores[k], line->address);

		if (copy && cache_readable(copy->state) && !cache_writable(copy->state))
			used += (size_t)snprintf(text + used, size - used, " %u", k);
	}
}

static int writer_after(struct coherence *coherence, const struct line *line, int core)
{
	while (++core < (int)coherence->fabric->cores) {
		const struct copy *copy =
			cache_find(coherence, &coherence->cores[core], line->address);

		if (copy && cache_writable(copy->state))
			return core;
	}
	return -1;
}

/* A copy that answers for the line: at most one, in any protocol. */
static bool is_source(enum cache_state state)
{
	const uint32_t sources = 1u << STATE_E | 1u << STATE_M | 1u << STATE_F | 1u << STATE_FM_AD |
				 1u << STATE_O | 1u << STATE_OM_AC;

	return sources >> state & 1;
}

static void count(uint16_t *copies, bool is, bool was)
{
	*copies = (uint16_t)(*copies + is - was);
}

void audit_state(struct coherence *coherence, struct copy *copy, enum cache_state old)
{
	struct line *line = copy->line;
	char readers[64];

	count(&line->readable, cache_readable(copy->state), cache_readable(old));
	count(&line->writable, cache_writable(copy->state), cache_writable(old));
	count(&line->sources, is_source(copy->state), is_source(old));
	if (line->sources <= 1 && (!line->writable || line->readable == 1))
		return;
	int writer = writer_after(coherence, line, -1);
	int other = writer_after(coherence, line, writer);

	list_readers(coherence, line, readers, sizeof(readers));
	defect_of(coherence, DEFECT_COPIES);
	if (other >= 0)
		coherence_defect(coherence, line, "cores %d and %d may both write", writer, other);
	else if (writer >= 0)
		coherence_defect(coherence, line, "core %d may write and others may read:%s",
				 writer, readers);
	else
		coherence_defect(coherence, line, "two copies answer for the line, among cores%s",
				 readers);
}

void audit_operate(struct coherence *coherence, struct line *line)
{
	char readers[64];

	if (!line->readable)
		return;
	list_readers(coherence, line, readers, sizeof(readers));
	defect_of(coherence, DEFECT_COPIES);
	coherence_defect(coherence, line, "the home operates and others may read:%s", readers);
}

/* ---- waits ---------------------------------------------------------------------------------- */

/* Walks over all copies of all cores. */
struct walk {
	uint32_t core;
	size_t way;
	const struct copy *transit;
};

static const struct copy *walk_next(const struct coherence *coherence, struct walk *walk)
{
	size_t ways = (size_t)coherence->config.l2.sets * coherence->config.l2.ways;

	for (; walk->core < coherence->fabric->cores; walk->core++, walk->way = 0) {
		const struct core *core = &coherence->cores[walk->core];

		while (walk->way < ways)
			if (core->l2[walk->way++])
				return core->l2[walk->way - 1];
		if (walk->way == ways) {
			walk->way++;
			walk->transit = core->transit;
		} else {
			walk->transit = walk->transit->next;
		}
		if (walk->transit)
			return walk->transit;
	}
	return NULL;
}

bool audit_stuck(struct coherence *coherence)
{
	const struct copy *copy, *oldest = NULL;
	const struct access *first = NULL;
	struct walk walk = { 0 };
	uint32_t core = 0;

	while ((copy = walk_next(coherence, &walk))) {
		const struct access *access = copy->far ? copy->far : copy->waiting;

		if (access && (!first || access->since < first->since)) {
			oldest = copy;
			first = access;
			core = walk.core;
		}
	}
	if (!oldest)
		return false;
	defect_of(coherence, DEFECT_STUCK);
	coherence_defect(coherence, oldest->line,
			 "core %u has waited to %s since cycle %llu, in %s", core,
			 first->write ? "write" : "read", (unsigned long long)first->since,
			 cache_state_name(oldest->state));
	return true;
}

static bool home_rests(const struct line *line)
{
	const uint32_t rests = 1u << STATE_HI | 1u << STATE_HS | 1u << STATE_HE | 1u << STATE_HM |
			       1u << STATE_HF | 1u << STATE_HO;

	return !line->waiting && rests >> line->state & 1;
}

void audit_rest(struct coherence *coherence)
{
	const struct copy *copy;
	struct walk walk = { 0 };

	if (audit_stuck(coherence))
		return;
	for (size_t k = 0; k < coherence->table_size; k++)
		for (const struct line *line = coherence->table[k]; line; line = line->next)
			if (!home_rests(line)) {
				defect_of(coherence, DEFECT_STUCK);
				coherence_defect(coherence, line,
						 "the home is left waiting, and nothing is under "
						 "way");
			}
	while ((copy = walk_next(coherence, &walk)))
		if (!cache_stable(copy->state) || copy->stalled) {
			defect_of(coherence, DEFECT_STUCK);
			coherence_defect(coherence, copy->line,
					 "core %u is left in %s, and nothing is under way",
					 walk.core, cache_state_name(copy->state));
		}
}
