/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lanes of a capture as simulated threads, and the memory that they touch first. */
#include "workload/replay_parts.h"
#include <stdio.h>
#include <stdlib.h>

/* The simulated cpu of a lane: as the user maps it, or as recorded where that is free, or the next
 * free one. */
static bool choose_cpu(struct replay_building *building, const struct replay_lane *lane,
		       bool *taken, uint32_t *cpu, struct error *error)
{
	const struct machine_config *config = &building->build->machine->config;
	uint32_t cpus = config->sockets * config->cores_per_socket * config->smt, next = 0;
	uint32_t was = lane->cpu != UINT32_MAX ? lane->cpu : lane->id;
	const struct node *map = building->settings->cpus, *chosen;
	char key[16];

	snprintf(key, sizeof(key), "%u", was);
	chosen = node_get(map, key);
	if (chosen) {
		if (!node_count_value(chosen, 0, cpus - 1, cpu, error))
			return false;
		if (taken[*cpu])
			return node_error(chosen, error, "two threads on cpu %u, expected one each",
					  *cpu);
		return true;
	}
	if (building->settings->placement == REPLAY_PLACE_RECORDED && lane->cpu < cpus &&
	    !taken[lane->cpu]) {
		*cpu = lane->cpu;
		return true;
	}
	while (next < cpus && taken[build_cpu(building->build, next)])
		next++;
	*cpu = build_cpu(building->build, next);
	return next < cpus ||
	       error_set(error,
			 "%s has %u threads, and machine %s has %u cpus, expected no more "
			 "threads; %s",
			 building->settings->trace, building->plan->replay->lane_count,
			 config->name, cpus,
			 building->settings->by == REPLAY_BY_THREAD
				 ? "to replay by CPU may help: --by cpu"
				 : "a larger machine may help");
}

/* The socket of a line's home is that of the thread which touched it first, or its page's turn. From the
 * place that was accessed last to the first one, so that the first of a line has the last word. */
static void set_homes(struct replay_building *building, const uint32_t *sockets)
{
	const struct replay_plan *plan = building->plan;
	struct machine *machine = building->build->machine;

	for (uint32_t p = plan->replay->place_count; p-- > 0;) {
		const struct replay_pieces *pieces = &plan->of_place[p];
		uint32_t first = plan->replay->places[p].first;

		for (uint32_t k = 0; k < pieces->count; k++) {
			uint64_t address = plan->pieces[pieces->first + k].address;
			bool turns = building->settings->home == REPLAY_HOME_INTERLEAVE;

			coherence_set_home(
				machine->coherence, address,
				turns ? (uint32_t)(address / REPLAY_PAGE % machine->config.sockets)
				      : sockets[first]);
		}
	}
}

static bool add_worker(struct replay_building *building, uint32_t lane, uint32_t cpu,
		       struct error *error)
{
	struct build *build = building->build;
	struct replay_plan *plan = building->plan;
	const struct replay_lane *of = &plan->replay->lanes[lane];
	struct replay_worker *worker = build_memory(build, sizeof(*worker), error);

	if (!worker)
		return false;
	*worker = (struct replay_worker){ .plan = plan, .lane = of, .interval = plan->gap };
	if (plan->profile && !replay_profile(build, worker, error))
		return false;
	plan->threads[lane] = machine_thread(build->machine, cpu, replay_body, worker, error);
	return plan->threads[lane] != NULL;
}

bool replay_add_threads(struct replay_building *building, struct error *error)
{
	const struct replay *replay = building->plan->replay;
	bool *taken = calloc(MACHINE_CPUS_MAX, sizeof(*taken));
	uint32_t *sockets = calloc(replay->lane_count, sizeof(*sockets)), cpu;
	bool done = (taken && sockets) || error_set(error, "out of memory");

	for (uint32_t k = 0; done && k < replay->lane_count; k++) {
		done = choose_cpu(building, &replay->lanes[k], taken, &cpu, error) &&
		       add_worker(building, k, cpu, error);
		if (!done)
			break;
		taken[cpu] = true;
		sockets[k] = build_socket(building->build, cpu);
	}
	if (done)
		set_homes(building, sockets);
	free(taken);
	free(sockets);
	return done;
}
