/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload/replay_parts.h"
#include <stdio.h>
#include <stdlib.h>

enum { NAMED_LINES_MAX = 256, NOT_SEEN = UINT32_MAX, SEVERAL = UINT32_MAX - 1 };

/* What was done at a place, by whom. */
struct use {
	uint64_t address, weight;
	uint32_t lane; /* or SEVERAL */
	uint16_t size;
	bool written;
};

/* A line and its uses: [first, first + count) of those in order of address. */
struct hot {
	uint64_t address, weight;
	uint32_t first, count;
};

static int by_address(const void *left, const void *right)
{
	const struct use *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->size > b->size ? -1 : a->size < b->size;
}

static int by_weight(const void *left, const void *right)
{
	const struct hot *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* The uses of places outside objects, in order of address. */
static struct use *collect_uses(const struct replay *replay, uint32_t *count)
{
	struct use *uses = malloc((replay->place_count + 1) * sizeof(*uses));

	bool profile = replay->kind == KIND_SAMPLED || replay->kind == KIND_AGGREGATE;

	*count = 0;
	for (uint32_t k = 0; uses && k < replay->place_count; k++)
		uses[k] = (struct use){ .address = replay->places[k].address,
					.size = replay->places[k].size,
					.lane = NOT_SEEN };
	for (uint32_t k = 0; uses && k < replay->lane_count; k++)
		for (uint32_t s = 0; s < replay->lanes[k].count; s++) {
			const struct replay_step *step = &replay->lanes[k].steps[s];
			struct use *use = &uses[step_place(step->what)];

			use->lane = use->lane == NOT_SEEN || use->lane == k ? k : SEVERAL;
			use->written |= step_op(step->what) != TRACE_LOAD;
			use->weight += profile ? step->amount : 1;
		}
	for (uint32_t k = 0; uses && k < replay->place_count; k++)
		if (!replay->places[k].object)
			uses[(*count)++] = uses[k];
	if (uses)
		qsort(uses, *count, sizeof(*uses), by_address);
	return uses;
}

/* Lines that more than one lane uses and one writes. */
static uint32_t collect_lines(const struct use *uses, uint32_t count, uint32_t line,
			      struct hot *lines)
{
	uint32_t found = 0;

	for (uint32_t k = 0, end; k < count; k = end) {
		struct hot hot = { uses[k].address / line * line, 0, k, 0 };
		bool shared = false, written = false;

		for (end = k; end < count && uses[end].address / line * line == hot.address;
		     end++) {
			shared |= uses[end].lane == SEVERAL || uses[end].lane != uses[k].lane;
			written |= uses[end].written;
			hot.weight += uses[end].weight;
		}
		hot.count = end - k;
		if (shared && written)
			lines[found++] = hot;
	}
	return found;
}

/* Places that overlap make one field. */
static struct layout *line_layout(const struct use *uses, const struct hot *hot, uint32_t line)
{
	char name[32], field[32];
	struct layout *layout;
	uint32_t begin = 0, end = 0;

	snprintf(name, sizeof(name), "0x%llx", (unsigned long long)hot->address);
	layout = layout_new(name, name, "a line of the capture");
	for (uint32_t k = 0; layout && k <= hot->count; k++) {
		const struct use *use = &uses[hot->first + k];
		uint32_t at = k < hot->count ? (uint32_t)(use->address - hot->address) : line;
		uint32_t size = k < hot->count && use->size ? use->size : 1;

		if (at >= end && end > begin) {
			snprintf(field, sizeof(field), "0x%llx",
				 (unsigned long long)hot->address + begin);
			if (!layout_add(layout, "", field, begin, end - begin)) {
				layout_free(layout);
				return NULL;
			}
		}
		if (at >= end)
			begin = at;
		end = at + size > end ? at + size : end;
		end = end > line ? line : end;
	}
	if (layout)
		layout->size = layout->align = line;
	return layout;
}

bool replay_name_lines(struct build *build, const struct replay *replay, struct error *error)
{
	uint32_t line = build->machine->config.coherence.line, count, found = 0;
	struct use *uses = collect_uses(replay, &count);
	struct hot *lines = uses ? malloc((count + 1) * sizeof(*lines)) : NULL;

	if (lines) {
		found = collect_lines(uses, count, line, lines);
		qsort(lines, found, sizeof(*lines), by_weight);
	} else {
		error_set(error, "out of memory");
	}
	for (uint32_t k = 0; k < found && k < NAMED_LINES_MAX && !error->text[0]; k++) {
		struct layout *layout = line_layout(uses, &lines[k], line);
		const struct layout *kept;

		if (!layout) {
			error_set(error, "out of memory");
			break;
		}
		kept = build_keep_layout(build, layout->name, layout, error);
		if (kept)
			memory_place_at(&build->memory, kept, kept->name, lines[k].address, 0,
					error);
	}
	free(uses);
	free(lines);
	return !error->text[0];
}
