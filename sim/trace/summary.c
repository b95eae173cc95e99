/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/summary.h"
#include <inttypes.h>

struct words {
	const char *key, *words;
};

static const struct words drops[DROPS] = {
#define DROP(name, key, words) { key, words },
	TRACE_DROPS(DROP)
#undef DROP
};

static const struct words skips[SKIPS] = {
#define SKIP(name, key, words) { key, words },
	TRACE_SKIPS(SKIP)
#undef SKIP
};

static const struct words kinds[] = {
	[KIND_UNKNOWN] = { "unknown", "unknown: nothing in it says whether it is complete" },
	[KIND_COMPLETE] = { "complete", "complete: every access of what was watched, in order" },
	[KIND_SAMPLED] = { "sampled", "sampled: some accesses stand for many, order is chance" },
	[KIND_AGGREGATE] = { "aggregate", "aggregate: sums over a run, without order" },
};

static const char *const op_words[TRACE_OPS] = { "loads", "stores", "atomics", "load and store",
						 "load or store" };

static void print_counts(FILE *out, const char *head, const struct words *words,
			 const uint64_t *counts, int count)
{
	for (int k = 0; k < count; k++)
		if (counts[k])
			fprintf(out, "  %-9s %12" PRIu64 "  %s\n", head, counts[k], words[k].words);
}

static void print_what(FILE *out, const struct trace_summary *summary)
{
	fprintf(out, "  %-9s %12" PRIu64 "  ", "used", summary->used);
	for (int op = 0, before = 0; op < TRACE_OPS; op++)
		if (summary->ops[op])
			fprintf(out, "%s%" PRIu64 " %s", before++ ? ", " : "", summary->ops[op],
				op_words[op]);
	if (summary->used && (summary->weight_low != 1 || summary->weight_high != 1))
		fprintf(out, "; they stand for %" PRIu64 " (%" PRIu64 " to %" PRIu64 " each)",
			summary->weight, summary->weight_low, summary->weight_high);
	putc('\n', out);
}

static void print_where(FILE *out, const struct trace_summary *summary)
{
	uint64_t with_time = summary->used - summary->without_time;

	fprintf(out, "  threads   %12" PRIu32 "\n  cpus      %12" PRIu32 "\n", summary->threads,
		summary->cpus);
	if (with_time)
		fprintf(out, "  span      %12.6f  s\n",
			(double)(summary->last_time - summary->first_time) / 1e9);
}

/* What cannot be known, since records do not say it. */
static void print_unknown(FILE *out, const struct trace_summary *summary)
{
	const struct {
		uint64_t count;
		const char *words;
	} lacks[] = {
		{ summary->without_time, "without a time" },
		{ summary->without_cpu, "without a cpu" },
		{ summary->without_tid, "without a thread" },
		{ summary->without_size, "without a size" },
		{ summary->backwards, "earlier than the record before" },
		{ summary->backwards_in_thread, "earlier than their thread's record before" },
		{ summary->lost, "lost while capturing" },
	};

	for (size_t k = 0; k < sizeof(lacks) / sizeof(*lacks); k++)
		if (lacks[k].count)
			fprintf(out, "  unknown   %12" PRIu64 "  %s\n", lacks[k].count,
				lacks[k].words);
	if (summary->used && !summary->ops[TRACE_STORE] && !summary->ops[TRACE_ATOMIC] &&
	    !summary->ops[TRACE_MODIFY] && !summary->ops[TRACE_ACCESS])
		fputs("  unknown                 who stores: there is no store in it\n", out);
}

const char *summary_last_note(const struct trace_summary *summary)
{
	return summary->note_count ? summary->notes[summary->note_count - 1] : "";
}

void summary_print(FILE *out, const struct trace_summary *summary)
{
	fprintf(out, "%s: %s\n", summary->name, summary->format);
	fprintf(out, "  %s\n", kinds[summary->kind].words);
	fprintf(out, "  %-9s %12" PRIu64 "  records\n", "read", summary->read);
	print_what(out, summary);
	print_counts(out, "dropped", drops, summary->dropped, DROPS);
	print_counts(out, "skipped", skips, summary->skipped, SKIPS);
	if (summary->skipped[SKIP_UNPARSED])
		fprintf(out, "            the first is line %s\n", summary->first_unparsed);
	print_where(out, summary);
	print_unknown(out, summary);
	for (uint32_t k = 0; k < summary->note_count; k++)
		fprintf(out, "  note: %s\n", summary->notes[k]);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void set_count(json_t *json, const char *key, uint64_t value)
{
	json_object_set_new(json, key,
			    json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value));
}

static json_t *counts_json(const struct words *words, const uint64_t *counts, int count)
{
	json_t *json = json_object();

	for (int k = 0; k < count; k++)
		set_count(json, words[k].key, counts[k]);
	return json;
}

static void set_times(json_t *json, const struct trace_summary *summary)
{
	set_count(json, "first_time_ns", summary->first_time);
	set_count(json, "last_time_ns", summary->last_time);
	set_count(json, "backwards", summary->backwards);
	set_count(json, "backwards_in_thread", summary->backwards_in_thread);
	set_count(json, "without_time", summary->without_time);
	set_count(json, "without_cpu", summary->without_cpu);
	set_count(json, "without_thread", summary->without_tid);
	set_count(json, "without_size", summary->without_size);
}

json_t *summary_json(const struct trace_summary *summary)
{
	static const char *const ops[TRACE_OPS] = { "loads", "stores", "atomics", "modifies",
						    "accesses" };
	json_t *json = json_object(), *by_op = json_object(), *by_source = json_object();
	json_t *notes = json_array();

	json_object_set_new(json, "file", json_string(summary->name));
	json_object_set_new(json, "format", json_string(summary->format));
	json_object_set_new(json, "kind", json_string(kinds[summary->kind].key));
	set_count(json, "read", summary->read);
	set_count(json, "used", summary->used);
	set_count(json, "lost", summary->lost);
	json_object_set_new(json, "dropped", counts_json(drops, summary->dropped, DROPS));
	json_object_set_new(json, "skipped", counts_json(skips, summary->skipped, SKIPS));
	for (int op = 0; op < TRACE_OPS; op++)
		set_count(by_op, ops[op], summary->ops[op]);
	for (int source = 0; source < SOURCES; source++)
		set_count(by_source, source ? trace_source_names[source] : "unknown",
			  summary->sources[source]);
	json_object_set_new(json, "operations", by_op);
	json_object_set_new(json, "sources", by_source);
	set_count(json, "weight", summary->weight);
	set_count(json, "weight_low", summary->weight_low);
	set_count(json, "weight_high", summary->weight_high);
	set_count(json, "threads", summary->threads);
	set_count(json, "cpus", summary->cpus);
	set_times(json, summary);
	for (uint32_t k = 0; k < summary->note_count; k++)
		json_array_append_new(notes, json_string(summary->notes[k]));
	json_object_set_new(json, "notes", notes);
	return json;
}
