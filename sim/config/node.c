/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/yaml.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct node *node_child(const struct node *map, const char *key, size_t length)
{
	if (!map || map->kind != NODE_MAP)
		return NULL;
	for (const struct node *child = map->first; child; child = child->next)
		if (!strncmp(child->key, key, length) && !child->key[length])
			return child;
	return NULL;
}

const struct node *node_get(const struct node *map, const char *key)
{
	return node_child(map, key, strlen(key));
}

const struct node *node_at(const struct node *map, const char *path)
{
	for (;;) {
		size_t length = strcspn(path, ".");

		map = node_child(map, path, length);
		if (!map || !path[length])
			return map;
		path += length + 1;
	}
}

size_t node_count(const struct node *node)
{
	size_t count = 0;

	for (const struct node *child = node->first; child; child = child->next)
		count++;
	return count;
}

static bool place_error(const struct node *node, bool at_key, struct error *error,
			const char *format, va_list args)
{
	char text[sizeof(error->text)];

	vsnprintf(text, sizeof(text), format, args);
	return error_at(error, node->file, at_key ? node->key_line : node->line,
			at_key ? node->key_column : node->column, "%s", text);
}

bool node_error(const struct node *node, struct error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	place_error(node, false, error, format, args);
	va_end(args);
	return false;
}

bool node_key_error(const struct node *node, struct error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	place_error(node, node->key, error, format, args);
	va_end(args);
	return false;
}
