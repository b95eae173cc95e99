/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The protocol's table, explored. The numbers expected are those of coherence.m, a model in another
 * language by another hand; what takes longer is in hitm check. */
#include "check/explore.h"
#include "check/litmus_explore.h"
#include "check/mutate.h"
#include "check/pinned.h"
#include "tests/unit/suites.h"
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTS_MAX = 200 };

/* One row of counts.tsv, which the script `murphi` has counted. */
struct counted {
	char protocol[8], eviction[8], home[12], atomics[8];
	unsigned caches;
	unsigned long long states, rules;
};

static size_t read_counts(struct counted *counts)
{
	FILE *file = fopen("tests/protocol/counts.tsv", "r");
	char line[200];
	size_t count = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	while (count < COUNTS_MAX && fgets(line, sizeof(line), file)) {
		struct counted *row = &counts[count];

		count += sscanf(line, "%7s %7s %11s %7s %u %llu %llu", row->protocol, row->eviction,
				row->home, row->atomics, &row->caches, &row->states,
				&row->rules) == 7;
	}
	fclose(file);
	return count;
}

static bool is_variant(const struct counted *row, const struct protocol_variant *variant)
{
	return !strcmp(row->protocol, protocol_kind_names[variant->protocol]) &&
	       !strcmp(row->eviction, eviction_names[variant->eviction]) &&
	       !strcmp(row->home, home_kind_names[variant->home]) &&
	       !strcmp(row->atomics, atomics_names[variant->atomics]);
}

static const struct counted *find_counts(const struct counted *counts, size_t count,
					 const struct protocol_variant *variant, uint32_t caches)
{
	for (size_t k = 0; k < count; k++)
		if (counts[k].caches == caches && is_variant(&counts[k], variant))
			return &counts[k];
	return NULL;
}

static enum explore_verdict explore_variant(uint32_t k, uint32_t caches, bool symmetry,
					    struct explore_result *result)
{
	struct explore_options options = { .variant = protocol_variant_at(k),
					   .caches = caches,
					   .lines = 1,
					   .symmetry = symmetry };

	return explore(&options, result);
}

/* A table that differs from the variant's in one row. */
static enum explore_verdict explore_with(const struct protocol *rows, uint32_t k, uint32_t caches,
					 struct explore_result *result)
{
	struct explore_options options = {
		.variant = protocol_variant_at(k), .rows = rows, .caches = caches, .lines = 1
	};

	return explore(&options, result);
}

static void select_variant(struct protocol *rows, uint32_t k)
{
	struct protocol_variant variant = protocol_variant_at(k);

	protocol_select(rows, &variant);
}

/* ---- the table ------------------------------------------------------------------------------ */

static void no_variant_has_two_rows_for_an_event(void)
{
	enum { VARIANT_SETS };
	uint32_t cache[CACHE_STATE_COUNT][CACHE_EVENT_COUNT] = { { 0 } };
	uint32_t home[HOME_STATE_COUNT][HOME_EVENT_COUNT] = { { 0 } };

#define ONCE(rows, state, event, where)                                             \
	CU_ASSERT_EQUAL(rows[STATE_##state][EVENT_##event] & (uint32_t)(where), 0); \
	rows[STATE_##state][EVENT_##event] |= (uint32_t)(where);
#define CACHE_ONCE(state, event, where, does, to) ONCE(cache, state, event, where)
#define HOME_ONCE(state, event, where, does, to)  ONCE(home, state, event, where)
	CACHE_TABLE(CACHE_ONCE)
	HOME_TABLE(HOME_ONCE)
#undef ONCE
#undef CACHE_ONCE
#undef HOME_ONCE
}

/* ---- counts --------------------------------------------------------------------------------- */

static void counts_are_those_of_the_murphi_model(void)
{
	struct counted counts[COUNTS_MAX];
	size_t count = read_counts(counts);

	for (uint32_t caches = 2; caches <= 3; caches++)
		for (uint32_t k = 0; k < PROTOCOL_VARIANTS; k++) {
			struct protocol_variant variant = protocol_variant_at(k);
			const struct counted *expected =
				find_counts(counts, count, &variant, caches);
			struct explore_result result;

			CU_ASSERT_PTR_NOT_NULL_FATAL(expected);
			CU_ASSERT_EQUAL(explore_variant(k, caches, false, &result), EXPLORE_HOLDS);
			CU_ASSERT_EQUAL(result.states, expected->states);
			CU_ASSERT_EQUAL(result.rules, expected->rules);
		}
}

static void pinned_counts_are_those_of_the_murphi_model(void)
{
	struct counted counts[COUNTS_MAX];
	size_t count = read_counts(counts), compared = 0;

	for (uint32_t k = 0; k < pinned_count; k++) {
		const struct pinned *pin = &pinned_counts[k];
		const struct counted *expected =
			find_counts(counts, count, &pin->variant, pin->caches);

		if (!expected || pin->lines > 1)
			continue;
		CU_ASSERT_EQUAL(pin->states, expected->states);
		CU_ASSERT_EQUAL(pin->rules, expected->rules);
		compared++;
	}
	CU_ASSERT_EQUAL(compared, count);
}

/* Each state that stands for others stands for as many as it can be renamed to. */
static void symmetry_leaves_out_what_renaming_gives_back(void)
{
	for (uint32_t k = 0; k < PROTOCOL_VARIANTS; k += 5) {
		struct explore_result raw, folded;

		CU_ASSERT_EQUAL(explore_variant(k, 3, false, &raw), EXPLORE_HOLDS);
		CU_ASSERT_EQUAL(explore_variant(k, 3, true, &folded), EXPLORE_HOLDS);
		CU_ASSERT_EQUAL(folded.raw_states, raw.states);
		CU_ASSERT_EQUAL(folded.raw_rules, raw.rules);
		CU_ASSERT(folded.states < raw.states / 5);
	}
}

static void three_caches_reach_every_row(void)
{
	for (uint32_t k = 0; k < PROTOCOL_VARIANTS; k++) {
		struct explore_result result;

		CU_ASSERT_EQUAL(explore_variant(k, 3, true, &result), EXPLORE_HOLDS);
		CU_ASSERT_EQUAL(result.rows_reached, result.rows);
		CU_ASSERT_STRING_EQUAL(result.unreached, "");
	}
}

/* ---- it can fail ---------------------------------------------------------------------------- */

static void a_violation_comes_with_the_way_to_it(void)
{
	struct protocol rows;
	struct explore_result result;

	select_variant(&rows, 0);
	rows.cache[STATE_S][EVENT_Inv] =
		(struct protocol_row){ 1u << ACTION_sInvAck, STATE_S, true };
	CU_ASSERT_EQUAL(explore_with(&rows, 0, 2, &result), EXPLORE_VIOLATED);
	CU_ASSERT_STRING_EQUAL(result.property, "one writer or many readers");
	CU_ASSERT_PTR_NOT_NULL(strstr(result.trace, "home in HS: GetM of cache"));
	CU_ASSERT_PTR_NOT_NULL(strstr(result.trace, "in S: Inv\n"));
}

static void a_missing_row_is_found(void)
{
	struct protocol rows;
	struct explore_result result;

	select_variant(&rows, 0);
	rows.cache[STATE_SM_AD][EVENT_Inv].valid = false;
	CU_ASSERT_EQUAL(explore_with(&rows, 0, 2, &result), EXPLORE_VIOLATED);
	CU_ASSERT_STRING_EQUAL(result.property, "no row for Inv in SM_AD");
}

static void a_request_that_never_completes_is_found(void)
{
	struct protocol rows;
	struct explore_result result;

	select_variant(&rows, 2);
	rows.cache[STATE_IS_D][EVENT_DataAck0].actions &= ~(1u << ACTION_sUnblock);
	CU_ASSERT_EQUAL(explore_with(&rows, 2, 2, &result), EXPLORE_VIOLATED);
	CU_ASSERT_PTR_NOT_NULL(strstr(result.property, "never completes"));
}

static void a_row_that_nothing_reaches_is_named(void)
{
	struct protocol rows;
	struct explore_result result;

	select_variant(&rows, 0);
	rows.cache[STATE_I][EVENT_PutAck] = (struct protocol_row){ 0, STATE_I, true };
	CU_ASSERT_EQUAL(explore_with(&rows, 0, 3, &result), EXPLORE_HOLDS);
	CU_ASSERT_STRING_EQUAL(result.unreached, " I/PutAck");
}

/* With two caches the first ack is the last. */
static void the_first_ack_taken_for_the_last_needs_three_caches(void)
{
	struct protocol_variant variant = protocol_variant_at(0);

	for (uint32_t caches = 2; caches <= 3; caches++) {
		struct explore_result right, found;

		CU_ASSERT_EQUAL(explore_variant(0, caches, true, &right), EXPLORE_HOLDS);
		CU_ASSERT_EQUAL(planted_try(20, &variant, caches, &right, &found),
				caches == 2 ? MUTANT_SURVIVED : MUTANT_KILLED);
	}
}

static void a_legal_mistake_that_costs_is_found_by_the_counts(void)
{
	struct protocol rows;
	struct explore_result right, found;

	select_variant(&rows, 0);
	rows.home[STATE_HI][EVENT_GetS] =
		(struct protocol_row){ 1u << ACTION_gShared | 1u << ACTION_sharer, STATE_HS, true };
	CU_ASSERT_EQUAL(explore_variant(0, 3, false, &right), EXPLORE_HOLDS);
	CU_ASSERT_EQUAL(explore_with(&rows, 0, 3, &found), EXPLORE_HOLDS);
	CU_ASSERT_NOT_EQUAL(found.states, right.states);
}

/* ---- litmus tests over the table ------------------------------------------------------------ */

static const char exchanges[] = "X86_64 SB+xchgs\n{ x=0; y=0; 0:rax=1; 1:rax=1; }\n"
				" P0 | P1 ;\n"
				" xchgq %rax,(x) | xchgq %rax,(y) ;\n"
				" movq (y),%rbx | movq (x),%rbx ;\n"
				"exists (0:rbx=0 /\\ 1:rbx=0)\n";

static const char store_then_exchange[] = "X86_64 SB+po-xchg\n{ x=0; y=0; z=0; w=0; }\n"
					  " P0 | P1 ;\n"
					  " movq $1,(x) | movq $1,(y) ;\n"
					  " xchgq %rcx,(z) | xchgq %rcx,(w) ;\n"
					  " movq (y),%rbx | movq (x),%rbx ;\n"
					  "exists (0:rbx=0 /\\ 1:rbx=0)\n";

static enum litmus_verdict explore_text(const char *text, struct litmus_explore_options options)
{
	struct litmus *litmus = calloc(1, sizeof(*litmus));
	struct tso_result allowed;
	struct litmus_explore_result result = { .what = "" };
	struct error error = { "" };

	CU_ASSERT_PTR_NOT_NULL_FATAL(litmus);
	CU_ASSERT_FATAL(litmus_read(litmus, text, strlen(text), "test", &error));
	CU_ASSERT_FATAL(tso_explore(litmus, TSO_BUFFER, TSO_STATES_MAX, &allowed, &error));
	litmus_explore(litmus, &allowed, &options, &result);
	tso_free(&allowed);
	free(litmus);
	return result.verdict;
}

static void exchanges_end_as_on_x86_tso_wherever_variables_lie(void)
{
	static const enum litmus_variables places[] = { LITMUS_APART, LITMUS_TOGETHER,
							LITMUS_PAIRED };

	for (uint32_t k = 0; k < PROTOCOL_VARIANTS * 3; k++) {
		struct litmus_explore_options options = { .variant = protocol_variant_at(k / 3),
							  .variables = places[k % 3] };

		CU_ASSERT_EQUAL(explore_text(exchanges, options), LITMUS_EQUAL);
	}
}

static void a_locked_operation_that_passes_the_store_buffer_is_found(void)
{
	struct litmus_explore_options options = { .variant = protocol_variant_at(0),
						  .variables = LITMUS_APART };

	CU_ASSERT_EQUAL(explore_text(store_then_exchange, options), LITMUS_EQUAL);
	options.undrained = true;
	CU_ASSERT_EQUAL(explore_text(store_then_exchange, options), LITMUS_FORBIDDEN);
}

static void litmus_tests_find_a_copy_that_no_Inv_reaches(void)
{
	struct protocol rows;
	struct litmus_explore_options options = { .variant = protocol_variant_at(0),
						  .rows = &rows,
						  .variables = LITMUS_APART,
						  .prefetches = true };

	select_variant(&rows, 0);
	rows.cache[STATE_S][EVENT_Inv] =
		(struct protocol_row){ 1u << ACTION_sInvAck, STATE_S, true };
	CU_ASSERT_EQUAL(explore_text(exchanges, options), LITMUS_BROKEN);
}

void suite_protocol(void)
{
	CU_pSuite suite = CU_add_suite("protocol", NULL, NULL);

	CU_ADD_TEST(suite, no_variant_has_two_rows_for_an_event);
	CU_ADD_TEST(suite, counts_are_those_of_the_murphi_model);
	CU_ADD_TEST(suite, pinned_counts_are_those_of_the_murphi_model);
	CU_ADD_TEST(suite, symmetry_leaves_out_what_renaming_gives_back);
	CU_ADD_TEST(suite, three_caches_reach_every_row);
	CU_ADD_TEST(suite, a_violation_comes_with_the_way_to_it);
	CU_ADD_TEST(suite, a_missing_row_is_found);
	CU_ADD_TEST(suite, a_request_that_never_completes_is_found);
	CU_ADD_TEST(suite, a_row_that_nothing_reaches_is_named);
	CU_ADD_TEST(suite, the_first_ack_taken_for_the_last_needs_three_caches);
	CU_ADD_TEST(suite, a_legal_mistake_that_costs_is_found_by_the_counts);
	CU_ADD_TEST(suite, exchanges_end_as_on_x86_tso_wherever_variables_lie);
	CU_ADD_TEST(suite, a_locked_operation_that_passes_the_store_buffer_is_found);
	CU_ADD_TEST(suite, litmus_tests_find_a_copy_that_no_Inv_reaches);
}
