/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects as `hitm record --object` names them, taken apart into places for breakpoints. */
#ifndef CLI_RECORD_PLACES_H
#define CLI_RECORD_PLACES_H

#include "native/capture.h"
#include "native/code.h"
#include "trace/trace.h"

enum { RECORD_OBJECTS = 16, RECORD_PLACES = 64 };

/* What is watched: the program, and the process if it runs already (else 0). */
struct record_target {
	const char *root;    /* of /proc */
	const char *program; /* an ELF file: symbols, DWARF */
	uint64_t pid;
};

struct record_places {
	struct words names;
	struct capture_place all[RECORD_PLACES];
	uint32_t count;
	struct trace_object objects[RECORD_OBJECTS]; /* those with a layout that has a file */
	uint32_t object_count;
};

/* Adds the fields (a list with commas; NULL: all) of an object, NAME=STRUCT@SYMBOL or
 * NAME=STRUCT@0xADDRESS, STRUCT being a layout or a struct of the program's DWARF. A field that no
 * breakpoint covers becomes several places. False with *error set. */
bool record_places_add(struct record_places *places, const struct record_target *target,
		       const char *object, const char *fields, struct error *error);
void record_places_free(struct record_places *places);

/* The program's code as it is in memory; NULL where it cannot be had, as of scripts. */
struct code *record_target_code(const struct record_target *target);

#endif
