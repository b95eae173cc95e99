/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drives mm/page_counter.c of a kernel tree and models/page_counter.c, in the simulator, with
 * the same random operations over random trees of counters, and compares every field of every
 * counter after each.
 *
 *	differential LAYOUT PROPAGATE [OPERATIONS [SEED]]
 *
 * LAYOUT is that of the tree's struct page_counter, PROPAGATE the model's rule: always or
 * on_change. A difference is made small, and printed with all it takes to come to it; the exit
 * status is 1. */
#include "models/page_counter.h"
#include "tests/kernel/kernel_counter.h"
#include "machine/machine_file.h"
#include "workload/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 16, DEPTH_MAX = 6, LENGTH = 20000, UNLIMITED = 1 << 30, ALIGN = 64 };

static const char machine_path[] = "configs/machines/i7-6700k.yaml";

/* ---- fields --------------------------------------------------------------------------------- */

#define FIELDS(X)             \
	X(usage)              \
	X(min)                \
	X(low)                \
	X(high)               \
	X(max)                \
	X(emin)               \
	X(min_usage)          \
	X(children_min_usage) \
	X(elow)               \
	X(low_usage)          \
	X(children_low_usage) \
	X(watermark)          \
	X(local_watermark)    \
	X(failcnt)            \
	X(protection_support) \
	X(track_failcnt)      \
	X(parent)
#define FIELD(name)   F_##name,
#define BINDING(name) { #name, NULL, offsetof(struct page_counter, name) },
enum field { FIELDS(FIELD) FIELD_COUNT };
static const struct binding bindings[] = { FIELDS(BINDING){ 0 } };

/* ---- a case --------------------------------------------------------------------------------- */

/* What an operation does depends on the state only by way of `share`, so that a list of them
 * without some is a case as well. */
struct operation {
	uint8_t kind, node, share; /* share: of the usage, in 255ths; 0: n as it is */
	int64_t n;
};

struct subject {
	const struct layout *layout;
	struct page_counter_rules rules;
	struct machine_config config;
};

/* A tree, its operations, and both sides. Parents come before their children; -1 is none. */
struct trial {
	const struct subject *subject;
	uint32_t node_count, operation_count;
	int parent[NODES_MAX];
	int64_t protection; /* bit k: node k has protection_support */
	struct operation operations[LENGTH];

	struct memory memory;
	struct page_counter model[NODES_MAX];
	uint8_t *kernel;

	uint64_t failures, underflows;
	/* The first difference: the operation it came with, or none. */
	bool differs;
	uint32_t operation;
	char what[160];
};

static struct place *place_of(struct trial *trial, uint32_t node, enum field field)
{
	return (struct place *)(void *)((char *)&trial->model[node] + bindings[field].place);
}

static struct kernel_counter *kernel_of(const struct trial *trial, uint32_t node)
{
	return (struct kernel_counter *)(void *)(trial->kernel +
						 (size_t)node * trial->subject->layout->size);
}

/* The model's places are at the offsets that the kernel's fields have. */
static uint8_t *kernel_field(struct trial *trial, uint32_t node, enum field field)
{
	uint64_t offset =
		place_of(trial, node, field)->address - trial->memory.objects[node].address;

	return (uint8_t *)kernel_of(trial, node) + offset;
}

static int64_t kernel_get(struct trial *trial, uint32_t node, enum field field)
{
	uint64_t value = 0;

	memcpy(&value, kernel_field(trial, node, field), place_of(trial, node, field)->size);
	return (int64_t)value;
}

/* On both sides; nothing where there is no such field. */
static void set(struct thread *self, struct trial *trial, uint32_t node, enum field field,
		int64_t value)
{
	const struct place *place = place_of(trial, node, field);

	if (!place->size)
		return;
	ACCESS_STORE(place, (uint64_t)value);
	memcpy(kernel_field(trial, node, field), &value, place->size);
}

/* ---- operations ----------------------------------------------------------------------------- */

/* What an operation returned: that it was done, or which counter forbade it. */
struct outcome {
	bool done;
	int failed;
};

static const struct outcome plain = { .done = true, .failed = -1 };

/* Both sides of an operation return what it did. */
struct call {
	struct thread *self;
	struct trial *trial;
	uint32_t node;
	int64_t n;
};

static struct outcome model_try(const struct call *call)
{
	struct trial *trial = call->trial;
	struct page_counter *failed = NULL;
	bool done = page_counter_try_charge(call->self, &trial->subject->rules,
					    &trial->model[call->node], call->n, &failed);

	return (struct outcome){ done, failed ? (int)(failed - trial->model) : -1 };
}

static struct outcome kernel_try(const struct call *call)
{
	struct trial *trial = call->trial;
	struct kernel_counter *failed = NULL;
	bool done = kernel_page_counter_try_charge(kernel_of(trial, call->node),
						   (unsigned long)call->n, &failed);

	trial->failures += !done;
	return (struct outcome){ done, failed ? (int)(((uint8_t *)failed - trial->kernel) /
						      trial->subject->layout->size)
					      : -1 };
}

#define WALK(name)                                                             \
	static struct outcome model_##name(const struct call *call)            \
	{                                                                      \
		page_counter_##name(call->self, &call->trial->subject->rules,  \
				    &call->trial->model[call->node], call->n); \
		return plain;                                                  \
	}                                                                      \
	static struct outcome kernel_##name(const struct call *call)           \
	{                                                                      \
		kernel_page_counter_##name(kernel_of(call->trial, call->node), \
					   (unsigned long)call->n);            \
		return plain;                                                  \
	}
WALK(charge)
WALK(cancel)
WALK(uncharge)
WALK(set_min)
WALK(set_low)

static struct outcome model_set_max(const struct call *call)
{
	return (struct outcome){
		page_counter_set_max(call->self, &call->trial->model[call->node], call->n), -1
	};
}

static struct outcome kernel_set_max(const struct call *call)
{
	return (struct outcome){ !kernel_page_counter_set_max(kernel_of(call->trial, call->node),
							      (unsigned long)call->n),
				 -1 };
}

/* What the kernel's callers write into the fields themselves, on both sides at once. */
static struct outcome store_max(const struct call *call)
{
	set(call->self, call->trial, call->node, F_max, call->n);
	return plain;
}

static struct outcome store_high(const struct call *call)
{
	set(call->self, call->trial, call->node, F_high, call->n);
	return plain;
}

static struct outcome reset_watermark(const struct call *call)
{
	int64_t usage = kernel_get(call->trial, call->node, F_usage);

	set(call->self, call->trial, call->node, F_local_watermark, usage);
	if (call->n & 1)
		set(call->self, call->trial, call->node, F_watermark, usage);
	return plain;
}

static struct outcome reset_failcnt(const struct call *call)
{
	set(call->self, call->trial, call->node, F_failcnt, 0);
	return plain;
}

static struct outcome track_failcnt(const struct call *call)
{
	set(call->self, call->trial, call->node, F_track_failcnt, call->n & 1);
	return plain;
}

enum amount { PAGES, SHARE, LIMIT };

static const struct kind {
	const char *name;
	unsigned weight; /* in 100 */
	enum amount amount;
	struct outcome (*model)(const struct call *call);
	struct outcome (*kernel)(const struct call *call); /* NULL: `model` does both sides */
} kinds[] = {
	{ "try_charge", 40, PAGES, model_try, kernel_try },
	{ "charge", 8, PAGES, model_charge, kernel_charge },
	{ "uncharge", 24, SHARE, model_uncharge, kernel_uncharge },
	{ "cancel", 4, SHARE, model_cancel, kernel_cancel },
	{ "set_max", 6, LIMIT, model_set_max, kernel_set_max },
	{ "set_min", 5, LIMIT, model_set_min, kernel_set_min },
	{ "set_low", 5, LIMIT, model_set_low, kernel_set_low },
	{ "store max", 3, LIMIT, store_max, NULL },
	{ "store high", 1, LIMIT, store_high, NULL },
	{ "reset_watermark", 2, PAGES, reset_watermark, NULL },
	{ "reset failcnt", 1, PAGES, reset_failcnt, NULL },
	{ "track_failcnt", 1, PAGES, track_failcnt, NULL },
};

/* ---- one trial ------------------------------------------------------------------------------ */

static bool differ(struct trial *trial, const char *format, const char *field, uint32_t node,
		   int64_t model, int64_t kernel)
{
	if (model != kernel && !trial->differs) {
		trial->differs = true;
		snprintf(trial->what, sizeof(trial->what), format, field, node, (long long)model,
			 (long long)kernel);
	}
	return model != kernel;
}

/* A pointer to a counter, as the counter's number. */
static int64_t number_of(int64_t pointer, const void *first, size_t size)
{
	return pointer ? (pointer - (int64_t)(intptr_t)first) / (int64_t)size : -1;
}

static void compare(struct thread *self, struct trial *trial)
{
	for (uint32_t node = 0; node < trial->node_count; node++)
		for (int f = 0; f < FIELD_COUNT; f++) {
			const struct place *place = place_of(trial, node, (enum field)f);
			int64_t model, kernel;

			if (!place->size)
				continue;
			model = (int64_t)ACCESS_LOAD(place);
			kernel = kernel_get(trial, node, (enum field)f);
			if (f == F_parent) {
				model = number_of(model, trial->model, sizeof(*trial->model));
				kernel = number_of(kernel, trial->kernel,
						   trial->subject->layout->size);
			}
			differ(trial, "%s of counter %u: model %lld, kernel %lld",
			       bindings[f].field, node, model, kernel);
		}
}

static void operate(struct thread *self, struct trial *trial, const struct operation *operation)
{
	const struct kind *kind = &kinds[operation->kind];
	int64_t usage = kernel_get(trial, operation->node, F_usage);
	struct call call = { self, trial, operation->node,
			     operation->share ? usage * operation->share / 255 : operation->n };
	struct outcome model = kind->model(&call), kernel;

	if (!kind->kernel)
		return;
	trial->underflows += kind->amount == SHARE && call.n > usage;
	kernel = kind->kernel(&call);
	differ(trial, "%s of counter %u returned: model %lld, kernel %lld", kind->name,
	       operation->node, model.done, kernel.done);
	differ(trial, "%s of counter %u failed at: model %lld, kernel %lld", kind->name,
	       operation->node, model.failed, kernel.failed);
}

static void body(struct thread *self, void *argument)
{
	struct trial *trial = argument;

	for (uint32_t node = 0; node < trial->node_count; node++) {
		int parent = trial->parent[node];

		set(self, trial, node, F_max, UNLIMITED);
		set(self, trial, node, F_protection_support, trial->protection >> node & 1);
		if (parent < 0)
			continue;
		ACCESS_STORE(place_of(trial, node, F_parent),
			     (uint64_t)(uintptr_t)&trial->model[parent]);
		memcpy(kernel_field(trial, node, F_parent),
		       &(struct kernel_counter *){ kernel_of(trial, (uint32_t)parent) },
		       sizeof(void *));
	}
	for (uint32_t k = 0; k < trial->operation_count && !trial->differs; k++) {
		trial->operation = k;
		operate(self, trial, &trial->operations[k]);
		compare(self, trial);
	}
}

static void must(bool done, const struct error *error)
{
	if (done)
		return;
	fprintf(stderr, "differential: %s\n", error->text);
	exit(2);
}

static void trial_run(struct trial *trial)
{
	const struct layout *layout = trial->subject->layout;
	struct error error = { "" };
	struct machine *machine = machine_new(&trial->subject->config, &error);

	must(machine && memory_init(&trial->memory, machine), &error);
	trial->kernel = aligned_alloc(ALIGN, (size_t)layout->size * NODES_MAX / ALIGN * ALIGN);
	must(trial->kernel || error_set(&error, "out of memory"), &error);
	memset(trial->kernel, 0, (size_t)layout->size * NODES_MAX);
	for (uint32_t node = 0; node < trial->node_count; node++) {
		uint32_t object = memory_place(&trial->memory, layout, "", ALIGN, 0, &error);

		must(!error.text[0] && memory_bind(&trial->memory, object, bindings,
						   &trial->model[node], &error),
		     &error);
	}
	trial->differs = false;
	must(machine_thread(machine, 0, body, trial, &error) && machine_run(machine, &error) &&
		     machine_rest(machine, &error),
	     &error);
	free(trial->kernel);
	memory_release(&trial->memory);
	machine_free(machine);
}

/* ---- trials at random ----------------------------------------------------------------------- */

static int64_t draw(struct random *random, int64_t bound)
{
	return (int64_t)random_below(random, (uint64_t)bound);
}

static void tree_draw(struct random *random, struct trial *trial)
{
	int64_t deepest = 1 + draw(random, DEPTH_MAX), depth[NODES_MAX] = { 1 };

	trial->node_count = 1;
	trial->parent[0] = -1;
	if (deepest > 1)
		trial->node_count = (uint32_t)(deepest + draw(random, NODES_MAX - deepest + 1));
	for (uint32_t node = 1; node < trial->node_count; node++) {
		int64_t parent;

		/* first a chain down to the deepest, then anywhere above that */
		do
			parent = node < deepest ? node - 1 : draw(random, node);
		while (depth[parent] == deepest);
		trial->parent[node] = (int)parent;
		depth[node] = depth[parent] + 1;
	}
	/* all have protection, or all but some, or none */
	trial->protection = draw(random, 3) ? -1 : draw(random, 2) ? draw(random, 1 << 16) : 0;
}

static struct operation operation_draw(struct random *random, const struct trial *trial)
{
	struct operation operation = { .node = (uint8_t)draw(random, trial->node_count) };
	int64_t what = draw(random, 100), limit = draw(random, 5);

	while (what >= kinds[operation.kind].weight)
		what -= kinds[operation.kind++].weight;
	switch (kinds[operation.kind].amount) {
	case PAGES:
		operation.n = 1 + draw(random, draw(random, 16) ? 40 : 1 << 20);
		break;
	case SHARE:
		operation.share = (uint8_t)(draw(random, 16) ? 1 + draw(random, 255) : 0);
		operation.n = 1 + draw(random, 400);
		break;
	case LIMIT:
		operation.n = limit == 0 ? UNLIMITED : limit == 1 ? 0 : draw(random, 600);
		break;
	}
	return operation;
}

static void trial_draw(struct trial *trial, uint64_t seed, uint64_t number)
{
	struct random random = random_stream(seed, "kernel.trial", number);

	tree_draw(&random, trial);
	for (uint32_t k = 0; k < trial->operation_count; k++)
		trial->operations[k] = operation_draw(&random, trial);
}

/* ---- differences ---------------------------------------------------------------------------- */

/* Leaves out as many operations as it can find with a difference still there. */
static void trial_shrink(struct trial *trial)
{
	static struct operation kept[LENGTH];

	trial->operation_count = trial->operation + 1;
	for (uint32_t chunk = trial->operation_count / 2; chunk; chunk /= 2)
		for (uint32_t from = 0; from + chunk < trial->operation_count;) {
			uint32_t count = trial->operation_count;
			struct operation *cut = &trial->operations[from];

			memcpy(kept, trial->operations, count * sizeof(*kept));
			memmove(cut, cut + chunk, (count - from - chunk) * sizeof(*cut));
			trial->operation_count -= chunk;
			trial_run(trial);
			if (trial->differs) {
				trial->operation_count = trial->operation + 1;
				continue;
			}
			memcpy(trial->operations, kept, count * sizeof(*kept));
			trial->operation_count = count;
			from += chunk;
		}
	trial_run(trial);
}

static void trial_print(const struct trial *trial)
{
	printf("with %u operations:\n", trial->operation_count);
	for (uint32_t node = 1; node < trial->node_count; node++)
		printf("  counter %u is a child of %d\n", node, trial->parent[node]);
	for (uint32_t k = 0; k < trial->operation_count; k++) {
		const struct operation *operation = &trial->operations[k];

		printf("  %u: %s, counter %u, ", k, kinds[operation->kind].name, operation->node);
		if (operation->share)
			printf("%u/255 of its usage\n", operation->share);
		else
			printf("%lld\n", (long long)operation->n);
	}
	printf("  %s\n", trial->what);
}

/* ---- the program ---------------------------------------------------------------------------- */

static int run(const struct subject *subject, uint64_t operations, uint64_t seed)
{
	static struct trial trial;
	uint64_t number = 0, done = 0;

	trial.subject = subject;
	for (; done < operations; number++, done += LENGTH) {
		trial.operation_count = LENGTH;
		trial_draw(&trial, seed, number);
		trial_run(&trial);
		if (trial.differs) {
			printf("%s: seed %llu, trial %llu, operation %u: %s\n",
			       subject->layout->name, (unsigned long long)seed,
			       (unsigned long long)number, trial.operation, trial.what);
			trial_shrink(&trial);
			trial_print(&trial);
			return 1;
		}
	}
	printf("%s: %llu operations on %llu trees, seed %llu: every field equal after each; "
	       "%llu charges failed, %llu underflows\n",
	       subject->layout->name, (unsigned long long)done, (unsigned long long)number,
	       (unsigned long long)seed, (unsigned long long)trial.failures,
	       (unsigned long long)trial.underflows);
	return 0;
}

int main(int argc, char **argv)
{
	struct error error = { "" };
	struct document *machine = document_load(machine_path, &error);
	struct layout *layout =
		argc > 2 ? layout_load("configs/layouts", argv[1], NULL, &error) : NULL;
	struct subject subject = { .layout = layout };
	int status;

	if (argc < 3 || (strcmp(argv[2], "always") && strcmp(argv[2], "on_change"))) {
		fputs("usage: differential LAYOUT always|on_change [OPERATIONS [SEED]]\n", stderr);
		return 2;
	}
	must(machine && layout &&
		     machine_file_read(document_root(machine), &subject.config, &error),
	     &error);
	subject.rules.propagate =
		strcmp(argv[2], "always") ? PROPAGATE_ON_CHANGE : PROPAGATE_ALWAYS;
	status = run(&subject, argc > 3 ? strtoull(argv[3], NULL, 10) : 10000000,
		     argc > 4 ? strtoull(argv[4], NULL, 10) : 1);
	layout_free(layout);
	document_free(machine);
	return status;
}
