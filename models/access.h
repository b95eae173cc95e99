/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What code under study is written against, once.
 *
 * An object of the code under study is a C struct of *places*, one a field, with the names that the fields
 * have:
 *
 *	struct page_counter { struct place usage, min, low; ... };
 *
 * LOAD(counter, usage) reads the field `usage` of the object that `counter` stands for. Where the field
 * lies is not known to the compiler: offsets come from a layout file at run time (workload/memory.h binds
 * them). A place is an address of simulated memory, and an access may stop the thread. Every function
 * takes `struct thread *self`, the thread that runs it; the ACCESS_ macros are all that knows of the
 * simulator. */
#ifndef MODELS_ACCESS_H
#define MODELS_ACCESS_H

#ifdef ACCESS_NATIVE
#include "native/thread.h"
enum { ACCESS_SIMULATED = 0 };
#else
#include "machine/thread.h"
enum { ACCESS_SIMULATED = 1 };
#endif
#include <stdbool.h>
#include <stdint.h>

#define ACCESS_LOAD(place)                  thread_load(self, place)
#define ACCESS_STORE(place, value)          thread_store(self, place, value)
#define ACCESS_RMW(place, op, operand, old) thread_rmw(self, place, op, operand, old)
#define ACCESS_TOGETHER(places, count)      thread_together(self, places, count)
#define ACCESS_WORK(cycles)                 thread_work(self, cycles)
#define ACCESS_BEGIN(operation)             thread_begin(self, operation)
#define ACCESS_END(operation)               thread_end(self, operation)
#define ACCESS_SIGNAL(other)                thread_signal(self, other)
#define ACCESS_AWAIT()                      thread_await(self)
#define ACCESS_RANDOM()                     random_real(&self->random)
#define ACCESS_FENCE()                      thread_fence(self)
#define ACCESS_NOW()                        thread_now(self)
#define ACCESS_PACE(until)                  thread_pace(self, until)
#define ACCESS_MOVE_ON(begin, touched)      thread_move_on(self, begin, touched)

/* Has the layout this field? Kernel versions differ. */
#define HAS(object, field) ((object)->field.size != 0)

/* A plain read and write, as READ_ONCE and WRITE_ONCE. */
#define LOAD(object, field)         ((int64_t)ACCESS_LOAD(&(object)->field))
#define STORE(object, field, value) ACCESS_STORE(&(object)->field, (uint64_t)(value))

/* Locked operations. ADD returns nothing (lock add); ADD_RETURN the new value (lock xadd), XCHG and
 * CMPXCHG the old one. */
#define ADD(object, field, value) \
	((void)ACCESS_RMW(&(object)->field, RMW_STADD, (uint64_t)(value), 0))
#define ADD_RETURN(object, field, value) \
	((int64_t)ACCESS_RMW(&(object)->field, RMW_ADD, (uint64_t)(value), 0) + (int64_t)(value))
#define XCHG(object, field, value) \
	((int64_t)ACCESS_RMW(&(object)->field, RMW_XCHG, (uint64_t)(value), 0))
#define CMPXCHG(object, field, old, new) \
	((int64_t)ACCESS_RMW(&(object)->field, RMW_CMPXCHG, (uint64_t)(new), (uint64_t)(old)))

/* A field that points to another object: the handle of that object, or NULL. */
#define FOLLOW(type, object, field) ((type *)(uintptr_t)LOAD(object, field))

/* Reads that an out-of-order core has in flight together: TOGETHER(PLACE(a, x), PLACE(b, y)) says
 * that a->x and b->y will be read, in this order, before the next locked operation. It reads
 * nothing itself, and is nothing natively. */
#define PLACE(object, field) (&(object)->field)
#define TOGETHER(...)                                                          \
	ACCESS_TOGETHER(((const struct place *const[]){ __VA_ARGS__ }),        \
			sizeof((const struct place *const[]){ __VA_ARGS__ }) / \
				sizeof(const struct place *))

/* Computation that touches no memory of interest, in core cycles. */
#define WORK(cycles) ACCESS_WORK(cycles)

/* An operation whose rate and latency are of interest, by its number. */
#define BEGIN(operation) ACCESS_BEGIN(operation)
#define END(operation)   ACCESS_END(operation)

/* Lets another thread pass one AWAIT. */
#define SIGNAL(other) ACCESS_SIGNAL(other)
#define AWAIT()       ACCESS_AWAIT()

/* mfence: every earlier store is visible. */
#define FULL_FENCE() ACCESS_FENCE()

/* The thread's clock, in core cycles; and waiting until it says so. */
#define NOW()       ACCESS_NOW()
#define PACE(until) ACCESS_PACE(until)

/* At the end of an operation that may have done nothing, or touched no memory: to be said by code
 * that repeats what it does not know, so that simulated time goes on and others have their turn. */
#define MOVE_ON(begin, touched) ACCESS_MOVE_ON(begin, touched)

/* Uniform in [0, 1), from the thread's own stream. */
#define RANDOM() ACCESS_RANDOM()

#endif
