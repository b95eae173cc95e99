/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/check_parts.h"
#include "check/explore.h"
#include "check/mutate.h"
#include "check/pinned.h"
#include "check/storm_case.h"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double check_clock(void)
{
	return omp_get_wtime();
}

static double elapsed(double since)
{
	return check_clock() - since;
}

static const char *variant_text(const struct protocol_variant *variant, char *text, size_t size)
{
	snprintf(text, size, "%s/%s/%s/%s", protocol_kind_names[variant->protocol],
		 eviction_names[variant->eviction], home_kind_names[variant->home],
		 atomics_names[variant->atomics]);
	return text;
}

/* ---- protocol ------------------------------------------------------------------------------- */

/* Machines have this protocol unless they say otherwise: it is explored the most. */
static bool is_default(const struct pinned *pin)
{
	return pin->variant.protocol == PROTOCOL_MESI && pin->variant.atomics == ATOMICS_NEAR;
}

static bool explored(const struct check_run *run, const struct pinned *pin)
{
	bool small = pin->lines == 1 && (pin->caches <= 4 || is_default(pin));

	return small || run->effort.every_variant ||
	       (pin->lines > 1 && pin->variant.eviction == EVICTION_EXACT &&
		pin->variant.home == HOME_AHEAD);
}

/* What takes too long state by state is explored with symmetry; the numbers are those without. */
static bool by_symmetry(const struct pinned *pin)
{
	return pin->caches > 4 || (pin->caches == 4 && !is_default(pin));
}

/* With two caches an ack is always the last. */
static bool reaches_every_row(const struct pinned *pin)
{
	return pin->caches > 2;
}

static bool explore_pinned(const struct pinned *pin, struct explore_result *result)
{
	struct explore_options options = { .variant = pin->variant,
					   .caches = pin->caches,
					   .lines = pin->lines,
					   .symmetry = by_symmetry(pin) };
	char text[60];

	if (explore(&options, result) == EXPLORE_HOLDS && result->raw_states == pin->states &&
	    result->raw_rules == pin->rules &&
	    (result->rows_reached == result->rows || !reaches_every_row(pin)))
		return true;
#pragma omp critical
	printf("protocol  %s, %u caches, %u lines: %s; %llu states, %llu moves, expected %llu and "
	       "%llu; rows never reached:%s\n%s",
	       variant_text(&pin->variant, text, sizeof(text)), pin->caches, pin->lines,
	       result->property[0] ? result->property : "no property is broken",
	       (unsigned long long)result->raw_states, (unsigned long long)result->raw_rules,
	       (unsigned long long)pin->states, (unsigned long long)pin->rules,
	       result->unreached[0] ? result->unreached : " none", result->trace);
	return false;
}

bool check_protocol(const struct check_run *run)
{
	uint64_t states = 0, stand_for = 0;
	uint32_t explorations = 0, rows = 0, reached = 0, wrong = 0;
	double begun = check_clock();

#pragma omp parallel for schedule(dynamic, 1) \
	reduction(+ : states, stand_for, explorations, rows, reached, wrong)
	for (int k = (int)pinned_count - 1; k >= 0; k--) {
		struct explore_result result;

		if (!explored(run, &pinned_counts[k]))
			continue;
		wrong += !explore_pinned(&pinned_counts[k], &result);
		explorations++;
		states += result.states;
		stand_for += result.raw_states;
		if (pinned_counts[k].caches == 3) {
			rows += result.rows;
			reached += result.rows_reached;
		}
	}
	printf("protocol  %u explorations of %d variants: %llu states, which stand for %llu; rows "
	       "reached %u of %u; %s  (%.0f s)\n",
	       explorations, PROTOCOL_VARIANTS, (unsigned long long)states,
	       (unsigned long long)stand_for, reached, rows,
	       wrong ? "WRONG" : "every property holds, counts as pinned", elapsed(begun));
	return !wrong;
}

/* ---- mistakes ------------------------------------------------------------------------------- */

enum { MUTANT_CACHES = 3 };

struct planted_sum {
	uint32_t present[PLANTED_COUNT], found[PLANTED_COUNT]; /* variants */
};

static void try_planted(const struct protocol_variant *variant, struct planted_sum *sum)
{
	struct explore_options options = {
		.variant = *variant, .caches = MUTANT_CACHES, .lines = 1, .symmetry = true
	};
	struct explore_result right, result;

	explore(&options, &right);
	for (uint32_t k = 0; k < PLANTED_COUNT; k++) {
		enum mutant_fate fate = planted_try(k + 1, variant, MUTANT_CACHES, &right, &result);

#pragma omp critical
		{
			sum->present[k] += fate != MUTANT_ABSENT;
			sum->found[k] += fate == MUTANT_KILLED || fate == MUTANT_COUNTED;
		}
	}
}

/* How many are found wherever they can be planted; those that are not are named. */
static uint32_t count_planted(const struct planted_sum *sum)
{
	uint32_t count = 0;

	for (uint32_t k = 0; k < PLANTED_COUNT; k++) {
		bool found = sum->present[k] && sum->found[k] == sum->present[k];

		count += found;
		if (!found)
			printf("mistakes  not found in %u of %u variants: %s (race %s)\n",
			       sum->present[k] - sum->found[k], sum->present[k],
			       planted_name(k + 1), planted_race(k + 1));
	}
	return count;
}

static bool try_mutants(const struct check_run *run, uint32_t variants, struct mutants *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (uint32_t v = 0; v < variants; v++) {
		struct protocol_variant variant = protocol_variant_at(v);
		struct mutants mutants;
		char text[60];

		if (!mutants_try(&variant, MUTANT_CACHES, 1, &mutants)) {
			printf("mistakes  out of memory\n");
			return false;
		}
		sum->tried += mutants.tried;
		sum->killed += mutants.killed;
		sum->counted += mutants.counted;
		sum->unexplained += mutants.unexplained;
		if (run->verbose || mutants.unexplained)
			printf("not found in %s:\n%s", variant_text(&variant, text, sizeof(text)),
			       mutants.survivors);
		free(mutants.survivors);
	}
	return true;
}

bool check_mistakes(const struct check_run *run)
{
	uint32_t variants = run->effort.every_variant ? PROTOCOL_VARIANTS : 1, found;
	struct planted_sum planted = { .found = { 0 } };
	struct mutants single;
	double begun = check_clock();

#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t v = 0; v < PROTOCOL_VARIANTS; v++) {
		struct protocol_variant variant = protocol_variant_at(v);

		try_planted(&variant, &planted);
	}
	found = count_planted(&planted);
	if (!try_mutants(run, variants, &single))
		return false;
	printf("mistakes  %u of %d planted ones found; of %u single cells made wrong %u break a "
	       "property and %u more the pinned counts (%.1f %%), %u are harmless, %u "
	       "unexplained  (%.0f s)\n",
	       found, PLANTED_COUNT, single.tried, single.killed, single.counted,
	       100.0 * (single.killed + single.counted) / single.tried,
	       single.tried - single.killed - single.counted - single.unexplained,
	       single.unexplained, elapsed(begun));
	return found == PLANTED_COUNT && !single.unexplained;
}

/* ---- storms --------------------------------------------------------------------------------- */

enum { SHRINK_ATTEMPTS = 400, COMMAND_SIZE = 1000, STORM_BATCH = 64 };

static void report_storm(struct storm_case *storm, struct storm_result *result)
{
	char command[COMMAND_SIZE];

	storm_shrink(storm, result, SHRINK_ATTEMPTS);
	storm_command(storm, command, sizeof(command));
	printf("storms    %s\n          %s\n", result->error.text, command);
}

struct storm_sum {
	uint64_t accesses, events, fingerprint;
	uint32_t storms, wrong;
};

/* So many seeds at once; their fingerprints are joined in the order of the seeds. */
static void run_batch(uint64_t first, struct storm_sum *sum)
{
	struct storm_result *results = calloc(STORM_BATCH, sizeof(*results));

	if (!results) {
		printf("storms    out of memory\n");
		sum->wrong++;
		return;
	}
#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t k = 0; k < STORM_BATCH; k++) {
		struct storm_case storm = storm_case(first + k);

		if (storm_run(&storm, &results[k]))
			continue;
#pragma omp critical
		report_storm(&storm, &results[k]);
	}
	for (uint32_t k = 0; k < STORM_BATCH; k++) {
		sum->accesses += results[k].accesses;
		sum->events += results[k].events;
		sum->wrong += results[k].verdict != STORM_HELD;
		sum->fingerprint =
			(sum->fingerprint ^ results[k].fingerprint) * 0x9e3779b97f4a7c15u;
	}
	sum->storms += STORM_BATCH;
	free(results);
}

bool check_storms(const struct check_run *run)
{
	struct storm_sum sum = { .storms = 0 };
	double begun = check_clock();

	while (sum.accesses < run->effort.accesses && !sum.wrong &&
	       (run->effort.seconds <= 0 || elapsed(run->begun) < run->effort.seconds))
		run_batch(run->seed + sum.storms, &sum);
	printf("storms    %u seeds from %llu: %llu accesses, %llu events, fingerprint %016llx; %s  "
	       "(%.0f s)\n",
	       sum.storms, (unsigned long long)run->seed, (unsigned long long)sum.accesses,
	       (unsigned long long)sum.events, (unsigned long long)sum.fingerprint,
	       sum.wrong ? "WRONG" : "all held", elapsed(begun));
	return !sum.wrong;
}

bool check_one_storm(int argc, char **argv, bool *wrong, struct error *error)
{
	char *end;
	struct storm_case storm = storm_case(strtoull(argc ? argv[0] : "", &end, 10));
	struct storm_result result;

	if (!argc || *argv[0] < '0' || *argv[0] > '9' || *end)
		return error_set(error,
				 "hitm check: --storm needs a seed, expected a whole number");
	for (int k = 1; k < argc; k++)
		if (!storm_hold(&storm, argv[k], error))
			return false;
	*wrong = !storm_run(&storm, &result);
	if (result.verdict == STORM_REFUSED)
		return error_set(error, "%s", result.error.text);
	if (*wrong)
		printf("storms    %s\n", result.error.text);
	else
		printf("storms    %llu accesses, %llu events, fingerprint %016llx; held\n",
		       (unsigned long long)result.accesses, (unsigned long long)result.events,
		       (unsigned long long)result.fingerprint);
	return true;
}
