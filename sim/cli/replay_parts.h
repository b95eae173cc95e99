/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of `hitm replay`: replay.c has the options and what is done, replay_objects.c takes
 * --object apart, replay_experiment.c makes an experiment of it all, replay_print.c prints tables beside
 * each other, replay_summaries.c one of several captures, replay_find.c proposes objects, replay_write.c
 * writes the capture anew. */
#ifndef CLI_REPLAY_PARTS_H
#define CLI_REPLAY_PARTS_H

#include "cli/run_machines.h"
#include "layout/layout.h"
#include "workload/replay_tally.h"

enum { REPLAY_WORDS_MAX = 256 };

#define REPLAY_EXPERIMENT "hitm replay" /* the file, in messages, that options are made into */

/* Values of an option that may be given again; the caller's. */
struct words {
	const char *all[REPLAY_WORDS_MAX];
	uint32_t count;
};

/* An object as --object gives it, or the capture; or several, from one to the next `stride` bytes. */
struct given_object {
	char name[64], layout_name[1024];
	struct layout *layout;
	uint64_t address, stride;
	uint32_t count;
};

struct replay_command {
	const char *trace, *format, *elf, *btf, *write, *form;
	const char *only, *by, *order, *gaps, *gap, *unknown, *map, *threads,
		*home; /* NULL: default */
	struct words objects, layouts, atomics, stores, machines;
	uint64_t seeds;
	bool only_help, summary, find;
	char **several; /* of --summary alone; else NULL */
	int several_count;
	char directory[4096]; /* of layouts */
	struct given_object *given;
	uint32_t given_count;
	struct run_command run;
};

/* --summary of several files: a line each, of what is read and why others are not. False where one was not. */
bool replay_summaries(char **paths, int count, const char *format);

/* All objects: those given, then those that the capture declares, unless --object has one of that name; each
 * with its layout. Symbols are looked up in the ELF file. They are freed with replay_objects_free, also
 * where this returns false. */
bool replay_objects_read(struct replay_command *command, const struct tally *tally,
			 struct error *error);
void replay_objects_free(struct replay_command *command);

/* "root.usage" for an address; *start is where the field starts. An element of an array is called as `array`
 * formats its number: "[%u]". False where no object holds it: "0x...". */
bool replay_object_name(const struct replay_command *command, uint64_t address, const char *array,
			char *name, size_t size, uint64_t *start);

/* Does a record of the capture lie in each object that was given? A wrong address is better said than
 * answered. Those that the capture declares may be idle. */
bool replay_objects_touched(const struct replay_command *command, const struct tally *tally,
			    struct error *error);

/* The experiment that replays the capture on its own layout and, as variants, on others. NULL with *error
 * set; the caller frees it. */
struct document *replay_experiment(const struct replay_command *command, const struct tally *tally,
				   struct error *error);

/* --write: the capture in one of hitm's forms, in fields where objects are known. */
bool replay_write(const struct replay_command *command, const struct tally *tally,
		  struct error *error);

/* What the capture says of each line, as perf c2c does, with fields where objects are known. */
bool replay_print_capture(FILE *out, const struct replay_command *command,
			  const struct tally *tally, struct error *error);
/* What the replay takes for granted that the capture does not say. */
void replay_print_assumptions(FILE *out, const struct replay_command *command,
			      const struct tally *tally);
/* As replay_print_capture, of the simulated run; a table a variant. */
void replay_print_c2c(FILE *out, const json_t *results);

/* Clusters hot lines, and proposes which struct at which base explains the offsets seen. */
bool replay_find(const struct replay_command *command, const struct tally *tally,
		 struct error *error);

#endif
