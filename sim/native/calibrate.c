/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/calibrate_parts.h"
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *const calibrate_level_names[LEVELS] = { "smt", "cluster", "die", "same", "cross" };

/* As long as a minute, or ten seconds. */
static const struct effort efforts[] = {
	{ .batches = 50,
	  .walks = 75,
	  .rounds = 16,
	  .tries = 4,
	  .dram_most = 512 << 20,
	  .matrix_s = 6,
	  .duels_s = 8,
	  .contests_s = 10,
	  .bout_most_s = 3,
	  .all_s = 55 },
	{ .batches = 15,
	  .walks = 25,
	  .rounds = 8,
	  .tries = 2,
	  .dram_most = 64 << 20,
	  .matrix_s = 0.8,
	  .duels_s = 1.2,
	  .contests_s = 1.6,
	  .bout_most_s = 0.4,
	  .all_s = 9 },
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

struct calibrate_figure *calibrate_add(struct calibrating *all, const char *name, uint32_t threads,
				       const char *unit, struct sample value, const char *format,
				       ...)
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

void calibrate_tell(struct calibrating *all, const char *what)
{
	if (all->options->progress)
		all->options->progress(all->options->context, what);
}

void calibrate_lacks(struct calibrating *all, const char *what, const char *why)
{
	struct calibration *c = all->c;
	char text[METHOD_SIZE];

	snprintf(text, sizeof(text), "%s: %s", what, why);
	for (uint32_t k = 0; k < c->lacking_count; k++)
		if (!strcmp(c->lacking[k], text))
			return;
	if (c->lacking_count < LACKING_MOST)
		memcpy(c->lacking[c->lacking_count++], text, sizeof(text));
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* What takes several threads. */
static bool measure_several(struct calibrating *all, struct error *error)
{
	struct calibration *c = all->c;

	c->steadiness = 1;
	c->other_ns = NAN;
	if (c->host->cores > 1 && !calibrate_matrix(all, error))
		return false;
	calibrate_duels(all);
	calibrate_contests(all);
	return true;
}

/* Where the CPUs came to lie otherwise in the midst of it, all that several threads measure is
 * measured anew, so that it is all of one state; as often as there is time for. */
static bool measure_all(struct calibrating *all, struct error *error)
{
	const struct effort *effort = all->effort;
	uint64_t start = host_monotonic_ns(), now;
	double attempt_s = effort->matrix_s + effort->duels_s + effort->contests_s;
	struct calibration *c = all->c;
	uint32_t alone, lacking;

	calibrate_alone(all);
	alone = c->count;
	lacking = c->lacking_count;
	do {
		c->count = alone;
		c->lacking_count = lacking;
		c->before_threads = 0;
		if (!measure_several(all, error))
			return false;
		now = host_monotonic_ns();
	} while (c->lacking_count > lacking &&
		 (double)(now - start) * 1e-9 + attempt_s < effort->all_s);
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
