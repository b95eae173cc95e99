/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/source.h"
#include "native/thread.h"
#include "tests/kernel/kernel_counter.h"
#include "tests/kernel/timing.h"
#include <stdlib.h>
#include <string.h>

enum { COUNTERS = TIMING_LEVELS + 1, THREADS_MAX = 1024 };

/* On lines of its own. */
struct worker {
	_Alignas(NATIVE_ALIGN) struct kernel_counter *leaf;
	int64_t held;
};

/* As models/charge.c does. */
static void charge_repeat(struct thread *self, void *argument)
{
	struct worker *worker = argument;
	struct kernel_counter *failed;

	for (;;) {
		thread_begin(self, 0);
		worker->held += kernel_page_counter_try_charge(worker->leaf, 1, &failed);
		if (worker->held > TIMING_HOLD) {
			kernel_page_counter_uncharge(worker->leaf, 1);
			worker->held--;
		}
		thread_end(self, 0);
	}
}

static void set(unsigned char *counter, const struct layout *layout, const char *field,
		uint64_t value)
{
	const struct layout_field *at = layout_find(layout, field);

	if (at)
		memcpy(counter + at->offset, &value, at->size);
}

static void make_counters(unsigned char *memory, size_t stride, const struct layout *layout)
{
	for (int k = 0; k < COUNTERS; k++) {
		unsigned char *counter = memory + (size_t)k * stride;

		set(counter, layout, "max", 1ull << 40);
		set(counter, layout, "parent", k ? (uintptr_t)(counter - stride) : 0);
		set(counter, layout, "protection_support", 1);
		set(counter, layout, "watermark", 1u << 30);
		set(counter, layout, "local_watermark", 1u << 30);
	}
	set(memory + TIMING_LEVELS * stride, layout, "min", TIMING_PROTECT);
	set(memory + TIMING_LEVELS * stride, layout, "low", TIMING_PROTECT);
}

static bool add_up(const unsigned char *memory, size_t stride, const struct layout *layout,
		   int64_t held, struct error *error)
{
	const struct layout_field *usage = layout_find(layout, "usage");
	int64_t value;

	for (int k = 0; k < COUNTERS; k++) {
		memcpy(&value, memory + (size_t)k * stride + usage->offset, sizeof(value));
		if (value != held)
			return error_set(error, "usage is %lld, expected %lld", (long long)value,
					 (long long)held);
	}
	return true;
}

bool time_kernel(const struct layout *layout, uint32_t threads, const struct native_plan *plan,
		 struct native_result *result, struct error *error)
{
	size_t stride = (layout->size + NATIVE_ALIGN - 1) / NATIVE_ALIGN * NATIVE_ALIGN;
	unsigned char *memory = aligned_alloc(NATIVE_ALIGN, COUNTERS * stride);
	struct worker *workers = aligned_alloc(NATIVE_ALIGN, threads * sizeof(*workers));
	struct native_source *sources = calloc(threads, sizeof(*sources));
	bool done = memory && workers && sources;
	int64_t held = 0;

	if (!done)
		error_set(error, "out of memory");
	if (done) {
		memset(memory, 0, COUNTERS * stride);
		make_counters(memory, stride, layout);
	}
	for (uint32_t k = 0; done && k < threads; k++) {
		void *leaf = memory + TIMING_LEVELS * stride;

		workers[k] = (struct worker){ .leaf = leaf };
		sources[k] = (struct native_source){ .body = charge_repeat,
						     .argument = &workers[k],
						     .simulated = &workers[k] };
	}
	done = done && native_run_bodies(sources, threads, NULL, plan, result, error);
	for (uint32_t k = 0; done && k < threads; k++)
		held += workers[k].held;
	done = done && add_up(memory, stride, layout, held, error);
	free(memory);
	free(workers);
	free(sources);
	return done;
}
