/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A litmus test: refused with its place; or accepted, and then every index in it is in range. Those
 * small enough to enumerate are not run here: reading is what strangers' files go through. */
#include "check/litmus.h"
#include "tests/fuzz/fuzz.h"
#include <string.h>

static bool is_size(uint8_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static void expect_steps(const struct litmus *litmus, const struct litmus_thread *thread)
{
	FUZZ_EXPECT(thread->count <= LITMUS_STEPS_MAX, NULL);
	for (uint32_t k = 0; k < thread->count; k++) {
		const struct litmus_step *step = &thread->steps[k];
		bool memory = step->operation != LITMUS_SET && step->operation != LITMUS_FENCE &&
			      step->operation != LITMUS_NOTHING;

		FUZZ_EXPECT(step->target < LITMUS_REGISTERS_MAX, NULL);
		FUZZ_EXPECT(step->source < LITMUS_REGISTERS_MAX, NULL);
		if (!memory)
			continue;
		FUZZ_EXPECT(step->location < litmus->location_count, NULL);
		FUZZ_EXPECT(step->size == litmus->locations[step->location].size, NULL);
		FUZZ_EXPECT(!step->immediate || step->value == litmus_cut(step->value, step->size),
			    NULL);
	}
}

static void expect_names(const struct litmus *litmus)
{
	FUZZ_EXPECT(litmus->name_count <= LITMUS_NAMES_MAX, NULL);
	for (uint32_t k = 0; k < litmus->name_count; k++) {
		const struct litmus_name *name = &litmus->names[k];
		char text[LITMUS_LOCATION_SIZE + 16];

		FUZZ_EXPECT(is_size(name->size), NULL);
		if (name->is_location)
			FUZZ_EXPECT(name->index < litmus->location_count, NULL);
		else
			FUZZ_EXPECT(name->thread < litmus->thread_count &&
					    name->index < LITMUS_REGISTERS_MAX,
				    NULL);
		litmus_name_text(litmus, k, text, sizeof(text));
		FUZZ_EXPECT(*text, NULL);
	}
}

/* In postfix order, what is taken was put there before, and one value is left. */
static void expect_condition(const struct litmus *litmus, const struct litmus_condition *condition)
{
	uint32_t depth = 0;

	FUZZ_EXPECT(condition->count <= LITMUS_NODES_MAX, NULL);
	for (uint32_t k = 0; k < condition->count; k++) {
		const struct litmus_node *node = &condition->nodes[k];
		uint32_t takes = node->kind == LITMUS_EQUALS ? 0 : node->kind == LITMUS_NOT ? 1 : 2;

		FUZZ_EXPECT(takes || node->name < litmus->name_count, NULL);
		FUZZ_EXPECT(depth >= takes, NULL);
		depth = depth - takes + 1;
	}
	FUZZ_EXPECT(depth == (condition->count > 0), NULL);
}

static void expect_consistent(const struct litmus *litmus)
{
	static const uint64_t values[LITMUS_NAMES_MAX] = { 0, 1, 2 };

	FUZZ_EXPECT(litmus->thread_count >= 1 && litmus->thread_count <= LITMUS_THREADS_MAX, NULL);
	FUZZ_EXPECT(litmus->location_count <= LITMUS_LOCATIONS_MAX, NULL);
	FUZZ_EXPECT(memchr(litmus->name, '\0', sizeof(litmus->name)), NULL);
	for (uint32_t k = 0; k < litmus->location_count; k++)
		FUZZ_EXPECT(is_size(litmus->locations[k].size), NULL);
	for (uint32_t k = 0; k < litmus->thread_count; k++)
		expect_steps(litmus, &litmus->threads[k]);
	expect_names(litmus);
	expect_condition(litmus, &litmus->filter);
	expect_condition(litmus, &litmus->condition);
	litmus_holds(&litmus->filter, values);
	litmus_holds(&litmus->condition, values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct litmus litmus;
	struct error error = { "" };

	if (litmus_read(&litmus, (const char *)data, size, FUZZ_NAME, &error)) {
		FUZZ_EXPECT(!error.text[0], &error);
		expect_consistent(&litmus);
	} else {
		fuzz_expect_refusal(&error);
	}
	return 0;
}
