/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/calibrate.h"
#include "native/bout.h"
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *const calibrate_level_names[LEVELS] = { "smt", "cluster", "die", "same", "cross" };

/* How long it may take and how often it is repeated. */
static const struct effort {
	uint32_t batches, walks, rounds; /* of threads; of one thread; over all pairs, at most */
	double matrix_s, duels_s, contests_s, bout_most_s;
	uint32_t tries;
	uint64_t dram_most;
} efforts[] = {
	{ 50, 25, 16, 10, 16, 20, 4, 3, 512 << 20 },
	{ 15, 9, 8, 1.2, 2, 3, 0.5, 1, 128 << 20 },
};

enum { PAIRS_OF_LEVEL = 6, ROUND_BATCHES = 9 }; /* pairs of a level, batches of a round */
static const double calm_spread = 0.05;

struct calibrating {
	struct calibration *c;
	const struct calibrate_options *options;
	const struct effort *effort;
	struct bench bench;
};

/* ---- shape ---------------------------------------------------------------------------------- */

/* The most cores that any one of a level has. */
static uint32_t most_cores(const struct host *host, size_t level)
{
	uint32_t most = 0, cores = 0;

	for (uint32_t k = 0; k < host->count; k++) {
		const char *own = (const char *)&host->cpus[k] + level,
			   *last = own - sizeof(*host->cpus);

		if (host->cpus[k].smt)
			continue;
		/* siblings lie between, and are in the same */
		cores = k && *(const uint32_t *)(const void *)own ==
						*(const uint32_t *)(const void *)last
				? cores + 1
				: 1;
		most = cores > most ? cores : most;
	}
	return most;
}

static uint32_t round_up(uint32_t value, uint32_t step)
{
	return step ? (value + step - 1) / step * step : value;
}

struct calibrate_shape calibrate_shape(const struct host *host)
{
	struct calibrate_shape shape = { .sockets = host->sockets };
	uint32_t socket = most_cores(host, offsetof(struct host_cpu, socket)),
		 die = most_cores(host, offsetof(struct host_cpu, die)),
		 cluster = most_cores(host, offsetof(struct host_cpu, cluster));

	if (cluster < die && cluster > 1)
		shape.cores_per_cluster = cluster;
	die = round_up(die, shape.cores_per_cluster);
	if (die < socket && die > cluster)
		shape.cores_per_die = die;
	else if (cluster < socket && cluster > 1)
		shape.cores_per_cluster = cluster;
	shape.cores_per_socket = round_up(socket, shape.cores_per_die ? shape.cores_per_die
								      : shape.cores_per_cluster);
	for (uint32_t k = 0; k < host->count; k++)
		shape.smt = host->cpus[k].smt >= shape.smt ? host->cpus[k].smt + 1 : shape.smt;
	return shape;
}

enum calibrate_level calibrate_level(const struct calibrate_shape *shape, const struct host_cpu *a,
				     const struct host_cpu *b)
{
	if (a->core == b->core)
		return LEVEL_SMT;
	if (shape->cores_per_cluster && a->cluster == b->cluster)
		return LEVEL_CLUSTER;
	if (shape->cores_per_die && a->die == b->die)
		return LEVEL_DIE;
	return a->socket == b->socket ? LEVEL_SAME : LEVEL_CROSS;
}

/* ---- figures -------------------------------------------------------------------------------- */

const struct calibrate_figure *calibration_figure(const struct calibration *calibration,
						  const char *name, uint32_t threads)
{
	for (uint32_t k = 0; k < calibration->count; k++)
		if (!strcmp(calibration->figures[k].name, name) &&
		    calibration->figures[k].threads == threads)
			return &calibration->figures[k];
	return NULL;
}

/* NULL where nothing was measured. */
__attribute__((format(printf, 6, 7))) static struct calibrate_figure *
add(struct calibrating *all, const char *name, uint32_t threads, const char *unit,
    struct sample value, const char *format, ...)
{
	struct calibration *c = all->c;
	struct calibrate_figure *figure = &c->figures[c->count];
	va_list arguments;

	if (!value.count || !(value.median > 0) || c->count == FIGURES_MOST)
		return NULL;
	*figure = (struct calibrate_figure){ .threads = threads, .unit = unit, .value = value };
	snprintf(figure->name, sizeof(figure->name), "%s", name);
	va_start(arguments, format);
	vsnprintf(figure->method, sizeof(figure->method), format, arguments);
	va_end(arguments);
	c->count++;
	return figure;
}

static void tell(struct calibrating *all, const char *what)
{
	if (all->options->progress)
		all->options->progress(all->options->context, what);
}

static void lacks(struct calibrating *all, const char *what, const char *why)
{
	char text[METHOD_SIZE + sizeof(((struct error *)0)->text)];

	snprintf(text, sizeof(text), "%s: %s", what, why);
	if (all->options->trouble)
		all->options->trouble(all->options->context, text);
}

/* ---- one thread ----------------------------------------------------------------------------- */

enum alone_kind { ALONE_OPERATION, ALONE_WALK, ALONE_REMOTE, ALONE_OVERLAP };

/* Of the caches, how much of them to walk through. */
enum alone_size { SIZE_NONE, SIZE_L1, SIZE_L2, SIZE_LLC, SIZE_DRAM };

static const struct alone {
	const char *name;
	enum alone_kind kind;
	uint8_t what; /* enum bench_operation or enum alone_size */
	const char *unit, *method;
} alone_table[] = {
	{ "locked_add", ALONE_OPERATION, OPERATION_LOCKED_ADD, "ns",
	  "locked adds, results unused" },
	{ "uncontended_fetch_add", ALONE_OPERATION, OPERATION_FETCH_ADD, "ns",
	  "fetch-adds, each adding the result of the one before" },
	{ "uncontended_xchg", ALONE_OPERATION, OPERATION_XCHG, "ns",
	  "exchanges, each storing the result of the one before" },
	{ "uncontended_cmpxchg", ALONE_OPERATION, OPERATION_CMPXCHG, "ns",
	  "compare-exchanges that succeed" },
	{ "fence", ALONE_OPERATION, OPERATION_FENCE, "ns", "fences with an empty store buffer" },
	{ "store_forward", ALONE_OPERATION, OPERATION_FORWARD, "ns",
	  "a store and a load of it, which the next store waits for" },
	{ "load_l1", ALONE_WALK, SIZE_L1, "ns", "dependent loads, random order" },
	{ "load_l2", ALONE_WALK, SIZE_L2, "ns", "dependent loads, random order" },
	{ "load_llc", ALONE_WALK, SIZE_LLC, "ns", "dependent loads, random order" },
	{ "load_dram_local", ALONE_WALK, SIZE_DRAM, "ns", "dependent loads, random order" },
	{ "load_dram_remote", ALONE_REMOTE, SIZE_DRAM, "ns", "dependent loads, random order" },
	{ "loads_in_flight", ALONE_OVERLAP, SIZE_DRAM, "lines",
	  "gain of 2 to 24 chains of dependent loads over one" },
};

enum { ALONE = sizeof(alone_table) / sizeof(*alone_table), L1_USUAL = 32 << 10 };
enum { L2_USUAL = 256 << 10, LLC_USUAL = 8 << 20 };

/* Half of a private cache; of the last level, which others use too, three times the L2, at most half;
 * of memory, four times the last level. */
static uint64_t size_of(const struct calibrating *all, enum alone_size size)
{
	const struct host *host = all->c->host;
	uint64_t l1 = host->l1.size ? host->l1.size : L1_USUAL,
		 l2 = host->l2.size ? host->l2.size : L2_USUAL,
		 llc = host->llc.size ? host->llc.size : LLC_USUAL, dram = 4 * llc;

	switch (size) {
	case SIZE_L1:
		return l1 / 2;
	case SIZE_L2:
		return l2 / 2;
	case SIZE_LLC:
		return 3 * l2 < llc / 2 || llc / 2 < 2 * l2 ? 3 * l2 : llc / 2;
	default:
		dram = dram < 64 << 20 ? 64 << 20 : dram;
		return dram < all->effort->dram_most ? dram : all->effort->dram_most;
	}
}

/* A CPU in another socket than the first; 0 where there is none. */
static uint32_t far_cpu(const struct host *host)
{
	for (uint32_t k = 1; k < host->count; k++)
		if (host->cpus[k].socket != host->cpus[0].socket)
			return k;
	return 0;
}

/* In *more, what to add to the method. */
static bool alone_run(const struct calibrating *all, const struct alone *alone,
		      struct sample *sample, char *more, size_t room, struct error *error)
{
	uint64_t size = size_of(all, (enum alone_size)alone->what);
	uint32_t home = alone->kind == ALONE_REMOTE ? far_cpu(all->c->host) : 0;
	struct bench bench = all->bench;
	double huge = 0;

	if (alone->kind == ALONE_OPERATION)
		return bench_operation(&all->bench, 0, (enum bench_operation)alone->what, sample,
				       error);
	bench.batches = all->effort->walks;
	if (alone->kind == ALONE_OVERLAP) {
		snprintf(more, room, ", %llu MiB", (unsigned long long)size >> 20);
		bench.batches = 3;
		return bench_overlap(&bench, 0, size / 2, sample, error);
	}
	if (!bench_walk(&bench, 0, home, size, sample, &huge, error))
		return false;
	snprintf(more, room, ", through %llu KiB, %.0f %% in huge pages",
		 (unsigned long long)size >> 10, huge * 100);
	return true;
}

/* Again where it was disturbed and shows it; the calmest counts. */
static void measure_alone(struct calibrating *all, const struct alone *alone)
{
	struct sample best = { 0 };
	struct error error = { "" };
	char more[METHOD_SIZE / 2] = "", noise_text[METHOD_SIZE] = "", text[METHOD_SIZE];
	struct calibrate_figure *figure;
	bool disturbed = true;

	for (uint32_t k = 0; disturbed && k < all->effort->tries; k++) {
		struct sample sample = { 0 };
		struct host_noise noise;

		host_noise_begin(&noise, &all->c->clock);
		if (!alone_run(all, alone, &sample, more, sizeof(more), &error)) {
			lacks(all, alone->name, error.text);
			return;
		}
		disturbed = host_noise_end(&noise, &all->c->clock, all->c->host->count - 1, text,
					   sizeof(text)) &&
			    sample_spread(&sample) > calm_spread;
		if (best.count && sample_spread(&sample) > sample_spread(&best))
			continue;
		best = sample;
		snprintf(noise_text, sizeof(noise_text), "%s", disturbed ? text : "");
	}
	figure = add(all, alone->name, 0, alone->unit, best, "%s%s", alone->method, more);
	if (figure)
		memcpy(figure->noise, noise_text, sizeof(figure->noise));
}

static void measure_clock(struct calibrating *all)
{
	double values[9];

	for (int k = 0; k < 9; k++)
		values[k] = host_core_clock(&all->c->clock) * 1e-9;
	add(all, "clock", 0, "GHz", sample_of(values, 9),
	    "additions that wait for each other, one a cycle");
}

static void measure_alones(struct calibrating *all)
{
	measure_clock(all);
	for (int k = 0; k < ALONE; k++) {
		if (alone_table[k].kind == ALONE_REMOTE && !far_cpu(all->c->host))
			continue;
		tell(all, alone_table[k].name);
		measure_alone(all, &alone_table[k]);
	}
}

/* ---- all pairs of cores --------------------------------------------------------------------- */

static size_t cell(const struct calibration *c, uint32_t a, uint32_t b)
{
	return (size_t)a * c->host->cores + b;
}

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
		lacks(all, "hand_off", error.text);
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
		uint64_t due = limit / 4 / effort->rounds * survey->rounds;
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

static bool measure_matrix(struct calibrating *all, struct error *error)
{
	struct calibration *c = all->c;
	uint32_t cores = c->host->cores, pairs = cores * (cores - 1) / 2, pair = 0;
	struct survey survey = { .hand_off = calloc(pairs + 1, sizeof(*survey.hand_off)),
				 .token = calloc(pairs + 1, sizeof(*survey.token)) };
	bool done = survey.hand_off && survey.token;

	tell(all, "hand-offs of all pairs of cores");
	if (done)
		survey_rounds(all, &survey);
	for (uint32_t a = 0; done && a < cores; a++)
		for (uint32_t b = a + 1; b < cores; b++) {
			survey_judge(c, &survey, pair++, cell(c, a, b));
			c->matrix[cell(c, b, a)] = c->matrix[cell(c, a, b)];
			c->token[cell(c, b, a)] = c->token[cell(c, a, b)];
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

/* The matrix knows how long the token takes between two cores; between siblings nobody can tell. */
static double token_of(const struct calibration *c, const struct bench_pair *pair)
{
	uint32_t a = c->host->cpus[pair->first].core, b = c->host->cpus[pair->second].core;

	return a == b ? 0 : c->token[cell(c, a, b)];
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
		pair.token_ns = token_of(all->c, &pair);
		pair.home_at_second = home_at_second;
		if (!bench_duel(&all->bench, &pair, row->duel, &samples[count], &error)) {
			lacks(all, name, error.text);
			break;
		}
		if (!samples[count].count)
			continue;
		medians[count] = samples[count].median;
		count++;
	}
	sample = count == 1 ? samples[0] : sample_of(medians, count);
	struct calibrate_figure *figure = add(all, name, 0, "ns", sample, "%s", row->method);
	if (figure)
		figure->pairs = count;
	else if (!error.text[0])
		lacks(all, name,
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
		tell(all, name);
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
			if (c->matrix[cell(c, a, b)] > 0 &&
			    calibrate_level(&c->shape, &c->host->cpus[c->cores[a]],
					    &c->host->cpus[c->cores[b]]) == level)
				values[count++] = c->matrix[cell(c, a, b)];
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

/* ---- many threads --------------------------------------------------------------------------- */

static const struct contest_row {
	const char *name;
	enum bench_contest contest;
	const char *method;
} contest_table[] = {
	{ "fetch_add", CONTESTS_FETCH_ADD,
	  "fetch-adds to one counter, an operation of all threads" },
	{ "cas_loop", CONTESTS_CAS_LOOP,
	  "compare-exchange loops that go on with what they were given, a success of all threads" },
	{ "load_cas_loop", CONTESTS_LOAD_CAS_LOOP,
	  "load and compare-exchange loops, a success of all threads" },
	{ "plain_add", CONTESTS_PLAIN_ADD,
	  "load, add, store to one counter, an operation of a thread" },
	{ "trace", CONTESTS_TRACE, "fetch-adds whose results are kept" },
};

enum { CONTESTS = sizeof(contest_table) / sizeof(*contest_table) };

static void measure_contest(struct calibrating *all, const struct contest_row *row,
			    const uint32_t *order, uint32_t threads)
{
	const struct bench_pair two = { .first = order[0], .second = order[threads > 1] };
	struct bench_contest_result result = { 0 };
	struct error error = { "" };

	if (!bench_contest(&all->bench, order, threads, threads == 2 ? token_of(all->c, &two) : 0,
			   row->contest, &result, &error)) {
		lacks(all, row->name, error.text);
		return;
	}
	if (row->contest == CONTESTS_TRACE) {
		add(all, "visit", threads, "operations", result.visit,
		    "operations of a core before another has the line, of %s", row->method);
		if (threads > all->c->before_threads) {
			all->c->before_threads = threads;
			memcpy(all->c->before, result.before, sizeof(result.before));
		}
		return;
	}
	if (!add(all, row->name, threads, "ns", result.ns, "%s", row->method))
		lacks(all, row->name, "the CPUs did not lie still for long enough");
	if (row->contest == CONTESTS_LOAD_CAS_LOOP)
		add(all, "fairness", threads, "ratio", result.fairness,
		    "successes of the luckiest thread to the least lucky, of load_cas_loop");
}

/* The numbers of threads: all up to four, then powers of two, all cores, all CPUs. */
static bool counts(const struct host *host, uint32_t threads)
{
	return threads <= 4 || (threads & (threads - 1)) == 0 || threads == host->cores ||
	       threads == host->count;
}

static void measure_contests(struct calibrating *all)
{
	const struct host *host = all->c->host;
	struct error error = { "" };
	uint32_t count = 0, numbers = 0, *order = host_order(host, "compact", &count, &error);
	double each;

	for (uint32_t n = 1; n <= count; n++)
		numbers += counts(host, n);
	each = all->effort->contests_s / (CONTESTS * (numbers ? numbers : 1));
	all->bench.seconds = fmin(each, all->effort->bout_most_s);
	for (uint32_t n = 1; order && n <= count; n++)
		for (int k = 0; counts(host, n) && k < CONTESTS; k++) {
			if (contest_table[k].contest == CONTESTS_TRACE && n == 1)
				continue;
			tell(all, contest_table[k].name);
			measure_contest(all, &contest_table[k], order, n);
		}
	free(order);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool has_level(const struct calibration *c, enum calibrate_level level)
{
	struct bench_pair pair;

	return nth_pair(c, level, 0, 1, &pair);
}

static bool measure_all(struct calibrating *all, struct error *error)
{
	struct calibration *c = all->c;
	uint32_t levels = 0;

	measure_alones(all);
	if (c->host->cores > 1 && !measure_matrix(all, error))
		return false;
	for (int level = 0; level < LEVELS; level++)
		levels += has_level(c, (enum calibrate_level)level);
	all->bench.seconds = fmin(all->effort->duels_s / (DUELS * PAIRS_OF_LEVEL * fmax(levels, 1)),
				  all->effort->bout_most_s);
	if (c->host->count == 2)
		all->bench.seconds = all->effort->duels_s / DUELS;
	for (int level = 0; level < LEVELS; level++)
		if (has_level(c, (enum calibrate_level)level)) {
			measure_level(all, (enum calibrate_level)level);
			matrix_figure(all, (enum calibrate_level)level);
		}
	measure_contests(all);
	return true;
}

static bool calibration_room(struct calibration *c, struct error *error)
{
	uint32_t cores = c->host->cores;

	c->cores = calloc(cores, sizeof(*c->cores));
	c->matrix = calloc((size_t)cores * cores, sizeof(*c->matrix));
	c->token = calloc((size_t)cores * cores, sizeof(*c->token));
	if (!c->cores || !c->matrix || !c->token)
		return error_set(error, "out of memory");
	for (size_t k = 0; k < (size_t)cores * cores; k++)
		c->matrix[k] = c->token[k] = NAN;
	for (uint32_t k = c->host->count; k-- > 0;)
		c->cores[c->host->cpus[k].core] = k;
	return true;
}

struct calibration *calibrate(const struct host *host, const struct calibrate_options *options,
			      struct error *error)
{
	struct calibration *c = calloc(1, sizeof(*c));
	struct calibrating all = { .c = c, .options = options, .effort = &efforts[options->quick] };

	if (!c) {
		error_set(error, "out of memory");
		return NULL;
	}
	c->host = host;
	c->clock = host_clock_new(options->use_counter);
	c->shape = calibrate_shape(host);
	c->steadiness = 1;
	c->other_ns = NAN;
	all.bench = (struct bench){ host, &c->clock, all.effort->batches, all.effort->bout_most_s };
	if (calibration_room(c, error) && measure_all(&all, error))
		return c;
	calibration_free(c);
	return NULL;
}

void calibration_free(struct calibration *calibration)
{
	if (!calibration)
		return;
	free(calibration->cores);
	free(calibration->matrix);
	free(calibration->token);
	free(calibration);
}
