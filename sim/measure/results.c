/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "measure/results.h"
#include "measure/timeline.h"
#include <stdlib.h>
#include <string.h>

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static const char *field_name(const struct memory *memory, uint16_t number)
{
	const struct layout *layout;
	const struct layout_field *field = memory_field(memory, number, &layout);

	return field ? field->name : "-";
}

/* ---- operations, cycles, pairs -------------------------------------------------------------- */

static json_t *latency(const struct measure *measure, const char *const *operations)
{
	static const struct {
		const char *name;
		double share;
	} percentiles[] = { { "p50", .5 }, { "p90", .9 }, { "p95", .95 }, { "p99", .99 } };
	double ns = 1e9 / measure->machine->config.clock;
	json_t *all = json_object();

	for (int k = 0; operations[k]; k++) {
		const struct histogram *histogram = &measure->latency[k];

		if (!histogram->count)
			continue;
		json_t *one = json_pack("{s:f}", "mean", histogram_mean(histogram) * ns);

		for (size_t p = 0; p < sizeof(percentiles) / sizeof(*percentiles); p++)
			json_object_set_new(one, percentiles[p].name,
					    json_real((double)histogram_percentile(
							      histogram, percentiles[p].share) *
						      ns));
		json_object_set_new(one, "count", number(histogram->count));
		json_object_set_new(all, operations[k], one);
	}
	return all;
}

static json_t *cycles(const struct measure *measure)
{
	json_t *object = json_object();

	for (int k = 0; k < PART_COUNT; k++)
		json_object_set_new(object, part_name((enum part)k), number(measure->parts[k]));
	json_object_set_new(object, "total", number(measure->total));
	return object;
}

static json_t *pairs(const struct measure *measure, const struct memory *memory)
{
	static const char *const verdicts[VERDICT_COUNT] = { "cold", "capacity", "true", "false" };
	uint32_t count;
	const struct pair *pair = sharing_pairs(measure->sharing, &count);
	json_t *array = json_array();

	for (uint32_t k = 0; k < count && k < RESULTS_PAIRS; k++)
		json_array_append_new(
			array,
			json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:f}", "victim",
				  field_name(memory, pair[k].victim), "culprit",
				  field_name(memory, pair[k].culprit), "sharing",
				  verdicts[pair[k].verdict], "cycles", number(pair[k].cycles),
				  "queued", number(pair[k].queued), "count", number(pair[k].count),
				  "share_pct", share(pair[k].cycles, measure->total)));
	return array;
}

static json_t *hitm(const uint64_t counts[2])
{
	return json_pack("{s:o, s:o}", "local", number(counts[0]), "remote", number(counts[1]));
}

static json_t *fields(const struct measure *measure, const struct memory *memory)
{
	json_t *array = json_array();

	for (uint32_t k = 1; k < measure->field_count; k++) {
		const struct field_total *field = &measure->fields[k];
		const struct layout *layout;
		const struct layout_field *about = memory_field(memory, (uint16_t)k, &layout);

		if (about && field->counts.loads + field->counts.stores + field->counts.rmws)
			json_array_append_new(
				array, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
						 "field", about->name, "struct", layout->structure,
						 "loads", number(field->counts.loads), "stores",
						 number(field->counts.stores), "rmws",
						 number(field->counts.rmws), "misses",
						 number(field->misses), "stall_cycles",
						 number(field->stall), "hitm", hitm(field->hitm[0]),
						 "rmw_hitm", hitm(field->hitm[1])));
	}
	return array;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static int by_queue(const void *left, const void *right)
{
	const struct line *a = *(struct line *const *)left, *b = *(struct line *const *)right;

	if (a->counts.queued != b->counts.queued)
		return a->counts.queued < b->counts.queued ? 1 : -1;
	if (a->counts.busy != b->counts.busy)
		return a->counts.busy < b->counts.busy ? 1 : -1;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* The lines that moved, those with the longest queues first. The caller frees the array; NULL without
 * memory. */
static struct line **moved_lines(const struct measure *measure, size_t *count)
{
	const struct coherence *coherence = measure->machine->coherence;
	struct line **lines = malloc((coherence->line_count + 1) * sizeof(struct line *));

	*count = 0;
	for (size_t k = 0; lines && k < coherence->table_size; k++)
		for (struct line *line = coherence->table[k]; line; line = line->next)
			if (line->counts.transfers[0] + line->counts.transfers[1])
				lines[(*count)++] = line;
	if (lines)
		qsort(lines, *count, sizeof(*lines), by_queue);
	return lines;
}

/* Names of the fields of a line that were touched. */
static json_t *touched_fields(const struct measure *measure, const struct object *object,
			      uint64_t address)
{
	uint32_t line = measure->machine->config.coherence.line;
	json_t *array = json_array();

	for (uint32_t k = 0; k < object->layout->field_count; k++) {
		const struct layout_field *field = &object->layout->fields[k];
		const struct field_counts *counts =
			&measure->fields[object->first_field + k].counts;
		uint64_t at = object->address + field->offset;

		if (at + field->size > address && at < address + line &&
		    counts->loads + counts->stores + counts->rmws)
			json_array_append_new(array, json_string(field->name));
	}
	return array;
}

static json_t *line_json(const struct measure *measure, const struct memory *memory,
			 const struct line *line)
{
	const struct object *object = memory_object(memory, line->address);
	const struct line_counts *c = &line->counts;
	uint64_t span = measure->ended - measure->steady_since;
	uint32_t offset = object ? (uint32_t)(line->address - object->address) : 0;

	return json_pack("{s:s, s:s, s:i, s:i, s:o, s:{s:o, s:o}, s:{s:o, s:o}, s:o, s:o, s:o, "
			 "s:o, s:o, s:o, s:f}",
			 "object", object ? object->name : "?", "struct",
			 object ? object->layout->structure : "?", "line",
			 (int)(offset / measure->machine->config.coherence.line), "offset",
			 (int)offset, "fields",
			 object ? touched_fields(measure, object, line->address) : json_array(),
			 "transfers", "same_socket", number(c->transfers[0]), "cross_socket",
			 number(c->transfers[1]), "hitm", "local", number(c->hitm[0]), "remote",
			 number(c->hitm[1]), "reads", number(c->reads), "owns", number(c->owns),
			 "upgrades", number(c->upgrades), "invalidations", number(c->invalidations),
			 "memory", number(c->memory), "queue_cycles", number(c->queued), "busy_pct",
			 share(c->busy, span));
}

static json_t *lines(const struct measure *measure, const struct memory *memory, json_t **c2c)
{
	size_t count;
	struct line **moved = moved_lines(measure, &count);
	json_t *array;
	uint64_t hitm[2] = { 0, 0 }, dram[2] = { 0, 0 };

	*c2c = NULL;
	if (!moved)
		return NULL;
	array = json_array();
	for (size_t k = 0; k < count; k++) {
		for (int across = 0; across < 2; across++)
			hitm[across] += moved[k]->counts.hitm[across];
		if (k < RESULTS_LINES)
			json_array_append_new(array, line_json(measure, memory, moved[k]));
	}
	free(moved);
	for (uint32_t k = 0; k < measure->machine->coherence->fabric->cores; k++)
		for (int across = 0; across < 2; across++)
			dram[across] += measure->machine->coherence->cores[k].counts.dram[across];
	*c2c = json_pack("{s:o, s:o, s:o, s:o, s:o}", "HITM.local", number(hitm[0]), "HITM.remote",
			 number(hitm[1]), "HITM.total", number(hitm[0] + hitm[1]), "DRAM.local",
			 number(dram[0]), "DRAM.remote", number(dram[1]));
	return array;
}

json_t *results_variant(const struct measure *measure, const struct memory *memory,
			const char *const *operations)
{
	json_t *c2c, *line = lines(measure, memory, &c2c);

	if (!line)
		return NULL;
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "latency_ns",
			 latency(measure, operations), "cycles", cycles(measure), "pairs",
			 pairs(measure, memory), "lines", line, "fields", fields(measure, memory),
			 "c2c", c2c);
}

double results_busiest(const struct measure *measure)
{
	uint64_t span = measure->ended - measure->steady_since, busiest = 0;
	const struct coherence *coherence = measure->machine->coherence;

	for (size_t k = 0; k < coherence->table_size; k++)
		for (const struct line *line = coherence->table[k]; line; line = line->next)
			if (line->counts.busy > busiest)
				busiest = line->counts.busy;
	/* An interval that was under way when counting began, or ended, is counted whole. */
	busiest = busiest < span ? busiest : span;
	return span ? (double)busiest / (double)span : 0;
}

/* ---- layouts and timelines ------------------------------------------------------------------ */

static json_t *layout_json(const struct measure *measure, const struct field_block *block,
			   const char *variant)
{
	json_t *array = json_array();

	for (uint32_t k = 0; k < block->layout->field_count; k++) {
		const struct field_total *total = &measure->fields[block->first + k];

		json_array_append_new(array,
				      json_pack("{s:s, s:i, s:i, s:o, s:o, s:i}", "name",
						block->layout->fields[k].name, "offset",
						(int)block->layout->fields[k].offset, "size",
						(int)block->layout->fields[k].size, "reads",
						number(total->counts.loads), "writes",
						number(total->counts.stores + total->counts.rmws),
						"writers", (int)total->writers));
	}
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:o}", "variant", variant, "struct",
			 block->layout->structure, "layout", block->layout->name, "line",
			 (int)measure->machine->config.coherence.line, "size",
			 (int)block->layout->size, "fields", array);
}

json_t *results_layouts(const struct measure *measure, const struct memory *memory,
			const char *variant)
{
	json_t *array = json_array();

	for (uint32_t k = 0; k < memory->block_count; k++)
		json_array_append_new(array, layout_json(measure, &memory->blocks[k], variant));
	return array;
}

json_t *results_timeline(const struct measure *measure, const struct memory *memory)
{
	static const char *const kinds[] = { "gets", "loses", "waited" };
	const struct timeline *timeline = measure->timeline;
	double ns = 1e9 / measure->machine->config.clock;
	json_t *array;

	if (!timeline)
		return NULL;
	array = json_array();
	for (uint32_t k = 0; k < timeline->count; k++) {
		const struct moment *moment = &timeline->moments[k];

		json_array_append_new(
			array, json_pack("{s:f, s:s, s:i, s:s, s:s, s:f, s:i}", "ns",
					 (double)(moment->time - timeline->from) * ns, "what",
					 kinds[moment->kind], "core", (int)moment->core, "state",
					 cache_state_name(moment->state), "field",
					 field_name(memory, moment->origin.field), "waited_ns",
					 (double)moment->waited * ns, "thread",
					 moment->kind == MOMENT_WAITED ? (int)moment->thread : -1));
	}
	return array;
}
