/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stackful coroutines. On x86-64 and AArch64 a switch saves the callee-saved registers on the stack
 * and exchanges stack pointers, a few nanoseconds; elsewhere ucontext does it with two system
 * calls. The sanitizers are told of each switch, or they would take one stack's frames for
 * another's. */
#include "engine/coroutine.h"
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TSAN 1
#endif
#endif

#ifdef ASAN
#include <sanitizer/asan_interface.h>
enum { STACK_FACTOR = 4 }; /* red zones */
#else
enum { STACK_FACTOR = 1 };
#endif
#ifdef TSAN
#include <sanitizer/tsan_interface.h>
#endif

#if defined(__x86_64__) || defined(__aarch64__)
typedef void *machine_context; /* the saved stack pointer */
#else
#include <ucontext.h>
typedef ucontext_t machine_context;
#endif

struct coroutine {
	machine_context self, caller;
	void (*body)(void *);
	void *argument;
	bool finished;
	void *mapping; /* guard page, then the stack */
	size_t mapped;
#ifdef ASAN
	void *self_fake;
	const void *caller_bottom;
	size_t caller_size;
#endif
#ifdef TSAN
	void *self_fiber, *caller_fiber;
#endif
};

#if defined(__x86_64__)
__asm__(".text\n"
	".type hitm_switch, @function\n"
	"hitm_switch:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	"
	"push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	"
	"pop %rbp\n"
	"	ret\n"
	".size hitm_switch, . - hitm_switch\n"
	".type hitm_start, @function\n"
	"hitm_start:\n" /* the argument waits in rbx, the entry point in r12 */
	"	mov %rbx, %rdi\n"
	"	xor %ebp, %ebp\n"
	"	call *%r12\n"
	"	ud2\n"
	".size hitm_start, . - hitm_start\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".type hitm_switch, %function\n"
	"hitm_switch:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp, #0]\n	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n	stp d14, d15, [sp, #144]\n"
	"	mov x2, sp\n	str x2, [x0]\n"
	"	mov sp, x1\n"
	"	ldp x19, x20, [sp, #0]\n	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n"
	"	ret\n"
	".size hitm_switch, . - hitm_switch\n"
	".type hitm_start, %function\n"
	"hitm_start:\n" /* the argument waits in x19, the entry point in x20 */
	"	mov x0, x19\n"
	"	blr x20\n"
	"	brk #1\n"
	".size hitm_start, . - hitm_start\n");
#endif

#if defined(__x86_64__) || defined(__aarch64__)
void hitm_switch(machine_context *save, machine_context load) __asm__("hitm_switch");
void hitm_start(void) __asm__("hitm_start");

static void context_switch(machine_context *save, machine_context *load)
{
	hitm_switch(save, *load);
}
#else
static void context_switch(machine_context *save, machine_context *load)
{
	swapcontext(save, load);
}
#endif

/* Leaves through `leave`, which is kept to come back to, and enters `enter`. */
static void switch_in(struct coroutine *coroutine)
{
#ifdef ASAN
	void *fake;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	__sanitizer_start_switch_fiber(&fake, (char *)coroutine->mapping + page,
				       coroutine->mapped - page);
#endif
#ifdef TSAN
	coroutine->caller_fiber = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(coroutine->self_fiber, 0);
#endif
	context_switch(&coroutine->caller, &coroutine->self);
#ifdef ASAN
	__sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

static void switch_out(struct coroutine *coroutine)
{
#ifdef ASAN
	__sanitizer_start_switch_fiber(coroutine->finished ? NULL : &coroutine->self_fake,
				       coroutine->caller_bottom, coroutine->caller_size);
#endif
#ifdef TSAN
	__tsan_switch_to_fiber(coroutine->caller_fiber, 0);
#endif
	context_switch(&coroutine->self, &coroutine->caller);
#ifdef ASAN
	__sanitizer_finish_switch_fiber(coroutine->self_fake, &coroutine->caller_bottom,
					&coroutine->caller_size);
#endif
}

static void coroutine_main(struct coroutine *coroutine)
{
#ifdef ASAN
	__sanitizer_finish_switch_fiber(NULL, &coroutine->caller_bottom, &coroutine->caller_size);
#endif
	coroutine->body(coroutine->argument);
	coroutine->finished = true;
	switch_out(coroutine);
}

#if defined(__x86_64__)
static void context_make(struct coroutine *coroutine, size_t page)
{
	uint64_t *top = (uint64_t *)((char *)coroutine->mapping + coroutine->mapped);

	(void)page;
	/* As hitm_switch leaves a stack: r15 r14 r13 r12 rbx rbp, return address; 16-byte aligned
	 * at hitm_start's call. */
	top -= 9;
	top[3] = (uint64_t)(uintptr_t)coroutine_main;
	top[4] = (uint64_t)(uintptr_t)coroutine;
	top[6] = (uint64_t)(uintptr_t)hitm_start;
	coroutine->self = top;
}
#elif defined(__aarch64__)
static void context_make(struct coroutine *coroutine, size_t page)
{
	uint64_t *top = (uint64_t *)((char *)coroutine->mapping + coroutine->mapped);

	(void)page;
	top -= 20;
	top[0] = (uint64_t)(uintptr_t)coroutine;      /* x19 */
	top[1] = (uint64_t)(uintptr_t)coroutine_main; /* x20 */
	top[11] = (uint64_t)(uintptr_t)hitm_start;    /* x30 */
	coroutine->self = top;
}
#else
static void coroutine_enter(unsigned high, unsigned low)
{
	coroutine_main((struct coroutine *)(uintptr_t)((uint64_t)high << 32 | low));
}

static void context_make(struct coroutine *coroutine, size_t page)
{
	uint64_t self = (uint64_t)(uintptr_t)coroutine;

	getcontext(&coroutine->self);
	coroutine->self.uc_stack.ss_sp = (char *)coroutine->mapping + page;
	coroutine->self.uc_stack.ss_size = coroutine->mapped - page;
	coroutine->self.uc_link = NULL;
	makecontext(&coroutine->self, (void (*)(void))coroutine_enter, 2, (unsigned)(self >> 32),
		    (unsigned)self);
}
#endif

struct coroutine *coroutine_new(size_t stack, void (*body)(void *), void *argument)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct coroutine *coroutine = calloc(1, sizeof(*coroutine));

	if (!coroutine)
		return NULL;
	coroutine->body = body;
	coroutine->argument = argument;
	coroutine->mapped = page + (stack * STACK_FACTOR + page - 1) / page * page;
	coroutine->mapping = mmap(NULL, coroutine->mapped, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (coroutine->mapping == MAP_FAILED || mprotect(coroutine->mapping, page, PROT_NONE)) {
		if (coroutine->mapping != MAP_FAILED)
			munmap(coroutine->mapping, coroutine->mapped);
		free(coroutine);
		return NULL;
	}
	context_make(coroutine, page);
#ifdef TSAN
	coroutine->self_fiber = __tsan_create_fiber(0);
#endif
	return coroutine;
}

void coroutine_free(struct coroutine *coroutine)
{
	if (!coroutine)
		return;
#ifdef TSAN
	__tsan_destroy_fiber(coroutine->self_fiber);
#endif
#ifdef ASAN
	/* A body left midway has red zones on its stack; what is mapped there next must not. */
	__asan_unpoison_memory_region(coroutine->mapping, coroutine->mapped);
#endif
	munmap(coroutine->mapping, coroutine->mapped);
	free(coroutine);
}

void coroutine_resume(struct coroutine *coroutine)
{
	switch_in(coroutine);
}

void coroutine_yield(struct coroutine *coroutine)
{
	switch_out(coroutine);
}

bool coroutine_finished(const struct coroutine *coroutine)
{
	return coroutine->finished;
}
