/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/source.h"
#include "models/bodies.h"
#include "workload/workload.h"

/* In the order of native_bodies. */
#define BODY(name) name,
static void (*const bodies[])(struct thread *, void *) = { MODEL_BODIES(BODY) };
#undef BODY

uint32_t native_source_count(const struct build *build)
{
	return build->machine->thread_count;
}

bool native_source(const struct build *build, uint32_t k, struct native_source *source,
		   struct error *error)
{
	const struct thread *thread = build->machine->threads[k];

	for (size_t b = 0; b < sizeof(bodies) / sizeof(*bodies); b++) {
		if (bodies[b] != thread->body)
			continue;
		*source = (struct native_source){ .body = native_bodies[b],
						  .argument = thread->argument,
						  .simulated = thread,
						  .random = thread->random };
		return true;
	}
	return error_set(error, "thread %u runs code that is not compiled for real threads", k);
}

unsigned char *native_realize(struct build *build, struct error *error)
{
	return memory_realize(&build->memory, error);
}
