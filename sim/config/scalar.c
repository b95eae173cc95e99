/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One scalar: its text to a number, a range check, and back to text. */
#include "config/schema.h"
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	double factor; /* 0: core cycles, which no factor turns into time */
};

static const struct unit time_units[] = { { "ns", 1 },  { "us", 1e3 },   { "ms", 1e6 },
					  { "s", 1e9 }, { "cycles", 0 }, { "cycle", 0 },
					  { NULL, 0 } };
static const struct unit frequency_units[] = {
	{ "Hz", 1 }, { "kHz", 1e3 }, { "MHz", 1e6 }, { "GHz", 1e9 }, { NULL, 0 }
};
static const struct unit size_units[] = {
	{ "B", 1 }, { "KiB", 1 << 10 }, { "MiB", 1 << 20 }, { "GiB", 1 << 30 }, { NULL, 0 }
};

/* What a type allows wherever a key gives no narrower range. A time counts at most 1e15, so that in
 * cycles of any clock up to 9 GHz it is still exact in a double; sizes stay below 2^53 for the same
 * reason. */
static const struct type {
	const char *expected;
	const struct unit *units;
	bool whole;
	double min, max;
} types[] = {
	[VALUE_STRING] = { .expected = "text" },
	[VALUE_INT] = { "a whole number such as 3", NULL, true, (double)INT64_MIN,
			(double)INT64_MAX },
	[VALUE_COUNT] = { "a whole number such as 3", NULL, true, 0, UINT32_MAX },
	[VALUE_REAL] = { "a number such as 0.5", NULL, false, -DBL_MAX, DBL_MAX },
	[VALUE_BOOL] = { .expected = "true or false" },
	[VALUE_CHOICE] = { .expected = "one of its choices" },
	[VALUE_DURATION] = { "a time in ns, us, ms, s or cycles, such as 50 ns", time_units, false,
			     0, 1e15 },
	[VALUE_FREQUENCY] = { "a frequency in Hz, kHz, MHz or GHz, such as 2.3 GHz",
			      frequency_units, false, 1, 1e12 },
	[VALUE_SIZE] = { "a size in B, KiB, MiB or GiB, such as 64 B", size_units, true, 0,
			 (double)(((int64_t)1 << 53) - 1) },
	[VALUE_MAP] = { .expected = "a map" },
	[VALUE_NODE] = { .expected = "a value" },
};

struct number {
	double value;  /* in the unit that is stored */
	int64_t exact; /* of a whole number without a unit */
	bool cycles;
};

/* ---- text to numbers ---- */

static size_t digits_length(const char *text)
{
	size_t length = 0;

	while (isdigit((unsigned char)text[length]))
		length++;
	return length;
}

/* Length of the decimal number that starts the text, or 0. Stricter than strtod, which takes hex,
 * inf and nan, and than YAML 1.1, to which 010 is octal. */
static size_t number_length(const char *text, bool *whole)
{
	size_t sign = text[0] == '-', length = digits_length(text + sign), more;

	if (!length || (length > 1 && text[sign] == '0'))
		return 0;
	length += sign;
	*whole = true;
	if (text[length] == '.') {
		more = digits_length(text + length + 1);
		if (!more)
			return 0;
		length += 1 + more;
		*whole = false;
	}
	if (text[length] == 'e' || text[length] == 'E') {
		sign = text[length + 1] == '-' || text[length + 1] == '+';
		more = digits_length(text + length + 1 + sign);
		if (more)
			length += 1 + sign + more;
		*whole = *whole && !more;
	}
	return length;
}

static const struct unit *unit_find(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (!strcmp(units->name, name))
			return units;
	return NULL;
}

static bool number_parse(const struct type *type, const char *text, struct number *number)
{
	const struct unit *unit;
	bool whole;
	size_t length = number_length(text, &whole);

	if (!length)
		return false;
	number->value = strtod(text, NULL);
	if (type->units) {
		unit = unit_find(type->units, text + length + strspn(text + length, " "));
		if (!unit)
			return false;
		number->cycles = unit->factor <= 0;
		number->value *= number->cycles ? 1 : unit->factor;
		return !type->whole || !isfinite(number->value) ||
		       number->value == floor(number->value);
	}
	if (text[length] || (type->whole && !whole))
		return false;
	errno = 0;
	number->exact = type->whole ? strtoll(text, NULL, 10) : 0;
	if (errno)
		number->value = number->value < 0 ? -INFINITY : INFINITY;
	return true;
}

/* ---- numbers to text ---- */

/* A short decimal text that reads back as the same double. */
static void real_text(double value, char *text, size_t room)
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, room, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			return;
	}
}

/* In the unit that makes the shortest exact text: 4032 B, 32 KiB, 2.3 GHz. */
static void quantity_text(const struct unit *units, double value, char *text, size_t room)
{
	char trial[64], number[32];

	*text = '\0';
	for (; units->name; units++) {
		real_text(value / units->factor, number, sizeof(number));
		snprintf(trial, sizeof(trial), "%s %s", number, units->name);
		if (!*text || (value >= units->factor && strlen(trial) < strlen(text) &&
			       strtod(number, NULL) * units->factor == value))
			snprintf(text, room, "%s", trial);
	}
}

static void bound_text(enum value_type type, double value, char *text, size_t room)
{
	if (type == VALUE_SIZE || type == VALUE_FREQUENCY)
		quantity_text(types[type].units, value, text, room);
	else
		snprintf(text, room, "%.15g", value);
}

/* ---- a scalar by its key ---- */

static bool number_in_range(const struct node *node, const struct key *key, double value,
			    struct error *error)
{
	const struct type *type = &types[key->type];
	bool bounded = key->min != 0 || key->max != 0;
	double min = bounded ? fmax(key->min, type->min) : type->min;
	double max = bounded ? fmin(key->max, type->max) : type->max;
	char low[64], high[64];

	if (value >= min && value <= max)
		return true;
	bound_text(key->type, min, low, sizeof(low));
	bound_text(key->type, max, high, sizeof(high));
	return node_error(node, error, "%.60s is out of range, expected %s to %s", node->text, low,
			  high);
}

static bool choice_read(const struct node *node, const struct key *key, int *out,
			struct error *error)
{
	for (int i = 0; key->choices[i]; i++) {
		if (!strcmp(key->choices[i], node->text)) {
			*out = i;
			return true;
		}
	}
	return node_unknown(node, false, node->text, key->choices, error);
}

static bool number_read(const struct node *node, const struct key *key, void *out,
			struct error *error)
{
	struct number number = { 0 };

	if (!number_parse(&types[key->type], node->text, &number))
		return node_expected(node, key->type, error);
	if (!number_in_range(node, key, number.value, error))
		return false;
	if (key->type == VALUE_INT)
		*(int64_t *)out = number.exact;
	else if (key->type == VALUE_COUNT)
		*(uint32_t *)out = (uint32_t)number.exact;
	else if (key->type == VALUE_SIZE)
		*(uint64_t *)out = (uint64_t)number.value;
	else if (key->type == VALUE_DURATION)
		*(struct duration *)out = (struct duration){ number.value, number.cycles };
	else
		*(double *)out = number.value;
	return true;
}

bool node_expected(const struct node *node, enum value_type type, struct error *error)
{
	static const char *const kinds[] = { [NODE_MAP] = "a map", [NODE_LIST] = "a list" };

	if (node->kind != NODE_SCALAR)
		return node_error(node, error, "%s, expected %s", kinds[node->kind],
				  types[type].expected);
	if (!*node->text)
		return node_error(node, error, "no value, expected %s", types[type].expected);
	return node_error(node, error, "'%.60s', expected %s", node->text, types[type].expected);
}

bool scalar_read(const struct node *node, const struct key *key, void *out, struct error *error)
{
	if (node->kind != NODE_SCALAR || !*node->text)
		return node_expected(node, key->type, error);
	switch (key->type) {
	case VALUE_STRING:
		*(const char **)out = node->text;
		return true;
	case VALUE_BOOL:
		*(bool *)out = !strcmp(node->text, "true");
		return *(bool *)out || !strcmp(node->text, "false") ||
		       node_expected(node, key->type, error);
	case VALUE_CHOICE:
		return choice_read(node, key, out, error);
	default:
		return number_read(node, key, out, error);
	}
}

json_t *scalar_json(const struct key *key, const void *in)
{
	const struct duration *duration = in;
	char text[64], number[32];

	switch (key->type) {
	case VALUE_INT:
		return json_integer(*(const int64_t *)in);
	case VALUE_COUNT:
		return json_integer(*(const uint32_t *)in);
	case VALUE_REAL:
		return json_real(*(const double *)in);
	case VALUE_BOOL:
		return json_boolean(*(const bool *)in);
	case VALUE_CHOICE:
		return json_string(key->choices[*(const int *)in]);
	case VALUE_DURATION:
		if (isnan(duration->value))
			return NULL;
		real_text(duration->value, number, sizeof(number));
		snprintf(text, sizeof(text), "%s %s", number, duration->cycles ? "cycles" : "ns");
		return json_string(text);
	case VALUE_FREQUENCY:
		quantity_text(frequency_units, *(const double *)in, text, sizeof(text));
		return json_string(text);
	case VALUE_SIZE:
		quantity_text(size_units, (double)*(const uint64_t *)in, text, sizeof(text));
		return json_string(text);
	default:
		return *(const char *const *)in ? json_string(*(const char *const *)in)
						: json_null();
	}
}

bool node_real(const struct node *node, double min, double max, double *out, struct error *error)
{
	return scalar_read(node, &(struct key){ .type = VALUE_REAL, .min = min, .max = max }, out,
			   error);
}

bool node_count_value(const struct node *node, uint32_t min, uint32_t max, uint32_t *out,
		      struct error *error)
{
	return scalar_read(node, &(struct key){ .type = VALUE_COUNT, .min = min, .max = max }, out,
			   error);
}

bool node_size(const struct node *node, uint64_t min, uint64_t max, uint64_t *out,
	       struct error *error)
{
	struct key key = { .type = VALUE_SIZE, .min = (double)min, .max = (double)max };

	return scalar_read(node, &key, out, error);
}

bool node_duration(const struct node *node, struct duration *out, struct error *error)
{
	return scalar_read(node, &(struct key){ .type = VALUE_DURATION }, out, error);
}

uint64_t duration_cycles(struct duration duration, double clock)
{
	return (uint64_t)llround(duration.cycles ? duration.value : duration.value * clock / 1e9);
}

double duration_ns(struct duration duration, double clock)
{
	return duration.cycles ? duration.value * 1e9 / clock : duration.value;
}
