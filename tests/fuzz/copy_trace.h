/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces of one native form written in the other. */
#ifndef TESTS_FUZZ_COPY_TRACE_H
#define TESTS_FUZZ_COPY_TRACE_H

#include "tests/fuzz/fuzz.h"
#include "trace/writer.h"
#include <stdlib.h>
#include <string.h>

struct copy {
	char *at; /* NULL: the trace cannot be read */
	size_t length;
};

static inline struct copy copy_trace(const void *data, size_t size, const char *format,
				     const char *form)
{
	static struct trace_object objects[64];
	struct error error = { "" };
	struct trace *trace = trace_open_memory(FUZZ_NAME, data, size, format, &error);
	struct copy copy = { NULL, 0 };
	struct trace_writer *writer;
	struct trace_record record;
	enum trace_step step;
	uint32_t count = 0;
	FILE *out;

	if (!trace)
		return copy;
	while (count < 64 && trace_object(trace, count, &objects[count]))
		count++;
	out = open_memstream(&copy.at, &copy.length);
	writer = trace_writer_open(out, form, trace_summary(trace)->kind, objects, count, &error);
	FUZZ_EXPECT(out && writer, &error);
	while ((step = trace_next(trace, &record, &error)) == STEP_RECORD)
		FUZZ_EXPECT(trace_write(writer, &record, &error), &error);
	FUZZ_EXPECT(trace_writer_close(writer, &error) || error.text[0], &error);
	fclose(out);
	trace_close(trace);
	if (step == STEP_FAILED) {
		free(copy.at);
		copy = (struct copy){ NULL, 0 };
	}
	return copy;
}

static inline void expect_same_copy(struct copy one, struct copy other)
{
	FUZZ_EXPECT(one.at && other.at && one.length == other.length, NULL);
	FUZZ_EXPECT(!memcmp(one.at, other.at, one.length), NULL);
}

#endif
