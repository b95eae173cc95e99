/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are there whole, or not at all. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "config/error.h"
#include <jansson.h>
#include <stdio.h>

enum { OUTPUT_PATH = 4096 };

struct output {
	FILE *file;
	char path[OUTPUT_PATH], unfinished[OUTPUT_PATH + 16];
};

/* Opens DIRECTORY/NAME for writing, under another name until it is closed; makes the directory (and
 * those above) if it is missing. What is there and no regular file, as a device or a pipe, is written to
 * as it is; of a link its target is written. */
bool output_open(struct output *output, const char *directory, const char *name,
		 struct error *error);
/* The same of a file by its path. */
bool output_open_path(struct output *output, const char *path, struct error *error);
/* Gives the file its name. Where anything has gone wrong, or *error is set already, it is removed,
 * and *error is set. */
bool output_close(struct output *output, struct error *error);

/* Prints the message to standard error, as the command's own where it names neither a file nor a
 * place. Where memory was short, anything else that is said is an echo of that. */
void complain(const struct error *error);

/* Is all that was printed out? Else *error is set. To be asked once, at the end. */
bool output_flush(struct error *error);

/* Writes a value and ends the line. False with *error set where there is no memory for it; what the
 * file does not take shows when it is closed or flushed. */
bool output_json(FILE *file, const json_t *json, struct error *error);

enum output_format { OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_CSV };

/* "text", "json" or "csv"; `command` is for the message. */
bool output_format_read(const char *command, const char *text, enum output_format *format,
			struct error *error);

#endif
