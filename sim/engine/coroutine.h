/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Coroutines: a simulated thread is ordinary C that may stop in the middle of any access. */
#ifndef ENGINE_COROUTINE_H
#define ENGINE_COROUTINE_H

#include <stdbool.h>
#include <stddef.h>

struct coroutine;

/* A coroutine that will run body(argument) on a stack of its own, of at least `stack` bytes, below
 * which a guard page ends the process rather than let an overflow reach other memory. NULL without
 * memory. */
struct coroutine *coroutine_new(size_t stack, void (*body)(void *argument), void *argument);

/* Frees it, finished or not. Must not be called from inside it. */
void coroutine_free(struct coroutine *coroutine);

/* Runs it until it yields or its body returns. Not after it has finished. */
void coroutine_resume(struct coroutine *coroutine);

/* Called inside the coroutine: goes back to whoever resumed it. */
void coroutine_yield(struct coroutine *coroutine);

bool coroutine_finished(const struct coroutine *coroutine);

#endif
