/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What mm/page_counter.c and include/linux/page_counter.h of a kernel tree need from the rest of
 * the kernel, for x86-64 user space. Every header beside this one is this one: the kernel's code
 * is compiled with -nostdinc, so that what is missing here is an error and comes from nowhere
 * else.
 *
 * Atomics are sequentially consistent, as the kernel's value-returning ones are; those that
 * return nothing become `lock add`, as in the kernel. */
#ifndef TESTS_KERNEL_SHIM_H
#define TESTS_KERNEL_SHIM_H

/* The model's functions have these names too. */
#define page_counter_try_charge kernel_page_counter_try_charge
#define page_counter_charge     kernel_page_counter_charge
#define page_counter_cancel     kernel_page_counter_cancel
#define page_counter_uncharge   kernel_page_counter_uncharge
#define page_counter_set_max    kernel_page_counter_set_max
#define page_counter_set_min    kernel_page_counter_set_min
#define page_counter_set_low    kernel_page_counter_set_low
#define page_counter_memparse   kernel_page_counter_memparse

typedef _Bool bool;
typedef unsigned long long u64;

#define true 1
#define false 0
#define NULL          ((void *)0)
#define LONG_MAX      __LONG_MAX__
#define BITS_PER_LONG 64
#define PAGE_SIZE     4096UL
#define EBUSY         16
#define EINVAL        22

#define ____cacheline_internodealigned_in_smp __attribute__((__aligned__(64)))
struct cacheline_padding {
	char x[0];
} ____cacheline_internodealigned_in_smp;
#define CACHELINE_PADDING(name) struct cacheline_padding name

#define READ_ONCE(x)         (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))
#define data_race(access)    (access)
#define cond_resched()       ((void)0)
#define WARN_ONCE(condition, ...)          \
	__extension__({                    \
		bool warned = (condition); \
		warned;                    \
	})
#define min(a, b)                                           \
	__extension__({                                     \
		__typeof__(a) min_a = (a);                  \
		__typeof__(b) min_b = (b);                  \
		(void)(&min_a == &min_b); /* of one type */ \
		min_a < min_b ? min_a : min_b;              \
	})

typedef struct {
	long counter;
} atomic_long_t;

#define ATOMIC_LONG_INIT(value) \
	{                       \
		(value)         \
	}
#define atomic_long_read(v)          READ_ONCE((v)->counter)
#define atomic_long_set(v, value)    WRITE_ONCE((v)->counter, value)
#define atomic_long_add(n, v)        ((void)__atomic_add_fetch(&(v)->counter, n, __ATOMIC_SEQ_CST))
#define atomic_long_sub(n, v)        ((void)__atomic_sub_fetch(&(v)->counter, n, __ATOMIC_SEQ_CST))
#define atomic_long_add_return(n, v) __atomic_add_fetch(&(v)->counter, n, __ATOMIC_SEQ_CST)
#define atomic_long_sub_return(n, v) __atomic_sub_fetch(&(v)->counter, n, __ATOMIC_SEQ_CST)
#define atomic_long_xchg(v, value)   __atomic_exchange_n(&(v)->counter, value, __ATOMIC_SEQ_CST)
#define xchg(address, value)         __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST)

int strcmp(const char *left, const char *right);
unsigned long long strtoull(const char *text, char **end, int base);

/* A number with a suffix K, M, G, T, P or E, powers of 1024. */
static inline unsigned long long memparse(const char *text, char **end)
{
	static const char suffixes[] = "KkMmGgTtPpEe";
	unsigned long long value = strtoull(text, end, 0);

	for (int k = 0; k < 12; k++)
		if (**end == suffixes[k]) {
			++*end;
			return value << 10 * (k / 2 + 1);
		}
	return value;
}

#endif
