/* SPDX-License-Identifier: GPL-2.0-or-later */
/* models/mmap_lock.c set up.
 *
 *   model: mmap_lock
 *   threads: N
 *   work: TIME                 under the lock, of mmap and munmap together
 *   map_share: X               of that, by mmap
 *   release_share: X           of munmap's, after it lets readers in
 *   outside: TIME              of both system calls, without the lock
 *   jitter: X                  work varies uniformly by so much either way
 *   away_chance: X             that a thread is away before its next operation,
 *   away: TIME                 for so long on average
 *   pause: TIME                of cpu_relax(), in what spins
 *   pages: N                   of a mapping
 *   placement: compact or spread
 *
 * The structs are mm_struct, optimistic_spin_node and task_struct. An operation is a mapping made and
 * removed. */
#include "models/mmap_lock.h"
#include "workload/workload.h"
#include <inttypes.h>
#include <stdio.h>

enum { AREAS = 100, MAPPED_PAGES = 1 << 16 };

struct settings {
	uint32_t threads, pages;
	int placement;
	struct duration work, outside, pause, away;
	double map_share, release_share, jitter, away_chance;
	const char *model;
};

#define SETTING(key, kind, member, ...)                                                 \
	{                                                                               \
		.name = key, .type = kind, .offset = offsetof(struct settings, member), \
		__VA_ARGS__                                                             \
	}
static const struct key keys[] = {
	SETTING("model", VALUE_STRING, model),
	SETTING("threads", VALUE_COUNT, threads, .min = 1, .max = MACHINE_CPUS_MAX),
	SETTING("work", VALUE_DURATION, work, .max = 1e9),
	SETTING("map_share", VALUE_REAL, map_share, .max = 1),
	SETTING("release_share", VALUE_REAL, release_share, .max = 1),
	SETTING("outside", VALUE_DURATION, outside, .max = 1e9),
	SETTING("jitter", VALUE_REAL, jitter, .max = 1),
	SETTING("away_chance", VALUE_REAL, away_chance, .max = 1),
	SETTING("away", VALUE_DURATION, away, .max = 1e9),
	SETTING("pause", VALUE_DURATION, pause, .max = 1e6),
	SETTING("pages", VALUE_COUNT, pages, .min = 1, .max = 1u << 31),
	SETTING("placement", VALUE_CHOICE, placement, .choices = placement_names),
	{ 0 },
};

static const struct settings defaults = {
	.threads = 1,
	.pages = 32768, /* 128 MiB */
	.placement = PLACEMENT_COMPACT,
	.work = { .value = 2000 },
	.outside = { .value = 240 },
	.pause = { .value = 70 },
	.map_share = 0.42,
	.release_share = 0.4,
	.jitter = 0.2,
};

/* ---- objects -------------------------------------------------------------------------------- */

#define FIELD(type, field)                                 \
	{                                                  \
#field, NULL, offsetof(struct type, field) \
	}
static const struct binding mm_bindings[] = {
	FIELD(mm_struct, mmap_lock.count),
	FIELD(mm_struct, mmap_lock.owner),
	FIELD(mm_struct, mmap_lock.osq),
	FIELD(mm_struct, mm_rb),
	FIELD(mm_struct, vmacache_seqnum),
	FIELD(mm_struct, get_unmapped_area),
	FIELD(mm_struct, mmap_base),
	FIELD(mm_struct, highest_vm_end),
	FIELD(mm_struct, pgd),
	FIELD(mm_struct, map_count),
	FIELD(mm_struct, hiwater_rss),
	FIELD(mm_struct, hiwater_vm),
	FIELD(mm_struct, total_vm),
	FIELD(mm_struct, locked_vm),
	FIELD(mm_struct, data_vm),
	FIELD(mm_struct, def_flags),
	{ 0 },
};
static const struct binding node_bindings[] = {
	FIELD(rwsem_task, next),
	FIELD(rwsem_task, prev),
	FIELD(rwsem_task, locked),
	FIELD(rwsem_task, cpu),
	{ 0 },
};
static const struct binding task_bindings[] = { FIELD(rwsem_task, on_cpu), { 0 } };

/* Places an object and fills its part of a handle; the model touches every field of the bindings. */
static bool place(struct build *build, const char *structure, const char *otherwise,
		  const char *name, uint32_t socket, const struct binding *bindings, void *handle,
		  struct error *error)
{
	const struct layout *layout = build_layout(build, structure, otherwise, error);
	uint32_t number;

	if (!layout)
		return false;
	number = memory_place(&build->memory, layout, name, LINE_MAX, socket, error);
	if (error->text[0] || !memory_bind(&build->memory, number, bindings, handle, error))
		return false;
	for (const struct binding *b = bindings; b->field; b++) {
		const struct place *bound = (void *)((char *)handle + b->place);

		if (!bound->size)
			return error_set(error, "the layout %s of %s has no %s", layout->name,
					 structure, b->field);
	}
	return true;
}

/* What is kept for the verification at the end. */
struct mmap_case {
	struct mm_struct mm;
	struct mmap_rules rules;
	uint32_t threads;
	struct rwsem_task **task; /* by number */
	struct mmap_worker *worker;
};

static struct rwsem_task *make_task(struct build *build, const struct settings *settings,
				    struct mmap_case *all, uint32_t k, struct error *error)
{
	uint32_t socket = build_socket(build, build_cpu(build, k));
	struct rwsem_task *task = build_memory(build, sizeof(*task), error);
	char name[24];

	if (!task)
		return NULL;
	snprintf(name, sizeof(name), "task %u", k);
	if (!place(build, "task_struct", "task_struct-model", name, socket, task_bindings, task,
		   error))
		return NULL;
	snprintf(name, sizeof(name), "osq node %u", k);
	if (!place(build, "optimistic_spin_node", "optimistic_spin_node-5.13", name, socket,
		   node_bindings, task, error))
		return NULL;
	memory_set(&build->memory, &task->on_cpu, 1);
	task->number = k;
	task->by_number = all->task;
	task->pause = (double)duration_cycles(settings->pause, build->machine->config.clock);
	all->task[k] = task;
	return task;
}

static struct mmap_rules rules_of(const struct settings *settings, double clock)
{
	double work = (double)duration_cycles(settings->work, clock),
	       unmap = work * (1 - settings->map_share);

	return (struct mmap_rules){
		.pages = settings->pages,
		.map = work * settings->map_share,
		.unmap = unmap * (1 - settings->release_share),
		.release = unmap * settings->release_share,
		.outside = (double)duration_cycles(settings->outside, clock),
		.start = work * settings->threads,
		.away_chance = settings->away_chance,
		.away = (double)duration_cycles(settings->away, clock),
		.jitter = settings->jitter,
	};
}

static bool make_mm(struct build *build, struct mm_struct *mm, struct error *error)
{
	struct memory *memory = &build->memory;

	if (!place(build, "mm_struct", "mm_struct-57efa1fe59", "mm", 0, mm_bindings, mm, error))
		return false;
	memory_set(memory, &mm->map_count, AREAS);
	memory_set(memory, &mm->total_vm, MAPPED_PAGES);
	memory_set(memory, &mm->data_vm, MAPPED_PAGES);
	return true;
}

static bool build_mmap_lock(struct build *build, const void *from, struct error *error)
{
	const struct settings *settings = from;
	struct mmap_case *all = build_memory(build, sizeof(*all), error);

	if (!all)
		return false;
	build->own = all;
	build->placement = (enum placement)settings->placement;
	all->rules = rules_of(settings, build->machine->config.clock);
	all->threads = settings->threads;
	all->task = build_memory(build, settings->threads * sizeof(*all->task), error);
	all->worker = build_memory(build, settings->threads * sizeof(*all->worker), error);
	if (!all->task || !all->worker || !make_mm(build, &all->mm, error))
		return false;
	for (uint32_t k = 0; k < settings->threads; k++) {
		struct rwsem_task *task = make_task(build, settings, all, k, error);
		struct mmap_worker *worker = &all->worker[k];

		if (!task)
			return false;
		*worker =
			(struct mmap_worker){ .rules = &all->rules, .mm = &all->mm, .task = task };
		if (!machine_thread(build->machine, build_cpu(build, k), mmap_repeat, worker,
				    error))
			return false;
	}
	return true;
}

/* ---- at rest -------------------------------------------------------------------------------- */

/* The counts are plain reads and writes: they add up because nobody wrote beside the lock's owner. The
 * last to let go was a reader, so the owner that stays is stale. */
static bool verify(const struct build *build, struct error *error)
{
	const struct mmap_case *all = build->own;
	const struct mm_struct *mm = &all->mm;
	uint64_t unmaps = 0;

	for (uint32_t k = 0; k < all->threads; k++)
		unmaps += all->worker[k].unmaps;

	const struct {
		const char *what;
		const struct place *place;
		uint64_t expected;
	} counts[] = {
		{ "mmap_lock.count", &mm->mmap_lock.count, 0 },
		{ "mmap_lock.osq", &mm->mmap_lock.osq, 0 },
		{ "vmacache_seqnum", &mm->vmacache_seqnum, unmaps },
		{ "map_count", &mm->map_count, AREAS },
		{ "total_vm", &mm->total_vm, MAPPED_PAGES },
		{ "data_vm", &mm->data_vm, MAPPED_PAGES },
	};

	for (size_t k = 0; k < sizeof(counts) / sizeof(*counts); k++) {
		uint64_t got = memory_get(&build->memory, counts[k].place);

		if (got != counts[k].expected)
			return error_set(error, "mmap_lock: %s is %" PRIu64 ", expected %" PRIu64,
					 counts[k].what, got, counts[k].expected);
	}
	return true;
}

static const char *const operations[] = { "mapping", NULL };
static const char *const structs[] = { "mm_struct", "optimistic_spin_node", "task_struct", NULL };

const struct workload_model workload_mmap_lock = {
	.name = "mmap_lock",
	.about = "threads of one process that map and unmap anonymous memory, under its mmap_lock",
	.keys = keys,
	.size = sizeof(struct settings),
	.defaults = &defaults,
	.operations = operations,
	.structs = structs,
	.build = build_mmap_lock,
	.verify = verify,
};
