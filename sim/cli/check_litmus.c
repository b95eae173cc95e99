/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of hitm check that run litmus tests. */
#include "check/litmus_explore.h"
#include "cli/check_parts.h"
#include "cli/paths.h"
#include "machine/machine.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, PLACEMENTS = 3, DISCIPLINES = 3 };

struct test {
	struct litmus litmus;
	struct tso_result allowed;
	uint64_t *seen; /* of the outcomes allowed, on the timed machine */
};

struct tests {
	struct test *test;
	uint32_t count;
};

/* ---- reading -------------------------------------------------------------------------------- */

static bool test_read(struct test *test, const char *path, struct error *error)
{
	if (!litmus_load(&test->litmus, path, error) ||
	    !tso_explore(&test->litmus, TSO_BUFFER, TSO_STATES_MAX, &test->allowed, error))
		return false;
	test->seen = calloc(test->allowed.count + 1, sizeof(*test->seen));
	return test->seen || error_set(error, "out of memory");
}

static void test_free(struct test *test)
{
	if (test->seen)
		tso_free(&test->allowed);
	free(test->seen);
}

static int is_litmus(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && !strcmp(dot, ".litmus");
}

static void tests_free(struct tests *tests)
{
	for (uint32_t k = 0; k < tests->count; k++)
		test_free(&tests->test[k]);
	free(tests->test);
}

/* All of configs/litmus, by name. */
static bool tests_read(struct tests *tests, struct error *error)
{
	char directory[PATH_SIZE], path[PATH_SIZE + 260];
	struct dirent **entries = NULL;
	int found = scandir(data_path(directory, sizeof(directory), "configs/litmus"), &entries,
			    is_litmus, alphasort);

	tests->count = 0;
	tests->test = calloc(found > 0 ? (size_t)found : 1, sizeof(*tests->test));
	if (found <= 0 || !tests->test)
		error_set(error, "hitm check: no litmus tests in %s", directory);
	for (int k = 0; k < found; k++) {
		snprintf(path, sizeof(path), "%s/%s", directory, entries[k]->d_name);
		if (!error->text[0] && test_read(&tests->test[k], path, error))
			tests->count++;
		free(entries[k]);
	}
	free(entries);
	if (!error->text[0])
		return true;
	tests_free(tests);
	return false;
}

static bool tests_or_message(struct tests *tests)
{
	struct error error = { "" };

	if (tests_read(tests, &error))
		return true;
	printf("litmus    %s\n", error.text);
	return false;
}

/* ---- over the table ------------------------------------------------------------------------- */

struct exploration {
	uint64_t states;
	uint32_t runs, wrong, cut;
};

static bool acceptable(enum litmus_verdict verdict)
{
	return verdict == LITMUS_EQUAL || verdict == LITMUS_LIMIT || verdict == LITMUS_UNFIT;
}

static void explore_test(const struct test *test, struct litmus_explore_options *options,
			 struct exploration *sum)
{
	for (int k = 0; k < PLACEMENTS; k++) {
		struct litmus_explore_result result;

		options->variables = (enum litmus_variables)(1 << k);
		litmus_explore(&test->litmus, &test->allowed, options, &result);
		sum->runs++;
		sum->states += result.states;
		sum->cut += result.verdict == LITMUS_LIMIT || result.verdict == LITMUS_UNFIT;
		if (acceptable(result.verdict))
			continue;
		sum->wrong++;
#pragma omp critical
		printf("litmus    %s: %s: %s\n", test->litmus.name,
		       litmus_verdict_name(result.verdict), result.what);
	}
}

/* The first variant, and one other, another one for each test. */
static bool is_usual(uint32_t test, uint32_t variant)
{
	return !variant || variant == 1 + test % (PROTOCOL_VARIANTS - 1);
}

/* With evictions at any time there are many more states: they are for the usual variants, and only
 * as far as the limit goes. */
static void explore_in_variant(const struct check_run *run, const struct test *test,
			       uint32_t variant, bool evictions, struct exploration *sum)
{
	struct litmus_explore_options options = { .variant = protocol_variant_at(variant) };

	explore_test(test, &options, sum);
	if (!evictions || !run->effort.litmus_limit)
		return;
	options.limit = run->effort.litmus_limit;
	options.evictions = true;
	explore_test(test, &options, sum);
}

bool check_litmus(const struct check_run *run)
{
	struct tests tests;
	uint64_t states = 0;
	uint32_t runs = 0, wrong = 0, cut = 0;
	double begun = check_clock();

	if (!tests_or_message(&tests))
		return false;
#pragma omp parallel for collapse(2) schedule(dynamic, 1) reduction(+ : states, runs, wrong, cut)
	for (uint32_t v = 0; v < PROTOCOL_VARIANTS; v++)
		for (uint32_t k = 0; k < tests.count; k++) {
			struct exploration sum = { .states = 0 };

			if (!is_usual(k, v) && !run->effort.every_variant)
				continue;
			explore_in_variant(run, &tests.test[k], v, is_usual(k, v), &sum);
			states += sum.states;
			runs += sum.runs;
			wrong += sum.wrong;
			cut += sum.cut;
		}
	printf("litmus    %u tests, %u explorations over the table: %llu states; %s", tests.count,
	       runs, (unsigned long long)states,
	       wrong ? "WRONG" : "each ends in just the ways of x86-TSO");
	if (cut)
		printf(" (%u cut short)", cut);
	printf("  (%.0f s)\n", check_clock() - begun);
	tests_free(&tests);
	return !wrong;
}

/* ---- on the timed machine ------------------------------------------------------------------- */

static struct coherence_config timed_coherence(uint32_t variant)
{
	struct protocol_variant of = protocol_variant_at(variant);

	return (struct coherence_config){ .line = 64,
					  .protocol = of.protocol,
					  .eviction = of.eviction,
					  .home = of.home,
					  .atomics = of.atomics,
					  .discipline = (enum discipline)(variant % DISCIPLINES),
					  .batch = 4,
					  .paranoid = true };
}

/* Executes a test in each variant in turn. False where an outcome is forbidden, or the machine has
 * found a defect. */
static bool time_test(const struct check_run *run, struct test *test, uint64_t executions,
		      uint64_t *done)
{
	bool right = true;

	for (uint32_t v = 0; v < PROTOCOL_VARIANTS && right; v++) {
		struct litmus_timed_config config = { .coherence = timed_coherence(v),
						      .executions =
							      executions / PROTOCOL_VARIANTS + 1,
						      .seed = run->seed + v };
		struct litmus_timed_result result;
		struct error error = { "" };

		right = litmus_timed(&test->litmus, &config, &test->allowed, &result, &error);
		if (right) {
			for (size_t k = 0; k < test->allowed.count; k++)
				test->seen[k] += result.seen[k];
			*done += result.executions;
			right = !result.forbidden;
			litmus_timed_free(&result);
		}
#pragma omp critical
		if (!right)
			printf("timed     %s, variant %u: %s\n", test->litmus.name, v,
			       error.text[0] ? error.text : "a forbidden outcome");
	}
	return right;
}

static void print_outcome(const struct litmus *litmus, const uint64_t *values)
{
	for (uint32_t k = 0; k < litmus->name_count; k++) {
		char name[LITMUS_LOCATION_SIZE + 16];

		litmus_name_text(litmus, k, name, sizeof(name));
		printf(" %s=%llu", name, (unsigned long long)values[k]);
	}
	printf("\n");
}

/* Of a test's allowed outcomes, how many the timed machine has shown. */
static size_t seen(const struct test *test, bool list)
{
	size_t count = 0;

	for (size_t k = 0; k < test->allowed.count; k++) {
		count += test->seen[k] != 0;
		if (!list || test->seen[k])
			continue;
		printf("never seen: %s:", test->litmus.name);
		print_outcome(&test->litmus, test->allowed.outcomes + k * test->allowed.width);
	}
	return count;
}

bool check_timed(const struct check_run *run)
{
	struct tests tests;
	uint64_t done = 0;
	uint32_t wrong = 0;
	size_t allowed = 0, shown = 0;
	double begun = check_clock();

	if (!tests_or_message(&tests))
		return false;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : done, wrong)
	for (uint32_t k = 0; k < tests.count; k++)
		wrong += !time_test(run, &tests.test[k], run->effort.timed / tests.count, &done);
	for (uint32_t k = 0; k < tests.count; k++) {
		allowed += tests.test[k].allowed.count;
		shown += seen(&tests.test[k], run->verbose);
	}
	printf("timed     %u tests, %llu executions; %s; %zu of %zu allowed outcomes seen  (%.0f "
	       "s)\n",
	       tests.count, (unsigned long long)done, wrong ? "WRONG" : "no forbidden outcome",
	       shown, allowed, check_clock() - begun);
	tests_free(&tests);
	return !wrong;
}

/* ---- a test of the user's ------------------------------------------------------------------- */

bool check_one_litmus(const struct check_run *run, const char *path, bool *wrong,
		      struct error *error)
{
	struct test *test = calloc(1, sizeof(*test));
	struct exploration sum = { .states = 0 };
	uint64_t done = 0;
	bool read = test && test_read(test, path, error);

	if (!test)
		return error_set(error, "out of memory");
	if (!read) {
		test_free(test);
		free(test);
		return false;
	}
	explore_in_variant(run, test, 0, true, &sum);
	*wrong |= sum.wrong || !time_test(run, test, run->effort.timed, &done);
	printf("%s: %s on x86-TSO, %zu outcomes; over the table %s%s; timed %llu executions:\n",
	       test->litmus.name, tso_verdict_name(test->allowed.verdict), test->allowed.count,
	       sum.wrong ? "WRONG" : "the same", sum.cut ? " as far as explored" : "",
	       (unsigned long long)done);
	for (size_t k = 0; k < test->allowed.count; k++) {
		printf("%12llu ", (unsigned long long)test->seen[k]);
		print_outcome(&test->litmus, test->allowed.outcomes + k * test->allowed.width);
	}
	test_free(test);
	free(test);
	return true;
}
