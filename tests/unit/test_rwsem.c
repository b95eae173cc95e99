/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rw_semaphore and what it protects: plain counts are exact at the end, whoever spun. Layouts against
 * pahole's figures as published. The tests read configs and are run in the root of the project. */
#include "models/mmap_lock.h"
#include "native/native.h"
#include "tests/unit/suites.h"
#include "tests/unit/rig.h"
#include "workload/simulation.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the lock alone ------------------------------------------------------------------------- */

enum { TASKS = 8, ROUNDS = 150, LINE_OF_TASKS = 8 };

/* The lock, two plain counts beside it or apart, and tasks on lines of their own. */
struct scene {
	struct machine *machine;
	struct rw_semaphore sem;
	struct {
		struct place a, b;
	} count;
	struct rwsem_task task[TASKS], *by_number[TASKS];
	uint64_t reads, mistakes;
	uint32_t running;
	struct member {
		struct scene *scene;
		uint32_t number;
	} member[TASKS];
};

static void scene_make(struct scene *scene, const struct machine_config *config)
{
	*scene = (struct scene){
		.machine = rig_machine(config),
		.sem = { rig_place(0, 0, 8), rig_place(0, 8, 8), rig_place(0, 16, 4) },
		.count = { rig_place(0, 24, 8), rig_place(1, 0, 8) },
	};
	for (uint32_t k = 0; k < TASKS; k++) {
		uint32_t line = LINE_OF_TASKS + 2 * k;

		scene->task[k] = (struct rwsem_task){
			.on_cpu = rig_place(line, 0, 4),
			.next = rig_place(line + 1, 0, 8),
			.prev = rig_place(line + 1, 8, 8),
			.locked = rig_place(line + 1, 16, 4),
			.cpu = rig_place(line + 1, 20, 4),
			.number = k,
			.by_number = scene->by_number,
			.pause = 40,
		};
		scene->by_number[k] = &scene->task[k];
		scene->member[k] = (struct member){ scene, k };
	}
}

static void scene_run(struct scene *scene, uint32_t threads,
		      void (*body)(struct thread *self, void *member))
{
	scene->running = threads;
	for (uint32_t k = 0; k < threads; k++)
		rig_thread(scene->machine, k, body, &scene->member[k]);
	rig_run(scene->machine);
}

static void check_free(struct scene *scene)
{
	CU_ASSERT_EQUAL(rig_value(scene->machine, scene->sem.count), 0);
	CU_ASSERT_EQUAL(rig_value(scene->machine, scene->sem.osq), 0);
}

static int64_t value(struct thread *self, const struct place *place)
{
	return (int64_t)thread_load(self, place);
}

static void alone(struct thread *self, void *argument)
{
	struct member *me = argument;
	struct scene *scene = me->scene;
	struct rwsem_task *task = &scene->task[me->number];

	rwsem_down_write(self, &scene->sem, task);
	CU_ASSERT_EQUAL(value(self, &scene->sem.count), 1);
	CU_ASSERT_EQUAL(value(self, &scene->sem.owner), (intptr_t)task);
	CU_ASSERT_FALSE(rwsem_down_read_trylock(self, &scene->sem, task));
	rwsem_up_write(self, &scene->sem);
	CU_ASSERT_EQUAL(value(self, &scene->sem.count), 0);
	CU_ASSERT_EQUAL(value(self, &scene->sem.owner), 0);
}

static void a_writer_owns_the_lock_until_it_lets_go(void)
{
	struct machine_config config = rig_config();
	struct scene scene;

	scene_make(&scene, &config);
	scene_run(&scene, 1, alone);
	CU_ASSERT_EQUAL(rig_value(scene.machine, scene.sem.owner), 0);
	check_free(&scene);
	machine_free(scene.machine);
}

/* Bits 8 and up of the count are the readers (Linux v5.13, kernel/locking/rwsem.c). */
static void read_twice(struct thread *self, void *argument)
{
	struct member *me = argument;
	struct scene *scene = me->scene;
	struct rwsem_task *task = &scene->task[me->number];

	rwsem_down_write(self, &scene->sem, task);
	rwsem_downgrade_write(self, &scene->sem, task);
	CU_ASSERT_EQUAL(value(self, &scene->sem.count), 256);
	CU_ASSERT_EQUAL(value(self, &scene->sem.owner), (intptr_t)task | 1);
	CU_ASSERT_TRUE(rwsem_down_read_trylock(self, &scene->sem, task));
	CU_ASSERT_EQUAL(value(self, &scene->sem.count), 512);
	rwsem_up_read(self, &scene->sem);
	rwsem_up_read(self, &scene->sem);
}

static void readers_are_counted_beside_one_who_was_a_writer(void)
{
	struct machine_config config = rig_config();
	struct scene scene;

	scene_make(&scene, &config);
	scene_run(&scene, 1, read_twice);
	check_free(&scene);
	machine_free(scene.machine);
}

static void increment(struct thread *self, const struct place *place)
{
	thread_store(self, place, thread_load(self, place) + 1);
}

static void write_often(struct thread *self, void *argument)
{
	struct member *me = argument;
	struct scene *scene = me->scene;

	for (int k = 0; k < ROUNDS; k++) {
		rwsem_down_write(self, &scene->sem, &scene->task[me->number]);
		increment(self, &scene->count.a);
		thread_work(self, (double)random_below(&self->random, 200));
		increment(self, &scene->count.b);
		rwsem_up_write(self, &scene->sem);
		thread_work(self, (double)random_below(&self->random, 2000));
	}
}

static void writers_exclude_each_other(void)
{
	for (uint32_t variant = 0; variant < RIG_VARIANTS; variant++) {
		struct machine_config config = rig_config();
		struct scene scene;

		rig_variant(&config, variant);
		scene_make(&scene, &config);
		scene_run(&scene, TASKS, write_often);
		CU_ASSERT_EQUAL(rig_value(scene.machine, scene.count.a), TASKS * ROUNDS);
		CU_ASSERT_EQUAL(rig_value(scene.machine, scene.count.b), TASKS * ROUNDS);
		CU_ASSERT_EQUAL(rig_value(scene.machine, scene.sem.owner), 0);
		check_free(&scene);
		machine_free(scene.machine);
	}
}

/* Both counts change under the lock, so that a reader sees them equal, and the one that was the writer
 * sees what it wrote until it lets go. */
static void write_and_stay(struct thread *self, void *argument)
{
	struct member *me = argument;
	struct scene *scene = me->scene;
	struct rwsem_task *task = &scene->task[me->number];

	for (int k = 0; k < ROUNDS; k++) {
		int64_t mine;

		rwsem_down_write(self, &scene->sem, task);
		increment(self, &scene->count.a);
		thread_work(self, 100);
		increment(self, &scene->count.b);
		mine = value(self, &scene->count.a);
		rwsem_downgrade_write(self, &scene->sem, task);
		thread_work(self, (double)random_below(&self->random, 600));
		scene->mistakes += value(self, &scene->count.a) != mine;
		rwsem_up_read(self, &scene->sem);
		thread_work(self, (double)random_below(&self->random, 3000));
	}
	scene->running--;
}

static void read_on(struct thread *self, void *argument)
{
	struct member *me = argument;
	struct scene *scene = me->scene;

	while (scene->running > 1) {
		if (rwsem_down_read_trylock(self, &scene->sem, &scene->task[me->number])) {
			int64_t a = value(self, &scene->count.a);

			thread_work(self, 50);
			scene->mistakes += a != value(self, &scene->count.b);
			scene->reads++;
			rwsem_up_read(self, &scene->sem);
		}
		thread_work(self, 200);
		thread_in_order(self);
	}
}

static void write_or_read(struct thread *self, void *argument)
{
	const struct member *me = argument;

	if (me->number)
		write_and_stay(self, argument);
	else
		read_on(self, argument);
}

static void readers_see_no_write_half_done(void)
{
	for (uint32_t variant = 0; variant < RIG_VARIANTS; variant++) {
		struct machine_config config = rig_config();
		struct scene scene;

		rig_variant(&config, variant);
		scene_make(&scene, &config);
		scene_run(&scene, TASKS, write_or_read);
		CU_ASSERT_EQUAL(scene.mistakes, 0);
		CU_ASSERT(scene.reads > ROUNDS / 2);
		CU_ASSERT_EQUAL(rig_value(scene.machine, scene.count.a), (TASKS - 1) * ROUNDS);
		CU_ASSERT_EQUAL(rig_value(scene.machine, scene.count.b), (TASKS - 1) * ROUNDS);
		check_free(&scene);
		machine_free(scene.machine);
	}
}

/* ---- layouts -------------------------------------------------------------------------------- */

/* lore.kernel.org/lkml/20210606101623.GA48020@shbuild999.sh.intel.com */
static void mmap_lock_lies_where_pahole_says(void)
{
	static const struct {
		const char *layout, *field;
		uint32_t offset;
	} expected[] = {
		{ "mm_struct-c28b1fc703", "map_count", 112 },
		{ "mm_struct-c28b1fc703", "mmap_lock.count", 120 },
		{ "mm_struct-c28b1fc703", "mmap_lock.owner", 128 },
		{ "mm_struct-c28b1fc703", "hiwater_vm", 184 },
		{ "mm_struct-57efa1fe59", "map_count", 120 },
		{ "mm_struct-57efa1fe59", "mmap_lock.count", 128 },
		{ "mm_struct-57efa1fe59", "mmap_lock.owner", 136 },
		{ "mm_struct-57efa1fe59", "hiwater_vm", 192 },
	};

	for (size_t k = 0; k < sizeof(expected) / sizeof(*expected); k++) {
		struct error error = { "" };
		struct layout *layout =
			layout_load("configs/layouts", expected[k].layout, NULL, &error);
		const struct layout_field *found = NULL;

		CU_ASSERT_PTR_NOT_NULL_FATAL(layout);
		for (uint32_t f = 0; f < layout->field_count; f++)
			if (!strcmp(layout->fields[f].name, expected[k].field))
				found = &layout->fields[f];
		CU_ASSERT(found && found->offset == expected[k].offset);
		layout_free(layout);
	}
}

/* ---- mmap_lock ------------------------------------------------------------------------------ */

static struct setting setting_of(const char *layout, const char *workload)
{
	struct error error = { "" };
	struct setting setting;
	char text[1024];

	snprintf(text, sizeof(text),
		 "layouts: {mm_struct: %s}\nmeasure: {warmup: 200 us, duration: 500 us}\n"
		 "workload: {model: mmap_lock, %s}\n",
		 layout, workload);
	setting.experiment = document_parse("test", text, strlen(text), &error);
	setting.machine = document_load("configs/machines/icx-2s-32c.yaml", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(setting.experiment);
	CU_ASSERT_PTR_NOT_NULL_FATAL(setting.machine);
	return setting;
}

static const struct run_options options = { .seed = 1, .layout_directory = "configs/layouts" };

static struct simulation simulated(const char *layout)
{
	struct setting setting = setting_of(layout, "threads: 48, placement: spread, work: 1.2 us");
	struct simulation simulation;
	struct error error = { "" };

	CU_ASSERT_TRUE_FATAL(simulation_run(&simulation, &setting, &options, &error));
	setting_free(&setting);
	return simulation;
}

/* Loads of a field that a line dirty in another core served, as a part of those of its line. */
static double share(const struct simulation *s, const char *name)
{
	const struct memory *memory = &s->build->memory;
	uint64_t own = 0, all = 0;
	uint32_t line = 0;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t k = 1; k < s->measure->field_count; k++) {
			const struct field_total *total = &s->measure->fields[k];
			uint64_t hitm = total->hitm[false][false] + total->hitm[false][true];
			const struct layout *layout;
			const struct layout_field *field =
				memory_field(memory, (uint16_t)k, &layout);

			if (!field || strcmp(layout->structure, "mm_struct"))
				continue;
			if (pass == 0 && !strcmp(field->name, name)) {
				line = field->offset / 64;
				own = hitm;
			}
			if (pass == 1 && field->offset / 64 == line)
				all += hitm;
		}
	return (double)own / (double)all;
}

/* Published: on two lines count 75 % and map_count 14 % of the one, owner 97 % of the other; on one,
 * owner 95 % and count 2 %; 9.2 % fewer mappings. */
static void one_line_for_count_and_owner_costs_as_published(void)
{
	struct simulation two = simulated("mm_struct-c28b1fc703"),
			  one = simulated("mm_struct-57efa1fe59");

	CU_ASSERT(one.rate < two.rate);
	CU_ASSERT(share(&two, "mmap_lock.count") > 0.5);
	CU_ASSERT(share(&two, "mmap_lock.count") > share(&two, "map_count"));
	CU_ASSERT(share(&two, "mmap_lock.owner") > 0.97 - 0.15);
	CU_ASSERT(share(&one, "mmap_lock.owner") > 0.95 - 0.15);
	CU_ASSERT(share(&one, "mmap_lock.count") < 0.02 + 0.15);
	simulation_free(&one);
	simulation_free(&two);
}

/* Real threads race for the lock; then every mapping that was made is gone. */
static void mappings_add_up_on_real_threads(void)
{
	static const char *const layouts[] = { "mm_struct-c28b1fc703", "mm_struct-57efa1fe59" };
	struct error error = { "" };
	struct host *host = host_new(&error);
	uint32_t count, *order;

	CU_ASSERT_PTR_NOT_NULL_FATAL(host);
	order = host_order(host, "spread", &count, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(order);
	for (int k = 0; k < 2; k++) {
		const struct native_plan plan = {
			.host = host, .order = order, .cpus = count, .ms = 15, .repeats = 1
		};
		struct setting setting =
			setting_of(layouts[k], count > 1 ? "threads: 2, work: 0 ns" : "threads: 1");
		struct native_result result;
		struct simulation simulation;

		CU_ASSERT_TRUE_FATAL(simulation_build(&simulation, &setting, &options, &error));
		setting_free(&setting);
		CU_ASSERT_TRUE(native_run(simulation.build, &plan, &result, &error));
		CU_ASSERT(result.rate > 0);
		CU_ASSERT_TRUE(simulation.model->verify(simulation.build, &error));
		CU_ASSERT_STRING_EQUAL(error.text, "");
		simulation_free(&simulation);
	}
	free(order);
	host_free(host);
}

/* A lost update, which two owners at once would make. */
static void a_lost_count_is_found(void)
{
	struct setting setting = setting_of("mm_struct-57efa1fe59", "threads: 1");
	struct simulation simulation;
	struct error error = { "" };

	CU_ASSERT_TRUE_FATAL(simulation_build(&simulation, &setting, &options, &error));
	setting_free(&setting);
	CU_ASSERT_TRUE(simulation.model->verify(simulation.build, &error));
	for (uint32_t k = 0; k < simulation.build->memory.object_count; k++) {
		const struct binding bindings[] = { { "map_count", NULL, 0 }, { 0 } };
		struct place place = { 0 };

		if (strcmp(simulation.build->memory.objects[k].name, "mm"))
			continue;
		CU_ASSERT_TRUE(memory_bind(&simulation.build->memory, k, bindings, &place, &error));
		memory_set(&simulation.build->memory, &place, 99);
	}
	CU_ASSERT_FALSE(simulation.model->verify(simulation.build, &error));
	CU_ASSERT_STRING_EQUAL(error.text, "mmap_lock: map_count is 99, expected 100");
	simulation_free(&simulation);
}

static void a_layout_without_the_lock_is_refused(void)
{
	struct setting setting = setting_of("mm_struct-57efa1fe59, optimistic_spin_node: "
					    "task_struct-model",
					    "threads: 1");
	struct simulation simulation;
	struct error error = { "" };

	CU_ASSERT_FALSE(simulation_build(&simulation, &setting, &options, &error));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "expected one of struct optimistic_spin_node"));
	setting_free(&setting);
}

void suite_rwsem(void)
{
	CU_pSuite suite = CU_add_suite("rwsem", NULL, NULL);

	CU_ADD_TEST(suite, a_writer_owns_the_lock_until_it_lets_go);
	CU_ADD_TEST(suite, readers_are_counted_beside_one_who_was_a_writer);
	CU_ADD_TEST(suite, writers_exclude_each_other);
	CU_ADD_TEST(suite, readers_see_no_write_half_done);
	CU_ADD_TEST(suite, mmap_lock_lies_where_pahole_says);
	CU_ADD_TEST(suite, one_line_for_count_and_owner_costs_as_published);
	CU_ADD_TEST(suite, mappings_add_up_on_real_threads);
	CU_ADD_TEST(suite, a_lost_count_is_found);
	CU_ADD_TEST(suite, a_layout_without_the_lock_is_refused);
}
