/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/plot_results.h"
#include "config/file.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a file: lists of next to nothing take fifty times their text in memory. */
enum { FILE_LIMIT = 8 << 20 };

/* The largest number that a picture takes: ten years of one CPU's cycles. */
#define NUMBER_LIMIT 1e18
/* A million percent: beyond it a change is no longer one to draw. */
#define CHANGE_LIMIT 1e6
/* Above this a double no longer counts by ones. */
#define COUNT_LIMIT 9007199254740992.0

enum kind { TEXT, NUMBER, RANGE, COUNT, CHOICE, OBJECT, LIST };

struct shape;

/* A key of an object, and where its value goes in the struct. */
struct member {
	const char *key;
	enum kind kind;
	bool required;
	size_t offset, count_offset;
	double most;                /* magnitude of a NUMBER or RANGE; items of a LIST */
	const struct shape *shape;  /* of OBJECT, and of the items of a LIST */
	const char *const *choices; /* of CHOICE */
};

struct shape {
	size_t size;
	const struct member *members; /* ends with key == NULL */
};

#define FIELD(type, key, kind, required, member)                                         \
	{                                                                                \
		key, kind, required, offsetof(type, member), 0, NUMBER_LIMIT, NULL, NULL \
	}
#define PERCENT(type, key, kind, member, most)                                \
	{                                                                     \
		key, kind, false, offsetof(type, member), 0, most, NULL, NULL \
	}
#define PICK(type, key, member, list)                                       \
	{                                                                   \
		key, CHOICE, true, offsetof(type, member), 0, 0, NULL, list \
	}
#define PART(type, key, member, shape)                                        \
	{                                                                     \
		key, OBJECT, false, offsetof(type, member), 0, 0, shape, NULL \
	}
#define MANY(type, key, required, items, count, most, shape)                                    \
	{                                                                                       \
		key, LIST, required, offsetof(type, items), offsetof(type, count), most, shape, \
			NULL                                                                    \
	}
#define END                                            \
	{                                              \
		NULL, TEXT, false, 0, 0, 0, NULL, NULL \
	}

static const char *const roles[] = { "prediction", "calibration", "reference", NULL };
/* In the order of enum plot_sharing. */
static const char *const sharings[] = { "true", "false", "cold", "capacity", NULL };

static const struct member pair_members[] = {
	FIELD(struct plot_pair, "victim", TEXT, true, victim),
	FIELD(struct plot_pair, "culprit", TEXT, true, culprit),
	PICK(struct plot_pair, "sharing", sharing, sharings),
	FIELD(struct plot_pair, "cycles", NUMBER, true, cycles),
	PERCENT(struct plot_pair, "share_pct", NUMBER, share_pct, 101),
	END,
};
static const struct shape pair_shape = { sizeof(struct plot_pair), pair_members };

static const struct member cycles_members[] = {
	FIELD(struct plot_cycles, "total", NUMBER, true, total),
	END,
};
static const struct shape cycles_shape = { sizeof(struct plot_cycles), cycles_members };

static const struct member variant_members[] = {
	FIELD(struct plot_variant, "name", TEXT, true, name),
	PICK(struct plot_variant, "role", role, roles),
	FIELD(struct plot_variant, "value", NUMBER, false, value),
	FIELD(struct plot_variant, "published", NUMBER, false, published),
	PERCENT(struct plot_variant, "change_pct", NUMBER, change_pct, CHANGE_LIMIT),
	PERCENT(struct plot_variant, "published_change_pct", NUMBER, published_change_pct,
		CHANGE_LIMIT),
	PERCENT(struct plot_variant, "error_points", NUMBER, error_points, CHANGE_LIMIT),
	PERCENT(struct plot_variant, "band_pct", RANGE, band_pct, CHANGE_LIMIT),
	PART(struct plot_variant, "cycles", cycles, &cycles_shape),
	MANY(struct plot_variant, "pairs", false, pairs, pair_count, 100000, &pair_shape),
	END,
};
static const struct shape variant_shape = { sizeof(struct plot_variant), variant_members };

static const struct member point_members[] = {
	FIELD(struct plot_point, "cpus", NUMBER, true, cpus),
	FIELD(struct plot_point, "value", NUMBER, true, value),
	FIELD(struct plot_point, "linear_bound", NUMBER, false, linear_bound),
	FIELD(struct plot_point, "saturation_bound", NUMBER, false, saturation_bound),
	END,
};
static const struct shape point_shape = { sizeof(struct plot_point), point_members };

static const struct member curve_members[] = {
	FIELD(struct plot_curve, "name", TEXT, true, name),
	MANY(struct plot_curve, "points", true, points, point_count, 4096, &point_shape),
	END,
};
static const struct shape curve_shape = { sizeof(struct plot_curve), curve_members };

static const struct member field_members[] = {
	FIELD(struct plot_field, "name", TEXT, true, name),
	FIELD(struct plot_field, "offset", COUNT, true, offset),
	FIELD(struct plot_field, "size", COUNT, true, size),
	FIELD(struct plot_field, "reads", COUNT, false, reads),
	FIELD(struct plot_field, "writes", COUNT, false, writes),
	FIELD(struct plot_field, "writers", COUNT, false, writers),
	END,
};
static const struct shape field_shape = { sizeof(struct plot_field), field_members };

static const struct member layout_members[] = {
	FIELD(struct plot_layout, "variant", TEXT, true, variant),
	FIELD(struct plot_layout, "struct", TEXT, true, structure),
	FIELD(struct plot_layout, "layout", TEXT, true, layout),
	FIELD(struct plot_layout, "line", COUNT, true, line),
	FIELD(struct plot_layout, "size", COUNT, true, size),
	MANY(struct plot_layout, "fields", true, fields, field_count, 4096, &field_shape),
	END,
};
static const struct shape layout_shape = { sizeof(struct plot_layout), layout_members };

static const struct member results_members[] = {
	FIELD(struct plot_results, "schema", TEXT, true, schema),
	FIELD(struct plot_results, "experiment", TEXT, true, experiment),
	FIELD(struct plot_results, "machine", TEXT, true, machine),
	FIELD(struct plot_results, "unit", TEXT, false, unit),
	FIELD(struct plot_results, "scaling_unit", TEXT, false, scaling_unit),
	MANY(struct plot_results, "variants", true, variants, variant_count, 64, &variant_shape),
	MANY(struct plot_results, "scaling", false, curves, curve_count, 6, &curve_shape),
	MANY(struct plot_results, "layouts", false, layouts, layout_count, 64, &layout_shape),
	END,
};
static const struct shape results_shape = { sizeof(struct plot_results), results_members };

struct plot_block {
	struct plot_block *next;
	max_align_t data[];
};

struct reader {
	struct plot_results *results;
	struct error *error;
};

/* Where in the file a value stands: a chain that lives on the stack of the recursion. */
struct place {
	const struct place *up;
	const char *key; /* NULL: an item of a list */
	size_t index;
};

static void place_print(const struct place *place, char *text, size_t size)
{
	if (!place) {
		text[0] = '\0';
		return;
	}
	place_print(place->up, text, size);
	size_t used = strlen(text);
	if (place->key)
		snprintf(text + used, size - used, "%s%s", used ? "." : "", place->key);
	else
		snprintf(text + used, size - used, "[%zu]", place->index);
}

static bool refuse(struct reader *reader, const struct place *place, const char *expected)
{
	char text[128];
	place_print(place, text, sizeof(text));
	return error_set(reader->error, "%s: %s%s%s", reader->results->file, text,
			 place ? ": " : "", expected);
}

static void *take_memory(struct reader *reader, size_t count, size_t size)
{
	struct plot_block *block = calloc(1, sizeof(*block) + count * size);
	if (!block)
		return NULL;
	block->next = reader->results->blocks;
	reader->results->blocks = block;
	return block->data;
}

static bool read_number(struct reader *reader, const json_t *value, double most, double *out,
			const struct place *place)
{
	char expected[64];

	if (!json_is_number(value))
		return refuse(reader, place, "a number was expected");
	*out = json_number_value(value);
	snprintf(expected, sizeof(expected), "a number within %g was expected", most);
	return fabs(*out) <= most || refuse(reader, place, expected);
}

static bool read_range(struct reader *reader, const json_t *value, double most, double *out,
		       const struct place *place)
{
	if (json_array_size(value) != 2)
		return refuse(reader, place, "a list [lowest, highest] was expected");
	for (size_t i = 0; i < 2; i++) {
		struct place item = { place, NULL, i };
		if (!read_number(reader, json_array_get(value, i), most, &out[i], &item))
			return false;
	}
	return out[0] <= out[1] || refuse(reader, place, "lowest before highest was expected");
}

static bool read_count(struct reader *reader, const json_t *value, uint64_t *out,
		       const struct place *place)
{
	double number = json_number_value(value);
	if (!json_is_number(value) || number < 0 || number > COUNT_LIMIT || number != floor(number))
		return refuse(reader, place, "a whole number, 0 or more, was expected");
	*out = (uint64_t)number;
	return true;
}

static bool read_choice(struct reader *reader, const json_t *value, const char *const *choices,
			unsigned *out, const struct place *place)
{
	char expected[128] = "one of";
	const char *text = json_is_string(value) ? json_string_value(value) : "";

	for (unsigned i = 0; choices[i]; i++) {
		if (strcmp(text, choices[i]) == 0) {
			*out = i;
			return true;
		}
		size_t used = strlen(expected);
		snprintf(expected + used, sizeof(expected) - used, " \"%s\"", choices[i]);
	}
	size_t used = strlen(expected);
	snprintf(expected + used, sizeof(expected) - used, " was expected");
	return refuse(reader, place, expected);
}

static bool read_object(struct reader *reader, const json_t *value, const struct shape *shape,
			void *out, const struct place *place);

static bool read_list(struct reader *reader, const json_t *value, const struct member *member,
		      char *out, const struct place *place)
{
	size_t count = json_array_size(value);
	char most[64];

	if (!json_is_array(value))
		return refuse(reader, place, "a list was expected");
	snprintf(most, sizeof(most), "at most %.0f items were expected", member->most);
	if ((double)count > member->most)
		return refuse(reader, place, most);

	char *items = take_memory(reader, count, member->shape->size);
	if (!items)
		return refuse(reader, place, "not enough memory");
	for (size_t i = 0; i < count; i++) {
		struct place item = { place, NULL, i };
		if (!read_object(reader, json_array_get(value, i), member->shape,
				 items + i * member->shape->size, &item))
			return false;
	}
	memcpy(out + member->offset, &items, sizeof(items));
	memcpy(out + member->count_offset, &count, sizeof(count));
	return true;
}

static bool read_value(struct reader *reader, const json_t *value, const struct member *member,
		       char *out, const struct place *place)
{
	void *slot = out + member->offset;

	switch (member->kind) {
	case TEXT:
		*(const char **)slot = json_string_value(value);
		return json_is_string(value) || refuse(reader, place, "a string was expected");
	case NUMBER:
		return read_number(reader, value, member->most, slot, place);
	case RANGE:
		return read_range(reader, value, member->most, slot, place);
	case COUNT:
		return read_count(reader, value, slot, place);
	case CHOICE:
		return read_choice(reader, value, member->choices, slot, place);
	case OBJECT:
		return read_object(reader, value, member->shape, slot, place);
	case LIST:
		return read_list(reader, value, member, out, place);
	}
	return false;
}

/* What a member holds while its key has not been seen. Counts, choices and lists start as zeroed
 * memory. */
static void set_absent(const struct member *member, char *out)
{
	void *slot = out + member->offset;

	if (member->kind == TEXT)
		*(const char **)slot = "";
	else if (member->kind == NUMBER)
		*(double *)slot = NAN;
	else if (member->kind == RANGE)
		((double *)slot)[0] = ((double *)slot)[1] = NAN;
	else if (member->kind == OBJECT)
		for (const struct member *inner = member->shape->members; inner->key; inner++)
			set_absent(inner, slot);
}

static bool read_object(struct reader *reader, const json_t *value, const struct shape *shape,
			void *out, const struct place *place)
{
	if (!json_is_object(value))
		return refuse(reader, place, "an object was expected");
	for (const struct member *member = shape->members; member->key; member++) {
		struct place inner = { place, member->key, 0 };
		const json_t *found = json_object_get(value, member->key);

		set_absent(member, out);
		if (!found || (json_is_null(found) && !member->required)) {
			if (member->required)
				return refuse(reader, &inner, "the key is missing");
			continue;
		}
		if (!read_value(reader, found, member, out, &inner))
			return false;
	}
	return true;
}

static bool check_layout(struct reader *reader, const struct plot_layout *layout,
			 const struct place *place)
{
	struct place line = { place, "line", 0 }, size = { place, "size", 0 },
		     fields = { place, "fields", 0 };

	if (layout->line < 8 || layout->line > 4096 || (layout->line & (layout->line - 1)))
		return refuse(reader, &line, "a power of two in 8..4096 was expected");
	if (layout->size > 1 << 20)
		return refuse(reader, &size, "at most 1048576 bytes were expected");
	for (size_t i = 0; i < layout->field_count; i++) {
		const struct plot_field *field = &layout->fields[i];
		struct place item = { &fields, NULL, i };

		if (field->offset > layout->size || field->size > layout->size - field->offset)
			return refuse(reader, &item, "a field inside the struct was expected");
	}
	return true;
}

static bool check_results(struct reader *reader)
{
	const struct plot_results *results = reader->results;
	struct place schema = { NULL, "schema", 0 }, layouts = { NULL, "layouts", 0 },
		     scaling = { NULL, "scaling", 0 };

	if (strcmp(results->schema, "hitm-results/1") != 0)
		return refuse(reader, &schema, "\"hitm-results/1\" was expected");
	for (size_t i = 0; i < results->layout_count; i++) {
		struct place item = { &layouts, NULL, i };
		if (!check_layout(reader, &results->layouts[i], &item))
			return false;
	}
	for (size_t i = 0; i < results->curve_count; i++) {
		struct place item = { &scaling, NULL, i }, points = { &item, "points", 0 };
		for (size_t k = 0; k < results->curves[i].point_count; k++) {
			struct place point = { &points, NULL, k }, cpus = { &point, "cpus", 0 };
			double number = results->curves[i].points[k].cpus;
			if (number < 1 || number > 1e6)
				return refuse(reader, &cpus, "a number in 1..1000000 was expected");
		}
	}
	return true;
}

static json_t *parse_json(const char *file, const char *text, size_t length, struct error *error)
{
	json_error_t parse;
	json_t *root =
		json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &parse);

	if (!root)
		error_at(error, file, (unsigned)(parse.line > 0 ? parse.line : 1),
			 (unsigned)(parse.column > 0 ? parse.column : 1), "%s", parse.text);
	return root;
}

bool plot_results_parse(const char *file, const char *text, size_t length,
			struct plot_results *results, struct error *error)
{
	struct reader reader = { results, error };

	*results = (struct plot_results){ .file = file };
	if (length > FILE_LIMIT)
		return file_too_long(file, FILE_LIMIT, error);
	results->root = parse_json(file, text, length, error);
	if (results->root && read_object(&reader, results->root, &results_shape, results, NULL) &&
	    check_results(&reader))
		return true;
	plot_results_free(results);
	return false;
}

bool plot_results_read(const char *file, struct plot_results *results, struct error *error)
{
	size_t length;
	char *text = file_read(file, FILE_LIMIT, &length, error);
	bool done = text && plot_results_parse(file, text, length, results, error);

	free(text);
	return done;
}

void plot_results_free(struct plot_results *results)
{
	while (results->blocks) {
		struct plot_block *next = results->blocks->next;
		free(results->blocks);
		results->blocks = next;
	}
	json_decref(results->root);
	memset(results, 0, sizeof(*results));
}
