/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/storm_case.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- knobs ---------------------------------------------------------------------------------- */

enum law { UNIFORM, LOG };

static const struct knob {
	const char *name;
	uint32_t least, most, simplest;
	enum law law;
	const char *values; /* names of 0, 1, ..., a blank between; "": numbers */
} knobs[STORM_KNOB_COUNT] = {
#define KNOB_ROW(name, least, most, simplest, law, values) \
	{ #name, least, most, simplest, law, values },
	STORM_KNOBS(KNOB_ROW)
#undef KNOB_ROW
};

struct storm_case storm_case(uint64_t seed)
{
	struct storm_case storm = { .seed = seed };

	for (int k = 0; k < STORM_KNOB_COUNT; k++) {
		storm.knob[k].low = knobs[k].least;
		storm.knob[k].high = knobs[k].most;
	}
	return storm;
}

/* As many draws from each power of two as from the next, in integers alone. */
static uint32_t draw_log(struct random *random, uint32_t low, uint32_t high)
{
	uint32_t from = 0, to = 0, floor, ceiling;

	while (low >> from > 1)
		from++;
	while (high >> to > 1)
		to++;
	uint32_t power = from + (uint32_t)random_below(random, to - from + 1);

	floor = power ? 1u << power : 0;
	ceiling = (2u << power) - 1;
	floor = floor < low ? low : floor;
	ceiling = ceiling > high ? high : ceiling;
	return floor + (uint32_t)random_below(random, ceiling - floor + 1);
}

uint32_t storm_knob(const struct storm_case *storm, enum storm_knob knob)
{
	uint32_t low = storm->knob[knob].low, high = storm->knob[knob].high;
	struct random random = random_stream(storm->seed, knobs[knob].name, 0);

	if (knobs[knob].law == LOG)
		return draw_log(&random, low, high);
	return low + (uint32_t)random_below(&random, high - low + 1);
}

/* The length of the n-th name in a list of them; *name is moved to it. 0 where there are fewer. */
static size_t nth_name(const char **name, uint32_t n)
{
	for (; n > 0; n--) {
		*name += strcspn(*name, " ");
		*name += **name == ' ';
	}
	return strcspn(*name, " ");
}

/* Reads a value of a knob up to `end`. */
static bool read_value(const struct knob *knob, const char *text, const char *end, uint32_t *value)
{
	size_t length = (size_t)(end - text);

	for (uint32_t k = knob->least; *knob->values && k <= knob->most; k++) {
		const char *name = knob->values;

		if (nth_name(&name, k) == length && !strncmp(name, text, length)) {
			*value = k;
			return true;
		}
	}
	if (*knob->values || !length || length > 5)
		return false;
	for (*value = 0; text < end; text++) {
		if (*text < '0' || *text > '9')
			return false;
		*value = *value * 10 + (uint32_t)(*text - '0');
	}
	return *value >= knob->least && *value <= knob->most;
}

bool storm_hold(struct storm_case *storm, const char *setting, struct error *error)
{
	const char *equals = strchr(setting, '='), *value, *dots, *end;
	uint32_t low, high;
	int k = 0;

	while (equals && k < STORM_KNOB_COUNT &&
	       (strlen(knobs[k].name) != (size_t)(equals - setting) ||
		strncmp(knobs[k].name, setting, (size_t)(equals - setting)) != 0))
		k++;
	if (!equals || k == STORM_KNOB_COUNT)
		return error_set(error, "%.80s: no such setting of a storm, expected KNOB=VALUE",
				 setting);
	value = equals + 1;
	end = value + strlen(value);
	dots = strstr(value, "..");
	if (!read_value(&knobs[k], value, dots ? dots : end, &low) ||
	    !read_value(&knobs[k], dots ? dots + 2 : value, end, &high) || low > high)
		return error_set(error,
				 *knobs[k].values ? "%.80s: expected one of %s"
						  : "%.80s: expected %s%u to %u",
				 setting, knobs[k].values, knobs[k].least, knobs[k].most);
	storm->knob[k].low = low;
	storm->knob[k].high = high;
	return true;
}

static int print_value(const struct knob *knob, uint32_t value, char *text, size_t size)
{
	const char *name = knob->values;
	int length = (int)nth_name(&name, value);

	return length ? snprintf(text, size, "%.*s", length, name)
		      : snprintf(text, size, "%" PRIu32, value);
}

int storm_command(const struct storm_case *storm, char *text, size_t size)
{
	int used = snprintf(text, size, "hitm check --storm %" PRIu64, storm->seed);

	for (int k = 0; k < STORM_KNOB_COUNT; k++) {
		uint32_t low = storm->knob[k].low, high = storm->knob[k].high;
		char from[16], to[16];

		if (low == knobs[k].least && high == knobs[k].most)
			continue;
		print_value(&knobs[k], low, from, sizeof(from));
		print_value(&knobs[k], high, to, sizeof(to));
		size_t left = size > (size_t)used ? size - (size_t)used : 0;

		used += snprintf(text + (left ? used : 0), left, " %s=%s%s%s", knobs[k].name, from,
				 low < high ? ".." : "", low < high ? to : "");
	}
	return used;
}

/* ---- the machine ---------------------------------------------------------------------------- */

enum { BASE = 0x100000, L2_SETS = 2, LLC_SETS = 2, CONFLICT_SPAN = 4096 };

/* Figures of which every answer has a cycle left: each is the way to the home and back, or a part
 * of it, and what the knobs add. A cycle is a nanosecond. */
static struct fabric_timing timing_of(const uint32_t knob[])
{
	struct fabric_timing t = { .clock = 1e9, .scale = 1 };
	double way = 2.0 * knob[KNOB_leg];
	/* An owner keeps the line to the end of the operation under way. */
	double visit = fmax(1, ceil((double)knob[KNOB_retain] / knob[KNOB_rmw])) * knob[KNOB_rmw];

	t.llc = 4.0 * knob[KNOB_leg];
	t.dram_local = way + 1 + knob[KNOB_memory];
	t.dram_remote = t.dram_local + knob[KNOB_across];
	for (int d = 0; d < DISTANCES; d++) {
		double far = d == DISTANCE_CROSS ? knob[KNOB_across] : 0;
		double least = visit + 1;
		double mean = least + knob[KNOB_transfer] + far;
		double half = (mean - least) * knob[KNOB_spread] / 100;

		t.hand_off[d] = (struct spread){ mean - half, mean, mean + half };
		t.away[d] = knob[KNOB_away];
		t.clean[d] = way + 1 + knob[KNOB_clean] + far;
		t.upgrade[d] = way + 1 + knob[KNOB_acks] + far;
		/* write-backs too */
		t.dirty[d][0] = way + 1 + knob[KNOB_transfer] + far;
		t.dirty[d][0] += d == DISTANCE_CROSS ? knob[KNOB_late] : 0;
		t.dirty[d][1] = t.dirty[d][0] + far / 4;
	}
	t.invalidate_serial = knob[KNOB_serial];
	t.home_occupancy = knob[KNOB_occupancy];
	t.far_occupancy = knob[KNOB_far_occupancy];
	t.retain = knob[KNOB_retain];
	t.link_bandwidth = knob[KNOB_link] ? 1e9 * knob[KNOB_link] : 0;
	return t;
}

static struct machine_config machine_of(uint64_t seed, const uint32_t knob[])
{
	uint32_t smt = knob[KNOB_smt], cpus = knob[KNOB_sockets] * smt;

	return (struct machine_config){
		.name = "storm",
		.clock = 1e9,
		.sockets = knob[KNOB_sockets],
		.cores_per_socket = (knob[KNOB_threads] + cpus - 1) / cpus,
		.smt = smt,
		.cores_per_cluster = knob[KNOB_cluster],
		.timing = timing_of(knob),
		.coherence = { .line = 32u << knob[KNOB_line],
			       .l1 = { 1, knob[KNOB_l1], 4 },
			       /* a way more than the core has threads */
			       .l2 = { L2_SETS, knob[KNOB_l2] > smt ? knob[KNOB_l2] : smt + 1, 14 },
			       .llc_sets = LLC_SETS,
			       .llc_ways = knob[KNOB_llc],
			       .protocol = (enum protocol_kind)knob[KNOB_protocol],
			       .atomics = (enum atomics)knob[KNOB_atomics],
			       .eviction = (enum s_eviction)knob[KNOB_eviction],
			       .home = (enum home_kind)knob[KNOB_home],
			       .discipline = (enum discipline)knob[KNOB_discipline],
			       .batch = knob[KNOB_batch],
			       .bias = knob[KNOB_bias],
			       .migratory = knob[KNOB_migratory],
			       .paranoid = true,
			       .seed = seed + knob[KNOB_salt] },
		.locked_rmw = knob[KNOB_rmw],
		.fence = 33,
		.store_forward = 5,
		.store_buffer = knob[KNOB_stores],
		.loads_in_flight = knob[KNOB_loads],
		.smt_slowdown = 1.3,
		.run_ahead = knob[KNOB_ahead],
	};
}

static struct storm_plan plan_of(const uint32_t knob[])
{
	return (struct storm_plan){
		.threads = knob[KNOB_threads],
		.objects = knob[KNOB_lines],
		.steps = knob[KNOB_accesses],
		.base = BASE,
		/* all in one set of each cache, or one line after the other */
		.stride = knob[KNOB_conflict] ? CONFLICT_SPAN : STORM_OBJECT,
		.roles = knob[KNOB_roles],
		.deeds = knob[KNOB_deeds],
		.hot = knob[KNOB_hot],
		.work = knob[KNOB_work],
		.cpu_step = 1,
	};
}

/* ---- a run ---------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *byte = data;

	for (size_t k = 0; k < size; k++)
		hash = (hash ^ byte[k]) * 0x100000001b3u; /* FNV-1a */
	return hash;
}

static uint64_t fingerprint(const struct machine *machine, const struct storm *storm,
			    const struct storm_plan *plan)
{
	uint64_t hash = mix(0xcbf29ce484222325u, &machine->coherence->events, sizeof(uint64_t));
	uint64_t values = storm_hash(storm);

	hash = mix(hash, &values, sizeof(values));
	for (uint32_t k = 0; k < machine->thread_count; k++) {
		const struct thread *thread = machine->threads[k];

		hash = mix(hash, &thread->time, sizeof(thread->time));
		hash = mix(hash, &thread->wait_cycles, sizeof(thread->wait_cycles));
		hash = mix(hash, thread->cycles, sizeof(thread->cycles));
	}
	for (uint32_t k = 0; k < plan->objects; k++) {
		uint64_t address = plan->base + k * plan->stride;
		const struct line *line = coherence_line(machine->coherence, address);
		uint8_t data[STORM_OBJECT];

		coherence_peek(machine->coherence, address, data, sizeof(data));
		hash = mix(hash, data, sizeof(data));
		hash = mix(hash, &line->counts, sizeof(line->counts));
	}
	return hash;
}

static void settle_homes(struct machine *machine, const struct storm_plan *plan)
{
	uint32_t line = machine->config.coherence.line;

	for (uint32_t k = 0; k < plan->objects; k++)
		for (uint32_t at = 0; at < STORM_OBJECT; at += line)
			coherence_set_home(machine->coherence, plan->base + k * plan->stride + at,
					   (k + at / line) % machine->config.sockets);
}

static void blow(const struct storm_case *storm, const struct storm_plan *plan,
		 struct machine *machine, struct storm_result *result)
{
	const struct coherence *coherence = machine->coherence;
	struct storm *threads = storm_new(plan, machine, &result->error);

	if (!threads) {
		result->verdict = STORM_REFUSED;
		return;
	}
	settle_homes(machine, plan);
	if (storm->prepare)
		storm->prepare(machine->coherence, storm->context);
	bool ran = machine_run(machine, &result->error) &&
		   (machine->stop || machine_rest(machine, &result->error));

	if (!ran)
		result->verdict = STORM_HELD + 1 + (uint32_t)coherence->defect_kind;
	else if (!storm_held(threads, &result->error))
		result->verdict = STORM_WRONG;
	result->accesses = storm_accesses(threads);
	result->events = coherence->events;
	result->cycles = coherence->now;
	result->fingerprint = fingerprint(machine, threads, plan);
	result->visits = *coherence->visits;
	storm_free(threads);
}

bool storm_run(const struct storm_case *storm, struct storm_result *result)
{
	uint32_t knob[STORM_KNOB_COUNT];

	for (int k = 0; k < STORM_KNOB_COUNT; k++)
		knob[k] = storm_knob(storm, (enum storm_knob)k);
	struct machine_config config = machine_of(storm->seed, knob);
	struct storm_plan plan = plan_of(knob);

	memset(result, 0, sizeof(*result));
	struct machine *machine = machine_new(&config, &result->error);

	if (machine)
		blow(storm, &plan, machine, result);
	else
		result->verdict = STORM_REFUSED;
	machine_free(machine);
	return result->verdict == STORM_HELD;
}

/* ---- shrinking ------------------------------------------------------------------------------ */

struct search {
	struct storm_case *best;
	struct storm_result *result; /* of the best */
	uint32_t runs, attempts;
};

/* Does it fail in the same way with this value, and this salt or one of the next? Then it is the
 * best so far. */
static bool try_value(struct search *search, int knob, uint32_t value)
{
	enum { SALTS = 4 };
	struct storm_case storm = *search->best;
	uint32_t salt = storm_knob(&storm, KNOB_salt), salts = knobs[KNOB_salt].most + 1;

	storm.knob[knob].low = storm.knob[knob].high = value;
	for (uint32_t k = 0; k < SALTS && search->runs < search->attempts; k++) {
		struct storm_result result;

		if (k)
			storm.knob[KNOB_salt].low = storm.knob[KNOB_salt].high = (salt + k) % salts;
		search->runs++;
		storm_run(&storm, &result);
		if (result.verdict == search->result->verdict) {
			*search->best = storm;
			*search->result = result;
			return true;
		}
	}
	return false;
}

static bool is_mask(int knob)
{
	return knob == KNOB_roles || knob == KNOB_deeds;
}

/* Towards the simplest value: at once, else by ever smaller parts of the way; of a set, one by one.
 */
static bool simplify(struct search *search, int knob)
{
	uint32_t start = storm_knob(search->best, (enum storm_knob)knob);
	uint32_t simplest = knobs[knob].simplest, now = start;

	if (now == simplest || try_value(search, knob, simplest))
		return now != simplest;
	for (uint32_t bit = 1; is_mask(knob) && bit <= now; bit *= 2)
		if (now & bit && now != bit && try_value(search, knob, now & ~bit))
			now &= ~bit;
	for (uint32_t part = 2; !is_mask(knob) && part <= 64; part *= 2) {
		int64_t go = ((int64_t)simplest - now) / part;
		uint32_t value = (uint32_t)(now + go);

		if (!go)
			break;
		if (try_value(search, knob, value)) {
			now = value;
			part = 1;
		}
	}
	return now != start;
}

uint32_t storm_shrink(struct storm_case *storm, struct storm_result *result, uint32_t attempts)
{
	struct search search = { .best = storm, .result = result, .attempts = attempts };
	bool simpler = true;

	while (simpler && search.runs < attempts) {
		simpler = false;
		for (int k = KNOB_salt + 1; k < STORM_KNOB_COUNT; k++)
			simpler |= simplify(&search, k);
	}
	return search.runs;
}
