/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results for people and for spreadsheets, from their JSON. */
#ifndef MEASURE_REPORT_H
#define MEASURE_REPORT_H

#include <jansson.h>
#include <stdio.h>

/* The table of predicted against published, where the time went, the top field pairs and lines of
 * each variant. */
void report_text(FILE *out, const json_t *results);

/* The first table alone. */
void report_table(FILE *out, const json_t *results);

/* The same figures, a row a variant, after a row of names; pairs and lines are not in it. */
void report_csv(FILE *out, const json_t *results);

/* The timeline of the line that was explained, if the results have one, of one variant. */
void report_timeline(FILE *out, const json_t *results, const char *variant);

#endif
