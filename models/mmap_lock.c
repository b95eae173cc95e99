/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/mmap_lock.h"

static void work(struct thread *self, const struct mmap_rules *rules, double cycles)
{
	WORK(cycles * (1 + rules->jitter * (2 * RANDOM() - 1)));
}

/* A plain read and write: the lock is all that makes it add up. */
#define COUNT(object, field, by) STORE(object, field, LOAD(object, field) + (by))

/* vm_stat_account(), of private memory that may be written. */
static void account(struct thread *self, struct mm_struct *mm, int64_t pages)
{
	COUNT(mm, total_vm, pages);
	COUNT(mm, data_vm, pages);
}

static void map(struct thread *self, struct mmap_worker *worker)
{
	const struct mmap_rules *rules = worker->rules;
	struct mm_struct *mm = worker->mm;

	rwsem_down_write(self, &mm->mmap_lock, worker->task);
	/* Is there room for one more, and where? */
	TOGETHER(PLACE(mm, map_count), PLACE(mm, get_unmapped_area), PLACE(mm, mmap_base),
		 PLACE(mm, mm_rb), PLACE(mm, highest_vm_end));
	(void)LOAD(mm, map_count);
	(void)LOAD(mm, get_unmapped_area);
	(void)LOAD(mm, mmap_base);
	(void)LOAD(mm, mm_rb);
	(void)LOAD(mm, highest_vm_end);
	work(self, rules, rules->map / 2);
	(void)LOAD(mm, def_flags);
	(void)LOAD(mm, total_vm);
	(void)LOAD(mm, data_vm);
	(void)LOAD(mm, mm_rb);
	work(self, rules, rules->map / 2);
	account(self, mm, rules->pages);
	rwsem_up_write(self, &mm->mmap_lock);
}

/* The task's own cache of areas is good for as long as no area has gone. */
static void find_vma(struct thread *self, struct mmap_worker *worker)
{
	int64_t seqnum = LOAD(worker->mm, vmacache_seqnum);

	if (seqnum == worker->seqnum)
		return;
	worker->seqnum = seqnum;
	(void)LOAD(worker->mm, mm_rb);
}

/* Takes the areas of the region out of the tree, under the lock for writing. */
static void detach(struct thread *self, struct mmap_worker *worker)
{
	struct mm_struct *mm = worker->mm;

	find_vma(self, worker);
	(void)LOAD(mm, map_count);
	work(self, worker->rules, worker->rules->unmap / 2);
	COUNT(mm, map_count, 1); /* __split_vma() */
	find_vma(self, worker);
	(void)LOAD(mm, locked_vm);
	work(self, worker->rules, worker->rules->unmap / 2);
	COUNT(mm, map_count, -1);
	COUNT(mm, vmacache_seqnum, 1);
}

/* Gives back what lay there. No other writer is in, so the plain counts are safe here too. */
static void release(struct thread *self, struct mmap_worker *worker)
{
	struct mm_struct *mm = worker->mm;

	(void)LOAD(mm, hiwater_rss);
	(void)LOAD(mm, pgd);
	work(self, worker->rules, worker->rules->release);
	(void)LOAD(mm, total_vm);
	(void)LOAD(mm, hiwater_vm);
	account(self, mm, -worker->rules->pages);
}

static void unmap(struct thread *self, struct mmap_worker *worker)
{
	struct rw_semaphore *lock = &worker->mm->mmap_lock;

	rwsem_down_write(self, lock, worker->task);
	detach(self, worker);
	worker->unmaps++;
	rwsem_downgrade_write(self, lock, worker->task);
	release(self, worker);
	rwsem_up_read(self, lock);
}

void mmap_repeat(struct thread *self, void *argument)
{
	struct mmap_worker *worker = argument;
	const struct mmap_rules *rules = worker->rules;

	WORK(rules->start * RANDOM());
	for (;;) {
		BEGIN(0);
		map(self, worker);
		work(self, rules, rules->outside / 2);
		unmap(self, worker);
		work(self, rules, rules->outside / 2);
		if (RANDOM() < rules->away_chance)
			WORK(rules->away * 2 * RANDOM());
		END(0);
	}
}
