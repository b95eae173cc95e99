/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/crew.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct member {
	struct crewman self;
	struct crew *crew;
	pthread_t thread;
	const struct host_cpu *cpu;
	struct error error;
};

struct crew {
	uint32_t count;
	uint64_t deadline; /* of host_monotonic_ns() */
	atomic_uint arrived, meeting;
	atomic_bool stopped;
	crew_body *body;
	void *argument;
	struct member *members;
};

bool crew_yield(struct crewman *self)
{
	struct crew *crew = self->crew;

	sched_yield();
	if (host_monotonic_ns() > crew->deadline)
		atomic_store(&crew->stopped, true);
	return !atomic_load(&crew->stopped);
}

bool crew_meet(struct crewman *self)
{
	struct crew *crew = self->crew;
	unsigned meeting = atomic_load(&crew->meeting);

	if (atomic_fetch_add(&crew->arrived, 1) + 1 == crew->count) {
		atomic_store(&crew->arrived, 0);
		atomic_fetch_add(&crew->meeting, 1);
	}
	while (atomic_load(&crew->meeting) == meeting)
		if (!crew_spin(self))
			return false;
	return !atomic_load(&crew->stopped);
}

static void *member_main(void *argument)
{
	struct member *member = argument;
	struct crew *crew = member->crew;

	if (!host_pin(member->cpu, &member->error))
		atomic_store(&crew->stopped, true);
	if (crew_meet(&member->self))
		crew->body(&member->self, crew->argument);
	return NULL;
}

/* Starts the threads, as many as can be, and waits for them. */
static bool run_members(struct crew *crew, struct error *error)
{
	uint32_t started = 0;
	int failed = 0;

	while (started < crew->count && !failed) {
		struct member *member = &crew->members[started];

		failed = pthread_create(&member->thread, NULL, member_main, member);
		started += !failed;
	}
	if (failed)
		atomic_store(&crew->stopped, true);
	for (uint32_t k = 0; k < started; k++) {
		pthread_join(crew->members[k].thread, NULL);
		if (crew->members[k].error.text[0])
			*error = crew->members[k].error;
	}
	if (failed)
		return error_set(error, "cannot start a thread: %s", strerror(failed));
	return !atomic_load(&crew->stopped) ||
	       error_set(error, "threads waited for each other for too long");
}

bool crew_run(const struct host *host, const uint32_t *order, uint32_t count, double seconds,
	      crew_body *body, void *argument, struct error *error)
{
	struct crew crew = { .count = count,
			     .deadline = host_monotonic_ns() + (uint64_t)(seconds * 1e9),
			     .body = body,
			     .argument = argument,
			     .members = calloc(count, sizeof(*crew.members)) };
	bool done;

	if (!crew.members)
		return error_set(error, "out of memory");
	for (uint32_t k = 0; k < count; k++) {
		struct member *member = &crew.members[k];

		member->crew = member->self.crew = &crew;
		member->self.index = k;
		member->cpu = &host->cpus[order[k]];
	}
	done = run_members(&crew, error);
	free(crew.members);
	return done;
}
