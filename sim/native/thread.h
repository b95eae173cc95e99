/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hardware threads of the host, to code under study: what machine/thread.h is to that code in the
 * simulator. An access is a C11 atomic operation at base + offset, the offset taken at run time from
 * the same layout file.
 *
 * Included by models/ alone, when they are compiled with ACCESS_NATIVE, and by what runs them. */
#ifndef NATIVE_THREAD_H
#define NATIVE_THREAD_H

#include "engine/random.h"
#include "machine/place.h"
#include "native/host.h"
#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { NATIVE_ALIGN = 128, NATIVE_SPINS = 1 << 12 };

/* Nothing of another thread lies on the same lines. */
struct thread {
	_Alignas(NATIVE_ALIGN) unsigned char
		*base; /* where address 0 of simulated memory would be */
	const atomic_bool *stop;
	jmp_buf out; /* of the body, at the end of an operation, once *stop is set */
	struct random random;
	struct host_clock clock;
	double cycles_per_tick;       /* of the core */
	uint64_t done[OPERATION_MAX]; /* operations that ended */
	uint64_t awaited;
	const struct native_crew *crew;
	const void *mate;     /* whom this thread signalled last, */
	struct thread *found; /* and the thread that stands for it */
	_Alignas(NATIVE_ALIGN) atomic_ulong signals;
};

/* The thread that stands for a simulated one. */
struct thread *native_thread_of(const struct native_crew *crew, const void *simulated);

/* ---- accesses ------------------------------------------------------------------------------- */

/* Nearly all fields have eight bytes. */
#define NATIVE_BY_SIZE(place, ACT)                     \
	if (__builtin_expect((place)->size == 8, 1)) { \
		ACT(uint64_t)                          \
	} else if ((place)->size == 4) {               \
		ACT(uint32_t)                          \
	} else if ((place)->size == 2) {               \
		ACT(uint16_t)                          \
	} else {                                       \
		ACT(uint8_t)                           \
	}

#define NATIVE_AT(type) ((_Atomic(type) *)(void *)(self->base + place->address))

static inline uint64_t thread_load(struct thread *self, const struct place *place)
{
	uint64_t value = 0;

#define ACT(type) value = atomic_load_explicit(NATIVE_AT(type), memory_order_relaxed);
	NATIVE_BY_SIZE(place, ACT)
#undef ACT
	return value;
}

static inline void thread_store(struct thread *self, const struct place *place, uint64_t value)
{
#define ACT(type) atomic_store_explicit(NATIVE_AT(type), (type)value, memory_order_relaxed);
	NATIVE_BY_SIZE(place, ACT)
#undef ACT
}

/* Locked operations; each a full barrier. */
static inline uint64_t thread_rmw(struct thread *self, const struct place *place, enum rmw rmw,
				  uint64_t operand, uint64_t expected)
{
	uint64_t old = 0;

#define ACT(type)                                                                      \
	if (rmw == RMW_ADD || rmw == RMW_STADD) {                                      \
		old = atomic_fetch_add(NATIVE_AT(type), (type)operand);                \
	} else if (rmw == RMW_XCHG) {                                                  \
		old = atomic_exchange(NATIVE_AT(type), (type)operand);                 \
	} else {                                                                       \
		type seen = (type)expected;                                            \
		atomic_compare_exchange_strong(NATIVE_AT(type), &seen, (type)operand); \
		old = seen;                                                            \
	}
	NATIVE_BY_SIZE(place, ACT)
#undef ACT
	return old;
}

static inline void thread_fence(struct thread *self)
{
	(void)self;
	atomic_thread_fence(memory_order_seq_cst);
}

/* The core finds out by itself what may be in flight together. */
static inline void thread_together(struct thread *self, const struct place *const *places,
				   uint32_t count)
{
	(void)self;
	(void)places;
	(void)count;
}

/* ---- work, operations, signals -------------------------------------------------------------- */

/* Additions that wait for each other take a cycle each. */
static inline void thread_work(struct thread *self, double cycles)
{
	(void)self;
	for (uint64_t left = cycles > 0 ? (uint64_t)(cycles + 0.5) : 0; left > 0; left--)
		__asm__ volatile("" : "+r"(left));
}

/* Reading it takes some tens of cycles. */
static inline uint64_t thread_now(const struct thread *self)
{
	return (uint64_t)((double)host_ticks(&self->clock) * self->cycles_per_tick);
}

static inline void thread_move_on(struct thread *self, uint64_t begin, bool touched)
{
	(void)self;
	(void)begin;
	(void)touched;
}

static inline void thread_begin(struct thread *self, uint32_t operation)
{
	(void)self;
	(void)operation;
}

static inline void native_stop_here(struct thread *self)
{
	if (__builtin_expect(atomic_load_explicit(self->stop, memory_order_relaxed), 0))
		longjmp(self->out, 1);
}

static inline void thread_end(struct thread *self, uint32_t operation)
{
	self->done[operation]++;
	native_stop_here(self);
}

static inline void thread_pace(struct thread *self, uint64_t until)
{
	while (thread_now(self) < until)
		native_stop_here(self);
}

static inline void thread_signal(struct thread *self, const void *other)
{
	if (self->mate != other) {
		self->found = native_thread_of(self->crew, other);
		self->mate = other;
	}
	atomic_fetch_add(&self->found->signals, 1);
}

static inline void thread_await(struct thread *self)
{
	for (uint32_t spins = 1; atomic_load(&self->signals) == self->awaited; spins++) {
		native_stop_here(self);
		if (spins % NATIVE_SPINS == 0)
			sched_yield();
	}
	self->awaited++;
}

#endif
