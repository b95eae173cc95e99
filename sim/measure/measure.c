/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "measure/measure.h"
#include "measure/timeline.h"
#include <stdlib.h>
#include <string.h>

static const char *const part_names[PART_COUNT] = {
	"work",          "hit",    "cold",  "capacity", "true_sharing",
	"false_sharing", "atomic", "queue", "idle",
};

const char *part_name(enum part part)
{
	return part_names[part];
}

/* ---- windows -------------------------------------------------------------------------------- */

/* Lines are counted from the moment when every thread is measured. */
static void steady(struct measure *measure, uint64_t now)
{
	struct coherence *coherence = measure->machine->coherence;

	measure->steady_since = now;
	for (size_t k = 0; k < coherence->table_size; k++)
		for (struct line *line = coherence->table[k]; line; line = line->next)
			memset(&line->counts, 0, sizeof(line->counts));
	for (uint32_t k = 0; k < coherence->fabric->cores; k++)
		memset(&coherence->cores[k].counts, 0, sizeof(coherence->cores[k].counts));
}

static void window_open(struct measure *measure, struct thread *thread, struct window *window)
{
	window->open = true;
	window->begin = thread->time;
	memcpy(window->cycles, thread->cycles, sizeof(window->cycles));
	window->wait = thread->wait_cycles;
	thread->counts = window->counts;
	if (++measure->open == measure->machine->thread_count)
		steady(measure, thread->time);
}

/* Are the windows of all threads of a core closed? */
static bool core_closed(const struct measure *measure, uint32_t core)
{
	for (struct thread *on = measure->machine->on_core[core]; on; on = on->sibling)
		if (!measure->windows[on->number].closed)
			return false;
	return true;
}

static void window_close(struct measure *measure, struct thread *thread, struct window *window)
{
	window->closed = true;
	window->end = thread->time;
	for (int k = 0; k < CYCLES_COUNT; k++)
		window->cycles[k] = thread->cycles[k] - window->cycles[k];
	window->wait = thread->wait_cycles - window->wait;
	thread->counts = measure->scratch;
	if (core_closed(measure, thread->core->number))
		sharing_finish(measure->sharing, thread->core->number);
	if (++measure->closed == measure->machine->thread_count) {
		measure->ended = thread->time;
		measure->machine->stop = true;
	}
}

static void operation(void *context, struct thread *thread, uint32_t number, uint64_t begin,
		      uint64_t end)
{
	struct measure *measure = context;
	struct window *window = &measure->windows[thread->number];

	if (window->closed)
		return;
	if (!window->open) {
		if (end >= measure->warmup) {
			thread_in_order(thread);
			window_open(measure, thread, window);
		}
		return;
	}
	window->operations[number]++;
	histogram_add(&measure->latency[number], end - begin);
	if (!measure->to_end && end >= measure->warmup + measure->duration) {
		thread_in_order(thread);
		window_close(measure, thread, window);
	}
}

static void stalled(void *context, struct thread *thread, const struct stall *stall)
{
	struct measure *measure = context;
	const struct window *window = &measure->windows[thread->number];

	if (measure->timeline)
		timeline_stalled(measure->timeline, thread, stall);
	if (!window->open || window->closed)
		return;
	sharing_stalled(measure->sharing, stall);
	measure->fields[stall->origin.field].misses++;
	measure->fields[stall->origin.field].stall += stall->cycles;
}

static void touched(void *context, uint32_t core, struct copy *copy, const struct origin *origin)
{
	sharing_touched(((struct measure *)context)->sharing, core, copy, origin);
}

static void finished(void *context, struct thread *thread)
{
	struct measure *measure = context;

	if (measure->to_end)
		window_close(measure, thread, &measure->windows[thread->number]);
}

/* Counted while lines are. */
static void hitm(void *context, uint32_t core, const struct origin *by, bool across)
{
	struct measure *measure = context;

	if (measure->listener.hitm)
		measure->listener.hitm(measure->listener.context, core, across);
	if (measure->open == measure->machine->thread_count)
		measure->fields[by->field].hitm[by->write == ORIGIN_LOCKED][across]++;
}

static void gained(void *context, uint32_t core, struct copy *copy, uint64_t now)
{
	struct measure *measure = context;

	sharing_gained(measure->sharing, core, copy, now);
	if (measure->timeline)
		timeline_gained(measure->timeline, core, copy, now);
}

static void lost(void *context, uint32_t core, struct copy *copy, enum loss loss,
		 const struct origin *by, uint64_t now)
{
	struct measure *measure = context;

	sharing_lost(measure->sharing, core, copy, loss, by, now);
	if (measure->timeline)
		timeline_lost(measure->timeline, core, copy, loss, by, now);
}

/* ---- life ----------------------------------------------------------------------------------- */

static bool windows_new(struct measure *measure)
{
	uint32_t threads = measure->machine->thread_count;

	measure->windows = calloc(threads, sizeof(*measure->windows));
	measure->scratch = calloc(measure->field_count, sizeof(*measure->scratch));
	measure->fields = calloc(measure->field_count, sizeof(*measure->fields));
	if (!measure->windows || !measure->scratch || !measure->fields)
		return false;
	for (uint32_t k = 0; k < threads; k++) {
		struct window *window = &measure->windows[k];

		window->counts = calloc(measure->field_count, sizeof(*window->counts));
		if (!window->counts)
			return false;
		measure->machine->threads[k]->counts = measure->scratch;
	}
	return true;
}

struct measure *measure_new(struct machine *machine, uint32_t field_count, uint64_t warmup,
			    uint64_t duration)
{
	struct measure *measure = calloc(1, sizeof(*measure));

	if (!measure)
		return NULL;
	measure->machine = machine;
	measure->warmup = warmup;
	measure->duration = duration;
	measure->field_count = field_count;
	measure->sharing = sharing_new(machine);
	if (!measure->sharing || !windows_new(measure)) {
		measure_free(measure);
		return NULL;
	}
	machine->meter = (struct meter){ .context = measure,
					 .stalled = stalled,
					 .touched = touched,
					 .operation = operation,
					 .finished = finished };
	machine->coherence->observer = (struct observer){ measure, gained, lost, hitm };
	return measure;
}

void measure_from_start(struct measure *measure, bool to_end)
{
	measure->to_end = to_end;
	for (uint32_t k = 0; k < measure->machine->thread_count; k++)
		window_open(measure, measure->machine->threads[k], &measure->windows[k]);
}

static void accessed(void *context, struct thread *thread, const struct place *place,
		     enum access_kind kind, uint64_t begin)
{
	struct measure *measure = context;
	const struct window *window = &measure->windows[thread->number];

	if (window->open && !window->closed)
		measure->listener.accessed(measure->listener.context, thread, place, kind, begin);
}

void measure_listen(struct measure *measure, const struct listener *listener)
{
	measure->listener = *listener;
	measure->machine->meter.accessed = accessed;
	for (uint32_t k = 0; k < measure->machine->thread_count; k++)
		measure->machine->threads[k]->heard = true;
}

void measure_free(struct measure *measure)
{
	if (!measure)
		return;
	for (uint32_t k = 0; measure->windows && k < measure->machine->thread_count; k++)
		free(measure->windows[k].counts);
	free(measure->windows);
	free(measure->scratch);
	free(measure->fields);
	sharing_free(measure->sharing);
	timeline_free(measure->timeline);
	free(measure);
}

/* ---- sums ----------------------------------------------------------------------------------- */

static void add_window(struct measure *measure, const struct window *window)
{
	double seconds = (double)(window->end - window->begin) / measure->machine->config.clock;
	static const enum part own[CYCLES_COUNT] = { PART_WORK, PART_HIT, PART_ATOMIC, PART_IDLE };

	for (int k = 0; k < CYCLES_COUNT; k++)
		measure->parts[own[k]] += window->cycles[k];
	for (int k = 0; k < OPERATION_MAX; k++) {
		measure->operations[k] += window->operations[k];
		if (seconds > 0)
			measure->rate[k] += (double)window->operations[k] / seconds;
	}
	for (uint32_t k = 0; k < measure->field_count; k++) {
		struct field_total *field = &measure->fields[k];

		field->counts.loads += window->counts[k].loads;
		field->counts.stores += window->counts[k].stores;
		field->counts.rmws += window->counts[k].rmws;
		field->writers += window->counts[k].stores + window->counts[k].rmws > 0;
	}
	measure->total += window->end - window->begin;
}

bool measure_finish(struct measure *measure, struct error *error)
{
	static const enum part part_of[VERDICT_COUNT] = { PART_COLD, PART_CAPACITY, PART_TRUE,
							  PART_FALSE };
	uint64_t sum = 0;
	uint32_t count;

	if (measure->closed < measure->machine->thread_count)
		return error_set(error,
				 "only %u of %u threads ended operations during the measurement",
				 measure->closed, measure->machine->thread_count);
	for (uint32_t k = 0; k < measure->machine->thread_count; k++)
		add_window(measure, &measure->windows[k]);
	/* Threads that end early count as what they did of the whole. */
	for (int k = 0; measure->to_end && measure->ended && k < OPERATION_MAX; k++)
		measure->rate[k] = (double)measure->operations[k] * measure->machine->config.clock /
				   (double)measure->ended;

	const struct pair *pairs = sharing_pairs(measure->sharing, &count);

	for (uint32_t k = 0; k < count; k++) {
		measure->parts[part_of[pairs[k].verdict]] += pairs[k].cycles - pairs[k].queued;
		measure->parts[PART_QUEUE] += pairs[k].queued;
	}
	for (int k = 0; k < PART_COUNT; k++)
		sum += measure->parts[k];
	if (sum != measure->total)
		return error_set(
			error, "defect: the parts of time sum to %llu cycles, the windows to %llu",
			(unsigned long long)sum, (unsigned long long)measure->total);
	return true;
}
