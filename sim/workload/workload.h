/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the cores run: a model of models/, with its settings, objects and threads. */
#ifndef WORKLOAD_WORKLOAD_H
#define WORKLOAD_WORKLOAD_H

#include "config/schema.h"
#include "workload/memory.h"

/* In which order threads are put on cpus. Siblings of a core come last in both. */
enum placement {
	PLACEMENT_COMPACT /* socket after socket */,
	PLACEMENT_SPREAD /* sockets in turn */
};

/* In that order, as settings of a model name them; the last is NULL. */
extern const char *const placement_names[];

/* One simulation being put together. It owns what it made; handles of objects live as long as it
 * does. */
struct build {
	struct machine *machine;
	struct memory memory;
	const char *operations[OPERATION_MAX + 1]; /* names; the model's, unless it gives others */
	const struct node *layouts; /* the experiment's: struct name to layout name */
	const char *layout_directory;
	bool spread_layouts; /* every field on lines of its own */
	bool whole;          /* bodies end: each thread is measured from its start to its end */
	enum placement placement;
	struct {
		char structure[64]; /* or another key */
		struct layout *layout;
	} * loaded;
	uint32_t loaded_count;
	void *blocks;           /* memory for handles */
	void (*at_end)(void *); /* frees what the model has elsewhere, given at_end_of */
	void *at_end_of;
	void *own; /* the model's, for its verification; in blocks */
};

/* A workload that an experiment can name. */
struct workload_model {
	const char *name, *about;
	const struct key *keys; /* of its settings */
	size_t size;            /* of its settings */
	const void *defaults;   /* of its settings */
	const char *const *
		operations; /* names, ends with NULL; the first is the one that throughput counts */
	const char *const *structs; /* that `layouts` may choose for, ends with NULL; NULL: any */
	bool (*check)(const void *settings, const struct node *at, struct error *error);
	/* Places objects and adds threads. */
	bool (*build)(struct build *build, const void *settings, struct error *error);
	/* Holds what memory contains, once every thread has stopped at the end of an operation and
	 * all is at rest, against what the threads did. NULL: there is nothing to hold against. */
	bool (*verify)(const struct build *build, struct error *error);
};

extern const struct workload_model workload_netperf_sendfile;
extern const struct workload_model workload_loop;
extern const struct workload_model workload_charge;
extern const struct workload_model workload_micro;
extern const struct workload_model workload_mmap_lock;
extern const struct workload_model workload_replay;

/* All of them, ends with NULL. */
const struct workload_model *const *workload_models(void);
const struct workload_model *workload_find(const char *name);

/* The settings of the model that `map` names, read over its defaults. The caller frees them. NULL
 * with *error set. */
void *workload_settings(const struct node *map, const struct workload_model **model,
			struct error *error);

/* Takes over the machine. */
struct build *build_new(struct machine *machine, const struct node *layouts,
			const char *layout_directory);
void build_free(struct build *build);

/* The layout that stands for a struct: the experiment's choice, or else the layout named
 * `otherwise`. NULL with *error set. */
const struct layout *build_layout(struct build *build, const char *structure, const char *otherwise,
				  struct error *error);

/* The layout of this name, or path; for an object that has one of its own. `at` is the node that
 * names it, or NULL. */
const struct layout *build_layout_named(struct build *build, const char *name,
					const struct node *at, struct error *error);
/* Hands over a layout, which is freed with the build. Returns it; NULL with *error set. */
const struct layout *build_keep_layout(struct build *build, const char *key, struct layout *layout,
				       struct error *error);

/* Zeroed memory that lives as long as the build, on lines of its own: a real thread may write there.
 * NULL with *error set. */
void *build_memory(struct build *build, size_t size, struct error *error);

/* The cpu of the k-th thread, and its socket. */
uint32_t build_cpu(const struct build *build, uint32_t k);
uint32_t build_socket(const struct build *build, uint32_t cpu);

#endif
