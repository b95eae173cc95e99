/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/schema.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- did you mean ---- */

enum { WORD_LIMIT = 64 };

static size_t smallest(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

/* Levenshtein's distance, blind to case. Both words are at most WORD_LIMIT long. */
static size_t word_distance(const char *from, const char *to)
{
	size_t width = strlen(to), row[WORD_LIMIT + 1], diagonal, above;

	for (size_t j = 0; j <= width; j++)
		row[j] = j;
	for (size_t i = 1; from[i - 1]; i++) {
		diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= width; j++) {
			bool differs = tolower((unsigned char)from[i - 1]) !=
				       tolower((unsigned char)to[j - 1]);

			above = row[j];
			row[j] = smallest(row[j - 1] + 1, above + 1, diagonal + differs);
			diagonal = above;
		}
	}
	return row[width];
}

const char *nearest(const char *word, const char *const *candidates)
{
	const char *best = NULL;
	size_t least = WORD_LIMIT, length = strlen(word);

	for (; *candidates && length <= WORD_LIMIT; candidates++) {
		size_t other = strlen(*candidates), longer = length > other ? length : other;
		size_t distance = other > WORD_LIMIT ? least : word_distance(word, *candidates);

		if (length >= 3 && !strncasecmp(word, *candidates, length))
			distance = 0; /* the start of a name means the name */
		/* A third of the letters may differ, never all of them. */
		if (3 * distance > longer + 2 || distance >= length)
			continue;
		if (distance < least || (distance == least && best && other < strlen(best))) {
			best = *candidates;
			least = distance;
		}
	}
	return best;
}

bool node_unknown(const struct node *node, bool at_key, const char *word,
		  const char *const *candidates, struct error *error)
{
	const char *near = nearest(word, candidates),
		   *what = at_key ? "unknown key" : "unknown value";
	char names[300] = "";
	size_t used = 0;

	for (; *candidates && used < sizeof(names); candidates++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
					 used ? ", " : "", *candidates);
	return (at_key ? node_key_error : node_error)(
		node, error, "%s '%.60s', %s%s%sexpected one of: %s", what, word,
		near ? "did you mean '" : "", near ? near : "", near ? "'? " : "", names);
}

/* ---- maps by table ---- */

static const struct key *key_find(const struct key *keys, const char *name)
{
	for (; keys->name; keys++)
		if (!strcmp(keys->name, name))
			return keys;
	return NULL;
}

static bool key_unknown(const struct node *node, const struct key *keys, struct error *error)
{
	const char *names[128];
	size_t count = 0;

	for (; keys->name && count < 127; keys++)
		names[count++] = keys->name;
	names[count] = NULL;
	return node_unknown(node, true, node->key, names, error);
}

static bool value_read(const struct node *node, const struct key *key, void *out,
		       struct error *error)
{
	if (key->type == VALUE_MAP)
		return schema_read(node, key->keys, out, error);
	if (key->type != VALUE_NODE)
		return scalar_read(node, key, out, error);
	*(const struct node **)out = node;
	return true;
}

bool schema_read(const struct node *map, const struct key *keys, void *out, struct error *error)
{
	if (map->kind != NODE_MAP)
		return node_expected(map, VALUE_MAP, error);
	for (const struct node *child = map->first; child; child = child->next) {
		const struct key *key = key_find(keys, child->key);

		if (!key)
			return key_unknown(child, keys, error);
		if (!value_read(child, key, (char *)out + key->offset, error))
			return false;
	}
	for (; keys->name; keys++)
		if (keys->required && !node_get(map, keys->name))
			return node_error(map, error, "key '%s' is missing, expected it here",
					  keys->name);
	return true;
}

json_t *schema_json(const struct key *keys, const void *in)
{
	json_t *object = json_object(), *value;

	for (; keys->name; keys++) {
		const void *member = (const char *)in + keys->offset;

		if (keys->type == VALUE_MAP)
			value = schema_json(keys->keys, member);
		else if (keys->type == VALUE_NODE)
			value = node_json(*(const struct node *const *)member);
		else
			value = scalar_json(keys, member);
		if (keys->type == VALUE_MAP && !json_object_size(value))
			json_decref(value);
		else if (value)
			json_object_set_new(object, keys->name, value);
	}
	return object;
}

json_t *node_json(const struct node *node)
{
	json_t *json;

	if (!node)
		return json_null();
	if (node->kind == NODE_SCALAR)
		return json_string(node->text);
	json = node->kind == NODE_MAP ? json_object() : json_array();
	for (const struct node *child = node->first; child; child = child->next) {
		if (node->kind == NODE_MAP)
			json_object_set_new(json, child->key, node_json(child));
		else
			json_array_append_new(json, node_json(child));
	}
	return json;
}
