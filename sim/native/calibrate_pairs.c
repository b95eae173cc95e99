/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/calibrate_parts.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS_OF_LEVEL = 6, ROUND_BATCHES = 9 }; /* pairs of a level, batches of a round */

/* ---- all pairs of cores --------------------------------------------------------------------- */

/* Rounds over all pairs, so that a pair is measured at different times. */
enum { ROUNDS_MOST = 16 };

struct survey {
	uint32_t rounds;
	double (*hand_off)[ROUNDS_MOST], (*token)[ROUNDS_MOST]; /* [pair] */
};

static void survey_pair(struct calibrating *all, struct survey *survey, uint32_t pair,
			uint32_t first, uint32_t second)
{
	struct bench bench = all->bench;
	struct bench_pair cpus = { first, second, false, 0 };
	struct error error = { "" };
	struct sample sample = { 0 };
	uint32_t round = survey->rounds;

	bench.batches = ROUND_BATCHES;
	bench.seconds = 0.1;
	survey->hand_off[pair][round] = survey->token[pair][round] = NAN;
	if (!bench_duel(&bench, &cpus, DUELS_CAS, &sample, &error)) {
		calibrate_lacks(all, "hand_off", error.text);
	} else if (sample.count) {
		survey->hand_off[pair][round] = sample.median;
		survey->token[pair][round] = cpus.token_ns;
	}
}

/* What the hand-off mostly was when the token took what it mostly took. */
static void survey_judge(struct calibration *c, const struct survey *survey, uint32_t pair,
			 size_t at)
{
	const double *hand_off = survey->hand_off[pair], *token = survey->token[pair];
	double share, among[ROUNDS_MOST], others[ROUNDS_MOST];
	uint32_t count = 0, other = 0;

	c->token[at] = bout_mode(token, survey->rounds, &share);
	for (uint32_t k = 0; k < survey->rounds; k++)
		if (fabs(token[k] - c->token[at]) <= BOUT_TOLERANCE * c->token[at])
			among[count++] = hand_off[k];
		else if (token[k] > 0)
			others[other++] = hand_off[k];
	c->matrix[at] = sample_of(among, count).median;
	if (count && share < c->steadiness) {
		c->steadiness = share;
		c->other_ns = sample_of(others, other).median;
	}
}

/* As many rounds as there is time for, at least one; few pairs are soon done, and wait for each
 * round's time, so that a hypervisor that moves CPUs about is seen to. */
static void survey_rounds(struct calibrating *all, struct survey *survey)
{
	const struct calibration *c = all->c;
	const struct effort *effort = all->effort;
	uint64_t start = host_monotonic_ns(), limit = (uint64_t)(effort->matrix_s * 1e9);

	for (survey->rounds = 0; survey->rounds < effort->rounds; survey->rounds++) {
		uint64_t due = limit / 2 / effort->rounds * survey->rounds;
		uint32_t pair = 0;

		if (survey->rounds && host_monotonic_ns() - start > limit)
			break;
		while (host_monotonic_ns() - start < due)
			nanosleep(&(struct timespec){ .tv_nsec = 1000 * 1000 }, NULL);
		for (uint32_t a = 0; a < c->host->cores; a++)
			for (uint32_t b = a + 1; b < c->host->cores; b++)
				survey_pair(all, survey, pair++, c->cores[a], c->cores[b]);
	}
}

bool calibrate_matrix(struct calibrating *all, struct error *error)
{
	struct calibration *c = all->c;
	uint32_t cores = c->host->cores, pairs = cores * (cores - 1) / 2, pair = 0;
	struct survey survey = { .hand_off = calloc(pairs + 1, sizeof(*survey.hand_off)),
				 .token = calloc(pairs + 1, sizeof(*survey.token)) };
	bool done = survey.hand_off && survey.token;

	calibrate_tell(all, "hand-offs of all pairs of cores");
	if (done)
		survey_rounds(all, &survey);
	for (uint32_t a = 0; done && a < cores; a++)
		for (uint32_t b = a + 1; b < cores; b++) {
			survey_judge(c, &survey, pair++, calibrate_cell(c, a, b));
			c->matrix[calibrate_cell(c, b, a)] = c->matrix[calibrate_cell(c, a, b)];
			c->token[calibrate_cell(c, b, a)] = c->token[calibrate_cell(c, a, b)];
		}
	free(survey.hand_off);
	free(survey.token);
	return done || error_set(error, "out of memory");
}

/* ---- pairs by their distance ---------------------------------------------------------------- */

static const struct duel_row {
	const char *name; /* the level is added */
	enum bench_duel duel;
	bool everywhere; /* else not between siblings, who share a cache */
	bool home_at_second;
	const char *method;
} duel_table[] = {
	{ "load_dirty", DUELS_DIRTY, false, false,
	  "dependent loads of lines that the other has stored to" },
	{ "load_clean", DUELS_CLEAN, false, false,
	  "dependent loads of lines that the other has loaded" },
	{ "upgrade", DUELS_UPGRADE, false, false,
	  "locked adds to lines that both have loaded, less the adds when owned" },
	{ "hand_off", DUELS_CAS, true, false, "ping-pong of compare-exchange, half a round" },
	{ "load_cas", DUELS_LOAD_CAS, true, false,
	  "ping-pong of load and compare-exchange, half a round" },
	{ "reload", DUELS_RELOAD, false, false,
	  "dependent loads of lines that it had stored to and the other has loaded since" },
};

enum { DUELS = sizeof(duel_table) / sizeof(*duel_table) };

/* A pair of CPUs of a level, evenly taken from all; false where there are fewer. */
static bool nth_pair(const struct calibration *c, enum calibrate_level level, uint32_t n,
		     uint32_t of, struct bench_pair *pair)
{
	const struct host *host = c->host;
	uint32_t count = 0, wanted = 0;

	for (int pass = 0; pass < 2; pass++) {
		uint32_t found = 0;

		for (uint32_t a = 0; a < host->count; a++)
			for (uint32_t b = a + 1; b < host->count; b++) {
				const struct host_cpu *x = &host->cpus[a], *y = &host->cpus[b];

				if (calibrate_level(&c->shape, x, y) != level ||
				    (level != LEVEL_SMT && (x->smt || y->smt)))
					continue;
				if (pass && found == wanted) {
					*pair = (struct bench_pair){ .first = a, .second = b };
					return true;
				}
				found++;
			}
		count = found;
		if (n >= count)
			return false;
		wanted = of < count ? (uint32_t)((uint64_t)n * count / of) : n;
	}
	return false;
}

double calibrate_token(const struct calibration *c, uint32_t first, uint32_t second)
{
	uint32_t a = c->host->cpus[first].core, b = c->host->cpus[second].core;

	return a == b ? 0 : c->token[calibrate_cell(c, a, b)];
}

/* Of a lone pair its batches; of several the medians of each. */
static void measure_duel(struct calibrating *all, const struct duel_row *row,
			 enum calibrate_level level, bool home_at_second, const char *name)
{
	struct sample samples[PAIRS_OF_LEVEL], sample;
	double medians[PAIRS_OF_LEVEL];
	uint32_t count = 0;
	struct bench_pair pair;
	struct error error = { "" };

	for (uint32_t n = 0; n < PAIRS_OF_LEVEL; n++) {
		if (!nth_pair(all->c, level, n, PAIRS_OF_LEVEL, &pair))
			break;
		pair.token_ns = calibrate_token(all->c, pair.first, pair.second);
		pair.home_at_second = home_at_second;
		if (!bench_duel(&all->bench, &pair, row->duel, &samples[count], &error)) {
			calibrate_lacks(all, name, error.text);
			break;
		}
		if (!samples[count].count)
			continue;
		medians[count] = samples[count].median;
		count++;
	}
	sample = count == 1 ? samples[0] : sample_of(medians, count);
	struct calibrate_figure *figure =
		calibrate_add(all, name, 0, "ns", sample, "%s", row->method);
	if (figure)
		figure->pairs = count;
	else if (!error.text[0])
		calibrate_lacks(
			all, name,
			"the CPUs did not lie still for long enough, or the host has no way");
}

/* Where the home is in one socket and the owner in another, it matters which is whose. */
static void measure_level(struct calibrating *all, enum calibrate_level level)
{
	for (int k = 0; k < DUELS; k++) {
		const struct duel_row *row = &duel_table[k];
		bool by_home = row->duel == DUELS_DIRTY && level == LEVEL_CROSS;
		char name[FIGURE_NAME];

		if (level == LEVEL_SMT && !row->everywhere)
			continue;
		snprintf(name, sizeof(name), "%s_%s%s", row->name, calibrate_level_names[level],
			 by_home ? "_at_owner" : "");
		calibrate_tell(all, name);
		measure_duel(all, row, level, false, name);
		if (!by_home)
			continue;
		snprintf(name, sizeof(name), "%s_cross_at_requester", row->name);
		measure_duel(all, row, level, true, name);
	}
}

/* Over all pairs of the matrix, whose median, least and greatest are meant. */
static void matrix_figure(struct calibrating *all, enum calibrate_level level)
{
	const struct calibration *c = all->c;
	uint32_t cores = c->host->cores, count = 0;
	double *values = calloc((size_t)cores * cores, sizeof(*values));
	char name[FIGURE_NAME];

	for (uint32_t a = 0; values && a < cores; a++)
		for (uint32_t b = a + 1; b < cores; b++)
			if (c->matrix[calibrate_cell(c, a, b)] > 0 &&
			    calibrate_level(&c->shape, &c->host->cpus[c->cores[a]],
					    &c->host->cpus[c->cores[b]]) == level)
				values[count++] = c->matrix[calibrate_cell(c, a, b)];
	snprintf(name, sizeof(name), "hand_off_%s", calibrate_level_names[level]);
	for (uint32_t k = 0; count > PAIRS_OF_LEVEL && k < c->count; k++)
		if (!strcmp(c->figures[k].name, name)) {
			struct calibrate_figure *figure = &all->c->figures[k];

			figure->value = sample_of(values, count);
			figure->value.low = values[0];
			figure->value.high = values[count - 1];
			figure->pairs = count;
		}
	free(values);
}

static bool has_level(const struct calibration *c, enum calibrate_level level)
{
	struct bench_pair pair;

	return nth_pair(c, level, 0, 1, &pair);
}

void calibrate_duels(struct calibrating *all)
{
	const struct effort *effort = all->effort;
	const struct calibration *c = all->c;
	uint32_t levels = 0;

	for (int level = 0; level < LEVELS; level++)
		levels += has_level(c, (enum calibrate_level)level);
	all->bench.seconds =
		fmin(effort->duels_s / (DUELS * (c->host->count > 2 ? PAIRS_OF_LEVEL * levels : 1)),
		     effort->bout_most_s);
	for (int level = 0; level < LEVELS; level++)
		if (has_level(c, (enum calibrate_level)level)) {
			measure_level(all, (enum calibrate_level)level);
			matrix_figure(all, (enum calibrate_level)level);
		}
}
