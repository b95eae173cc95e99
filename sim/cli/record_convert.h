/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What perf has captured, as a trace in a form that `hitm` or others read without perf. */
#ifndef CLI_RECORD_CONVERT_H
#define CLI_RECORD_CONVERT_H

#include "cli/record_places.h"

/* Is there such a form: "trace", "trace-binary", "perf-script"? False with *error set. */
bool record_form_check(const char *form, struct error *error);

/* Writes the capture of a run beside it, as FILE.trace, FILE.trace.zst or FILE.txt, whole or not at all,
 * each access with the field that it was of, and prints what came of it. Of breakpoints, `code` tells
 * atomic operations from stores; NULL: nothing does. False with *error set. */
bool record_convert(const struct capture_run *run, const struct record_places *places,
		    const struct code *code, const char *form, struct error *error);

#endif
