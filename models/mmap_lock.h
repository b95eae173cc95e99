/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads of one process that map anonymous memory and unmap it again, all under the process's one
 * mmap_lock: will-it-scale's mmap1 and mmap2 in threads.
 *
 * Written from the order of accesses in mm/mmap.c of Linux v5.13, do_mmap() and mmap_region(), and
 * __vm_munmap() and __do_munmap() with what they call (get_unmapped_area, arch_get_unmapped_area_topdown,
 * may_expand_vm, vma_merge, vm_stat_account; find_vma, __split_vma, detach_vmas_to_be_unmapped,
 * unmap_region, remove_vma_list); no text is copied. The fields of mm_struct are here, the areas
 * themselves are work. All regions have one size and the same rights, so that a new one grows a neighbour
 * (vma_merge) and one that goes is split off it (__split_vma), as in the published profiles. */
#ifndef MODELS_MMAP_LOCK_H
#define MODELS_MMAP_LOCK_H

#include "models/rwsem.h"

struct mm_struct {
	struct rw_semaphore mmap_lock;
	struct place mm_rb, vmacache_seqnum, get_unmapped_area, mmap_base;
	struct place highest_vm_end, pgd, map_count;
	struct place hiwater_rss, hiwater_vm, total_vm, locked_vm, data_vm, def_flags;
};

struct mmap_rules {
	int64_t pages;  /* of a region */
	double map;     /* cycles that mmap works under the lock */
	double unmap;   /* that munmap does before it lets readers in, */
	double release; /* and after that */
	double outside; /* of both system calls and the caller, without the lock */
	double start;   /* threads begin at random within so many: their order in a queue is kept */
	double away_chance; /* that a thread is away before an operation, */
	double away;        /* for so many cycles on average */
	double jitter;      /* work varies uniformly by so much either way: 0 .. 1 */
};

struct mmap_worker {
	const struct mmap_rules *rules;
	struct mm_struct *mm;
	struct rwsem_task *task;
	int64_t seqnum; /* of the task's own cache of areas */
	uint64_t unmaps;
};

/* A thread's body; its argument is a struct mmap_worker. Does not return. An operation is one mapping
 * made and removed. */
void mmap_repeat(struct thread *self, void *worker);

#endif
