/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/native.h"
#include "native/crew.h"
#include "native/source.h"
#include "native/thread.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS_TO_END = 20, RETRIES = 3 };

struct native_crew {
	uint32_t count;
	const struct native_source *sources;
	struct thread *threads;
	double ms;
	struct host_clock clock;
	atomic_bool stop, over;
	atomic_bool going;
	uint64_t *ticks; /* that each thread ran */
};

struct thread *native_thread_of(const struct native_crew *crew, const void *simulated)
{
	uint32_t k = 0;

	while (crew->sources[k].simulated != simulated)
		k++;
	return &crew->threads[k];
}

/* ---- one repetition ------------------------------------------------------------------------- */

static void sleep_ms(double ms)
{
	struct timespec span = { (time_t)(ms / 1e3), (long)(fmod(ms, 1e3) * 1e6) };

	nanosleep(&span, NULL);
}

/* Lets the threads go on for as long as a repetition takes. */
static void *end_in_time(void *argument)
{
	struct native_crew *crew = argument;

	while (!atomic_load(&crew->going) && !atomic_load(&crew->over))
		sleep_ms(0.1);
	if (!atomic_load(&crew->over))
		sleep_ms(crew->ms);
	atomic_store(&crew->stop, true);
	return NULL;
}

/* Returns when the body has left at the end of an operation. */
static void run_body(const struct native_source *source, struct thread *thread)
{
	if (!setjmp(thread->out))
		source->body(thread, source->argument);
}

static void repeat_body(struct crewman *self, void *argument)
{
	struct native_crew *crew = argument;
	struct thread *thread = &crew->threads[self->index];
	const struct native_source *source = &crew->sources[self->index];
	uint64_t start = host_ticks(&crew->clock);

	atomic_store(&crew->going, true);
	run_body(source, thread);
	crew->ticks[self->index] = host_ticks(&crew->clock) - start;
}

static void reset(struct native_crew *crew)
{
	atomic_store(&crew->stop, false);
	atomic_store(&crew->over, false);
	atomic_store(&crew->going, false);
	for (uint32_t k = 0; k < crew->count; k++) {
		struct thread *thread = &crew->threads[k];

		memset(thread->done, 0, sizeof(thread->done));
		thread->awaited = 0;
		atomic_store(&thread->signals, 0);
	}
}

static bool repeat(struct native_crew *crew, const struct native_plan *plan, struct error *error)
{
	pthread_t timer;
	double seconds = plan->ms / 1e3 + SECONDS_TO_END;
	bool done;

	reset(crew);
	if (pthread_create(&timer, NULL, end_in_time, crew))
		return error_set(error, "cannot start a thread");
	done = crew_run(plan->host, plan->order, crew->count, seconds, repeat_body, crew, error);
	atomic_store(&crew->over, true);
	pthread_join(timer, NULL);
	return done;
}

/* Of the operation that counts, a second, by all threads. */
static double rate_of(const struct native_crew *crew, uint32_t *doing)
{
	double rate = 0;

	*doing = 0;
	for (uint32_t k = 0; k < crew->count; k++) {
		double ns = host_ns(&crew->clock, crew->ticks[k]);

		if (!crew->threads[k].done[0])
			continue;
		rate += (double)crew->threads[k].done[0] / ns * 1e9;
		++*doing;
	}
	return rate;
}

/* ---- all repetitions ------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

double native_quantile(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t below = (size_t)at, above = below + 1 < n ? below + 1 : below;

	return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

/* Of quiet repetitions those that are wanted; where there are none, of all. */
static void sum_up(double *quiet, uint32_t quiet_count, double *noisy, uint32_t noisy_count,
		   struct native_result *result)
{
	double *rates = quiet_count ? quiet : noisy;
	uint32_t n = quiet_count ? quiet_count : noisy_count;

	qsort(rates, n, sizeof(*rates), by_value);
	result->rate = native_quantile(rates, n, 0.5);
	result->repeats = quiet_count;
	result->disturbed = noisy_count;
	if (result->rate <= 0)
		return;
	result->ns = result->doing * 1e9 / result->rate;
	result->low = result->doing * 1e9 / native_quantile(rates, n, 0.9);
	result->high = result->doing * 1e9 / native_quantile(rates, n, 0.1);
}

static bool repeat_all(struct native_crew *crew, const struct native_plan *plan,
		       struct native_result *result, struct error *error)
{
	uint32_t most = RETRIES * plan->repeats, quiet_count = 0, noisy_count = 0;
	double *quiet = calloc(most, sizeof(*quiet)), *noisy = calloc(most, sizeof(*noisy));
	uint32_t idle = plan->host->count > crew->count ? plan->host->count - crew->count : 0;
	bool done = quiet && noisy ? repeat(crew, plan, error) : error_set(error, "out of memory");

	while (done && quiet_count < plan->repeats && quiet_count + noisy_count < most) {
		char text[NATIVE_NOISE_SIZE];
		struct host_noise noise;
		double rate;

		host_noise_begin(&noise, &crew->clock);
		done = repeat(crew, plan, error);
		rate = rate_of(crew, &result->doing);
		if (host_noise_end(&noise, &crew->clock, idle, text, sizeof(text))) {
			noisy[noisy_count++] = rate;
			memcpy(result->noise, text, sizeof(text));
		} else {
			quiet[quiet_count++] = rate;
		}
	}
	if (done)
		sum_up(quiet, quiet_count, noisy, noisy_count, result);
	free(quiet);
	free(noisy);
	return done;
}

static bool prepare(struct native_crew *crew, unsigned char *base, struct error *error)
{
	size_t bytes = crew->count * sizeof(*crew->threads);
	double cycles = host_core_clock(&crew->clock) * 1e-9 * crew->clock.ns_per_tick;

	crew->ticks = calloc(crew->count, sizeof(*crew->ticks));
	crew->threads = aligned_alloc(NATIVE_ALIGN, bytes);
	if (!crew->ticks || !crew->threads)
		return error_set(error, "out of memory");
	memset(crew->threads, 0, bytes);
	for (uint32_t k = 0; k < crew->count; k++) {
		struct thread *thread = &crew->threads[k];

		thread->base = base;
		thread->stop = &crew->stop;
		thread->clock = crew->clock;
		thread->cycles_per_tick = cycles;
		thread->random = crew->sources[k].random;
		thread->crew = crew;
	}
	return true;
}

bool native_run_bodies(const struct native_source *sources, uint32_t count, unsigned char *base,
		       const struct native_plan *plan, struct native_result *result,
		       struct error *error)
{
	struct native_crew crew = { .count = count, .sources = sources, .ms = plan->ms };
	bool done;

	*result = (struct native_result){ .threads = count };
	if (count > plan->cpus)
		return error_set(
			error,
			"%u threads, and %u CPUs to run them on: fewer threads, or another "
			"host",
			count, plan->cpus);
	crew.clock = host_clock_new(true);
	done = prepare(&crew, base, error) && repeat_all(&crew, plan, result, error);
	free(crew.ticks);
	free(crew.threads);
	return done;
}

bool native_run(struct build *build, const struct native_plan *plan, struct native_result *result,
		struct error *error)
{
	uint32_t count = native_source_count(build);
	struct native_source *sources = calloc(count, sizeof(*sources));
	unsigned char *base = native_realize(build, error);
	bool done = sources && base;

	if (!sources)
		error_set(error, "out of memory");
	for (uint32_t k = 0; done && k < count; k++)
		done = native_source(build, k, &sources[k], error);
	done = done && native_run_bodies(sources, count, base, plan, result, error);
	free(sources);
	return done;
}
