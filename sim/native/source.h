/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What real threads take from a workload that was built for simulated ones. Both call their threads
 * `struct thread`, so that no file can see both; what passes between them passes here. */
#ifndef NATIVE_SOURCE_H
#define NATIVE_SOURCE_H

#include "config/error.h"
#include "engine/random.h"
#include "native/bodies.h"
#include <stdint.h>

struct build;

/* One thread of the workload. */
struct native_source {
	native_body *body;     /* the same code, compiled for real threads */
	void *argument;        /* the same object */
	const void *simulated; /* the thread that it stands for */
	struct random random;  /* the stream that thread begins with */
};

uint32_t native_source_count(const struct build *build);
/* The k-th. False with *error set where its code is not in MODEL_BODIES. */
bool native_source(const struct build *build, uint32_t k, struct native_source *source,
		   struct error *error);

/* The build's objects laid out on the host: workload/memory.h, memory_realize. */
unsigned char *native_realize(struct build *build, struct error *error);

#endif
