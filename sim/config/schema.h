/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps of a YAML file to C structs, by a table of keys: types, units, ranges and spelling help in
 * one place. */
#ifndef CONFIG_SCHEMA_H
#define CONFIG_SCHEMA_H

#include "config/yaml.h"
#include <jansson.h>
#include <stdint.h>

/* A latency as the file gave it. Uncore time is written in ns and converted with the core clock. */
struct duration {
	double value;
	bool cycles; /* value counts core cycles; else nanoseconds */
};

enum value_type {
	VALUE_STRING,    /* const char *  (lives as long as the document)          */
	VALUE_INT,       /* int64_t       `3`, `-1`                                */
	VALUE_COUNT,     /* uint32_t      `3`                                      */
	VALUE_REAL,      /* double        `0.5`                                    */
	VALUE_BOOL,      /* bool          `true` `false`                           */
	VALUE_CHOICE,    /* int           index into key.choices                   */
	VALUE_DURATION,  /* struct duration  `50 ns` `18 cycles` `1.2 us` `2 ms`   */
	VALUE_FREQUENCY, /* double, Hz    `2.3 GHz` `100 MHz`                      */
	VALUE_SIZE,      /* uint64_t, bytes  `64 B` `32 KiB` `1 MiB` `2 GiB`       */
	VALUE_MAP,       /* nested struct, described by key.keys                   */
	VALUE_NODE,      /* const struct node *  left to the caller                */
};

struct key {
	const char *name;
	enum value_type type;
	size_t offset; /* of the member in the struct */
	bool required;
	double min, max; /* allowed range for numbers, in the stored unit; both 0: no range. A
			    duration's range counts its value, whatever its unit. */
	const char *const *choices; /* VALUE_CHOICE: NULL-terminated */
	const struct key *keys; /* VALUE_MAP: table of the nested struct, ends with name == NULL */
};

/* Fills *out from the map by the table (which ends with a key whose name is NULL). Members whose
 * key is absent keep what they held, so defaults are set before. An unknown key is an error that
 * names the nearest known one; so are a wrong type, a missing or wrong unit (the message names the
 * units allowed), a value out of range, a missing required key (placed at the map). Numbers must be
 * consumed whole: no nan, inf, hex, leading '+', sexagesimal, `1_000`. */
bool schema_read(const struct node *map, const struct key *keys, void *out, struct error *error);

/* The filled struct as a JSON object, every setting, units written as in a file ("50 ns"). A NODE
 * becomes its JSON likeness; a duration that is not there (NaN) and a map of nothing are left out.
 * The caller owns the reference. */
json_t *schema_json(const struct key *keys, const void *in);

/* A node as JSON: maps, lists, strings. */
json_t *node_json(const struct node *node);

/* One scalar by the type and range of a key (no MAP, no NODE); the member itself is at `out` or
 * `in`. Where a key gives no range, COUNT is 0 to 2^32 - 1, DURATION 0 to 1e15 (so that cycles stay
 * exact in a double), FREQUENCY 1 Hz to 1 THz, SIZE below 2^53 and whole bytes. Empty text is
 * refused. */
bool scalar_read(const struct node *node, const struct key *key, void *out, struct error *error);
/* NULL for a duration that is not there. */
json_t *scalar_json(const struct key *key, const void *in);

/* One scalar read by itself; min and max both 0: no range. */
bool node_real(const struct node *node, double min, double max, double *out, struct error *error);
bool node_count_value(const struct node *node, uint32_t min, uint32_t max, uint32_t *out,
		      struct error *error);
bool node_size(const struct node *node, uint64_t min, uint64_t max, uint64_t *out,
	       struct error *error);
bool node_duration(const struct node *node, struct duration *out, struct error *error);

/* Whole cycles, to the nearest, at a clock in Hz. */
uint64_t duration_cycles(struct duration duration, double clock);
double duration_ns(struct duration duration, double clock);

/* The candidate (NULL-terminated list) nearest to `word`, or NULL where none is near: one that
 * starts with it, else by edit distance, blind to case; of two as near, the shorter, then the
 * first. */
const char *nearest(const char *word, const char *const *candidates);

/* Records `unknown key 'latancy', did you mean 'latency'? expected one of: ...` at the node's key,
 * or `unknown value` at its value. The candidates end with NULL. Returns false. */
bool node_unknown(const struct node *node, bool at_key, const char *word,
		  const char *const *candidates, struct error *error);
/* Records what was found at the node and what text its type is written as. Returns false. */
bool node_expected(const struct node *node, enum value_type type, struct error *error);

#endif
