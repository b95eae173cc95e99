/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/fuzz/fuzz.h"
#include "trace/trace.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Freed memory is watched for long by default, which is memory that the limit is not meant for. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8:max_allocation_size_mb=256:abort_on_error=1";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "print_stacktrace=1:abort_on_error=1";
}

void fuzz_fail(const char *file, int line, const char *what, const struct error *error)
{
	fprintf(stderr, "%s:%d: expected %s%s%s\n", file, line, what, error ? "; error: " : "",
		error ? error->text : "");
	abort();
}

static const char *after_number(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits && *text != '0' ? text + digits : NULL;
}

void fuzz_expect_message(const struct error *error)
{
	FUZZ_EXPECT(error->text[0], error);
	for (const char *c = error->text; *c; c++)
		FUZZ_EXPECT((unsigned char)*c >= ' ' && *c != 0x7f, error);
}

void fuzz_expect_refusal(const struct error *error)
{
	static const char name[] = FUZZ_NAME ":";
	const char *at = error->text + sizeof(name) - 1;

	fuzz_expect_message(error);
	FUZZ_EXPECT(!strncmp(error->text, name, sizeof(name) - 1), error);
	at = after_number(at);
	FUZZ_EXPECT(at && *at == ':', error);
	at = after_number(at + 1);
	FUZZ_EXPECT(at && !strncmp(at, ": ", 2) && at[2], error);
}

struct document *fuzz_document(const char *name, const char *text)
{
	struct error error = { "" };
	struct document *document = document_parse(name, text, strlen(text), &error);

	FUZZ_EXPECT(document, &error);
	return document;
}

/* ---- captures ------------------------------------------------------------------------------- */

static void expect_readable(struct text text)
{
	volatile char sum = 0;

	FUZZ_EXPECT(text.length <= INPUT_LINE_MOST && (text.at || !text.length), NULL);
	for (uint32_t k = 0; k < text.length; k++)
		sum = (char)(sum ^ text.at[k]); /* the sanitizer looks on */
}

static void expect_sound(const struct trace_record *record)
{
	FUZZ_EXPECT(record->op < TRACE_OPS && record->source < SOURCES, NULL);
	FUZZ_EXPECT(record->weight && record->cpus, NULL);
	FUZZ_EXPECT(record->known & KNOWN_ADDRESS || record->field.length, NULL);
	FUZZ_EXPECT(record->known & KNOWN_ADDRESS || !record->address, NULL);
	FUZZ_EXPECT(!(record->known & KNOWN_SIZE) == !record->size, NULL);
	FUZZ_EXPECT(record->known & KNOWN_TIME || !record->time, NULL);
	FUZZ_EXPECT(record->known & KNOWN_LATENCY || !record->latency, NULL);
	FUZZ_EXPECT(record->known & KNOWN_TID || !record->tid, NULL);
	FUZZ_EXPECT(record->known & KNOWN_CPU || !record->cpu, NULL);
	FUZZ_EXPECT(record->known & KNOWN_IP || !record->ip, NULL);
	FUZZ_EXPECT(record->cpu < TRACE_CPUS_MAX && record->cpus <= TRACE_CPUS_MAX, NULL);
	expect_readable(record->thread_name);
	expect_readable(record->event);
	expect_readable(record->symbol);
	expect_readable(record->field);
}

static void expect_counted(const struct trace_summary *summary, uint64_t records)
{
	uint64_t sum = summary->used, ops = 0;

	for (int why = 0; why < DROPS; why++)
		sum += summary->dropped[why];
	for (int op = 0; op < TRACE_OPS; op++)
		ops += summary->ops[op];
	FUZZ_EXPECT(summary->read == sum, NULL);
	FUZZ_EXPECT(summary->used == records && ops == records, NULL);
	FUZZ_EXPECT(summary->note_count <= SUMMARY_NOTES, NULL);
	FUZZ_EXPECT(summary->kind != KIND_COMPLETE || !summary->lost, NULL);
}

static void expect_lines_counted(const struct trace *trace)
{
	uint64_t sum = trace->summary.read;

	for (int what = 0; what < SKIPS; what++)
		sum += trace->summary.skipped[what];
	FUZZ_EXPECT(sum == input_line_number(trace->input), NULL);
}

void fuzz_trace_with(const char *format, bool lines, const struct fuzz_more *more,
		     const uint8_t *data, size_t size)
{
	struct error error = { "" };
	struct trace *trace = trace_open_memory(FUZZ_NAME, data, size, format, &error);
	struct trace_record record;
	enum trace_step step;
	uint64_t records = 0;

	if (!trace) {
		fuzz_expect_message(&error);
		return;
	}
	while ((step = trace_next(trace, &record, &error)) == STEP_RECORD) {
		expect_sound(&record);
		if (more->record)
			more->record(&record);
		records++;
	}
	expect_counted(trace_summary(trace), records);
	if (step == STEP_FAILED || (!records && error.text[0]))
		fuzz_expect_message(&error);
	else
		FUZZ_EXPECT(!error.text[0], &error);
	if (step == STEP_END && lines)
		expect_lines_counted(trace);
	if (more->end)
		more->end(trace, step);
	trace_close(trace);
}

void fuzz_trace(const char *format, bool lines, const uint8_t *data, size_t size)
{
	fuzz_trace_with(format, lines, &(const struct fuzz_more){ NULL, NULL }, data, size);
}
