/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/yaml.h"
#include "config/file.h"
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum {
	FILE_LIMIT = 1 << 20,
	DEPTH_LIMIT = 32,
	EVENT_LIMIT = 1000000,
	SCALAR_LIMIT = 4096,
	CHUNK_SIZE = 16384,
};

/* Nodes and strings are never freed one by one: they live in chunks, as long as their document. */
struct chunk {
	struct chunk *next;
	size_t used, size;
	alignas(max_align_t) char bytes[];
};

struct file_name {
	struct file_name *next;
	char text[];
};

struct document {
	struct node *root;
	struct chunk *chunks;
	struct file_name *files; /* one copy of each name that a node's `file` points to */
};

/* ---- memory ---- */

static void *document_alloc(struct document *document, size_t size)
{
	struct chunk *chunk = document->chunks;
	void *memory;

	size = (size + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
	if (!chunk || chunk->size - chunk->used < size) {
		size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;

		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		*chunk = (struct chunk){ .next = document->chunks, .size = room };
		document->chunks = chunk;
	}
	memory = chunk->bytes + chunk->used;
	chunk->used += size;
	return memset(memory, 0, size);
}

static const char *document_string(struct document *document, const char *text, size_t length)
{
	char *copy = document_alloc(document, length + 1);

	return copy ? memcpy(copy, text, length) : NULL;
}

static const char *document_file(struct document *document, const char *name)
{
	struct file_name *file;

	for (file = document->files; file; file = file->next)
		if (!strcmp(file->text, name))
			return file->text;
	file = document_alloc(document, sizeof(*file) + strlen(name) + 1);
	if (!file)
		return NULL;
	strcpy(file->text, name);
	file->next = document->files;
	document->files = file;
	return file->text;
}

void document_free(struct document *document)
{
	if (!document)
		return;
	for (struct chunk *chunk = document->chunks, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(document);
}

struct node *document_root(const struct document *document)
{
	return document->root;
}

/* ---- text to nodes ---- */

struct builder {
	struct document *document;
	const char *file, *text;
	struct error *error;
	yaml_parser_t parser;
	yaml_event_t event; /* the current one; freed when the next is asked for */
	unsigned events, depth;
};

static bool event_error(struct builder *builder, const char *message)
{
	yaml_mark_t mark = builder->event.start_mark;

	return error_at(builder->error, builder->file, (unsigned)mark.line + 1,
			(unsigned)mark.column + 1, "%s", message);
}

/* libyaml places what its reader refuses by byte, the rest by line and column. */
static bool parser_error(struct builder *builder)
{
	const yaml_parser_t *parser = &builder->parser;
	size_t line = parser->problem_mark.line, column = parser->problem_mark.column;

	if (parser->error == YAML_MEMORY_ERROR)
		return error_set(builder->error, "out of memory");
	if (parser->error == YAML_READER_ERROR) {
		line = column = 0;
		for (size_t i = 0; i < parser->problem_offset; i++) {
			bool ends = builder->text[i] == '\n';

			line += ends;
			column = ends ? 0 : column + 1;
		}
	}
	return error_at(builder->error, builder->file, (unsigned)line + 1, (unsigned)column + 1,
			"not YAML: %s%s%s", parser->problem ? parser->problem : "",
			parser->context ? " " : "", parser->context ? parser->context : "");
}

static bool event_next(struct builder *builder)
{
	if (++builder->events > EVENT_LIMIT)
		return event_error(builder, "too many values, expected at most 1000000");
	yaml_event_delete(&builder->event);
	return yaml_parser_parse(&builder->parser, &builder->event) || parser_error(builder);
}

static bool text_has_control(const unsigned char *text)
{
	for (; *text; text++)
		if ((*text < 0x20 && *text != '\n' && *text != '\t') || *text == 0x7f ||
		    (*text == 0xc2 && text[1] < 0xa0))
			return true;
	return false;
}

static const char *scalar_take(struct builder *builder)
{
	const char *text = (const char *)builder->event.data.scalar.value, *copy;
	size_t length = builder->event.data.scalar.length;

	if (builder->event.data.scalar.anchor || builder->event.data.scalar.tag)
		return event_error(builder, "anchors and tags are refused, expected a plain value"),
		       NULL;
	if (length > SCALAR_LIMIT)
		return event_error(builder, "text is too long, expected at most 4096 bytes"), NULL;
	if (strlen(text) != length || text_has_control((const unsigned char *)text))
		return event_error(builder, "control character in text, expected none"), NULL;
	copy = document_string(builder->document, text, length);
	if (!copy)
		error_set(builder->error, "out of memory");
	return copy;
}

static int key_compare(const void *left, const void *right)
{
	const struct node *a = *(struct node *const *)left, *b = *(struct node *const *)right;
	int order = strcmp(a->key, b->key);

	if (order)
		return order;
	if (a->key_line != b->key_line)
		return a->key_line < b->key_line ? -1 : 1;
	return a->key_column < b->key_column ? -1 : a->key_column > b->key_column;
}

/* Sorted, not pairwise: a hostile map has as many keys as a file has lines. */
static bool keys_are_unique(struct builder *builder, const struct node *map)
{
	size_t count = node_count(map), i = 0;
	struct node **sorted;
	bool unique = true;

	if (count < 2)
		return true;
	sorted = calloc(count, sizeof(struct node *));
	if (!sorted)
		return error_set(builder->error, "out of memory");
	for (struct node *child = map->first; child; child = child->next)
		sorted[i++] = child;
	qsort(sorted, count, sizeof(struct node *), key_compare);
	for (i = 1; i < count && unique; i++)
		if (!strcmp(sorted[i - 1]->key, sorted[i]->key))
			unique = node_key_error(sorted[i], builder->error,
						"key '%.60s' is given twice, first at line %u",
						sorted[i]->key, sorted[i - 1]->key_line);
	free(sorted);
	return unique;
}

static bool value_read(struct builder *builder, struct node *node);

static bool child_read(struct builder *builder, struct node *parent, struct node *child)
{
	if (parent->kind == NODE_MAP) {
		if (builder->event.type != YAML_SCALAR_EVENT)
			return event_error(builder, "a key must be plain text");
		child->key = scalar_take(builder);
		if (!child->key)
			return false;
		child->key_line = (unsigned)builder->event.start_mark.line + 1;
		child->key_column = (unsigned)builder->event.start_mark.column + 1;
		if (!event_next(builder))
			return false;
	}
	return value_read(builder, child);
}

static bool children_read(struct builder *builder, struct node *parent, yaml_event_type_t end)
{
	struct node **tail = &parent->first;

	if (++builder->depth > DEPTH_LIMIT)
		return event_error(builder, "nested too deep, expected at most 32 levels");
	for (;;) {
		if (!event_next(builder))
			return false;
		if (builder->event.type == end)
			break;
		*tail = document_alloc(builder->document, sizeof(**tail));
		if (!*tail)
			return error_set(builder->error, "out of memory");
		if (!child_read(builder, parent, *tail))
			return false;
		tail = &(*tail)->next;
	}
	builder->depth--;
	return parent->kind == NODE_LIST || keys_are_unique(builder, parent);
}

/* Fills the node from the current event, and the events up to its end where it has children. */
static bool value_read(struct builder *builder, struct node *node)
{
	const yaml_event_t *event = &builder->event;

	node->file = builder->file;
	node->line = (unsigned)event->start_mark.line + 1;
	node->column = (unsigned)event->start_mark.column + 1;
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		node->kind = NODE_SCALAR;
		node->text = scalar_take(builder);
		return node->text;
	case YAML_MAPPING_START_EVENT:
		if (event->data.mapping_start.anchor || event->data.mapping_start.tag)
			break;
		node->kind = NODE_MAP;
		return children_read(builder, node, YAML_MAPPING_END_EVENT);
	case YAML_SEQUENCE_START_EVENT:
		if (event->data.sequence_start.anchor || event->data.sequence_start.tag)
			break;
		node->kind = NODE_LIST;
		return children_read(builder, node, YAML_SEQUENCE_END_EVENT);
	default:
		break;
	}
	return event_error(builder,
			   "aliases, anchors and tags are refused, expected the value itself");
}

/* libyaml compares each %TAG line with all before it, inside one event: none may reach it. Line
 * breaks are those of YAML 1.1. */
static bool directives_refused(struct builder *builder, size_t length)
{
	static const char *const breaks[] = { "\n", "\r", "\xc2\x85", "\xe2\x80\xa8",
					      "\xe2\x80\xa9" };
	const char *text = builder->text, *at = text;
	unsigned line = 1;

	for (; (at = memchr(at, '%', length - (size_t)(at - text))); at++) {
		bool starts = at == text;

		for (size_t i = 0; i < sizeof(breaks) / sizeof(*breaks) && !starts; i++) {
			size_t size = strlen(breaks[i]);

			starts = (size_t)(at - text) >= size && !memcmp(at - size, breaks[i], size);
		}
		if (!starts)
			continue;
		for (const char *c = text; c < at; c++)
			line += *c == '\n';
		return error_at(builder->error, builder->file, line, 1,
				"a line starts with '%%', expected no directives");
	}
	return true;
}

static bool stream_read(struct builder *builder)
{
	struct node *root = document_alloc(builder->document, sizeof(*root));

	if (!root)
		return error_set(builder->error, "out of memory");
	builder->document->root = root;
	if (!event_next(builder) || !event_next(builder)) /* the stream, the document */
		return false;
	if (builder->event.type == YAML_STREAM_END_EVENT)
		return error_at(builder->error, builder->file, 1, 1, "empty, expected YAML");
	if (!event_next(builder) || !value_read(builder, root) || !event_next(builder) ||
	    !event_next(builder))
		return false;
	return builder->event.type == YAML_STREAM_END_EVENT ||
	       event_error(builder, "a second document, expected one");
}

struct document *document_parse(const char *name, const char *text, size_t length,
				struct error *error)
{
	struct builder builder = { .text = text, .error = error };
	bool good;

	if (length > FILE_LIMIT) {
		file_too_long(name, FILE_LIMIT, error);
		return NULL;
	}
	if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		builder.text += 3;
		length -= 3;
	}
	builder.document = calloc(1, sizeof(struct document));
	builder.file = builder.document ? document_file(builder.document, name) : NULL;
	if (!builder.file || !yaml_parser_initialize(&builder.parser)) {
		document_free(builder.document);
		error_set(error, "out of memory");
		return NULL;
	}
	yaml_parser_set_encoding(&builder.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&builder.parser, (const unsigned char *)builder.text, length);
	good = directives_refused(&builder, length) && stream_read(&builder);
	yaml_event_delete(&builder.event);
	yaml_parser_delete(&builder.parser);
	if (good)
		return builder.document;
	document_free(builder.document);
	return NULL;
}

/* ---- files ---- */

struct document *document_load(const char *path, struct error *error)
{
	size_t length;
	char *text = file_read(path, FILE_LIMIT, &length, error);
	struct document *document = text ? document_parse(path, text, length, error) : NULL;

	free(text);
	return document;
}

/* ---- copies and overrides ---- */

static struct node *node_copy(struct document *document, const struct node *node)
{
	struct node *copy = document_alloc(document, sizeof(*copy)), **tail;

	if (!copy)
		return NULL;
	*copy = *node;
	copy->next = copy->first = NULL;
	copy->file = document_file(document, node->file);
	if (node->key)
		copy->key = document_string(document, node->key, strlen(node->key));
	if (node->text)
		copy->text = document_string(document, node->text, strlen(node->text));
	if (!copy->file || !copy->key != !node->key || !copy->text != !node->text)
		return NULL;
	tail = &copy->first;
	for (const struct node *child = node->first; child; child = child->next) {
		*tail = node_copy(document, child);
		if (!*tail)
			return NULL;
		tail = &(*tail)->next;
	}
	return copy;
}

struct document *document_copy(const struct document *document)
{
	struct document *copy = calloc(1, sizeof(*copy));

	if (copy)
		copy->root = node_copy(copy, document->root);
	if (copy && copy->root)
		return copy;
	document_free(copy);
	return NULL;
}

static unsigned node_height(const struct node *node)
{
	unsigned height = 0;

	for (const struct node *child = node->first; child; child = child->next) {
		unsigned below = 1 + node_height(child);

		height = below > height ? below : height;
	}
	return height;
}

/* The link that holds the child with this key, or the one to hang it on. */
static struct node **child_link(struct node *map, const char *key, size_t length)
{
	struct node **link = &map->first;

	while (*link && (strncmp((*link)->key, key, length) || (*link)->key[length]))
		link = &(*link)->next;
	return link;
}

static bool path_is_sound(const char *path, const struct node *value, struct error *error)
{
	unsigned depth = node_height(value);

	for (;; path++) {
		size_t length = strcspn(path, ".");

		depth++;
		if (!length)
			return node_error(value, error,
					  "a path with an empty step, expected name.name");
		path += length;
		if (!*path)
			break;
	}
	return depth <= DEPTH_LIMIT ||
	       node_error(value, error, "a path too deep, expected at most 32 levels");
}

/* Hangs `child` under a key, in place of the one that was there. It keeps where `value` stands. */
static bool child_hang(struct document *document, struct node **link, const char *key,
		       size_t length, struct node *child, const struct node *value)
{
	if (!child)
		return false;
	child->file = document_file(document, value->file);
	child->line = value->line;
	child->column = value->column;
	child->key = document_string(document, key, length);
	child->key_line = value->key ? value->key_line : value->line;
	child->key_column = value->key ? value->key_column : value->column;
	child->next = *link ? (*link)->next : NULL;
	if (!child->file || !child->key)
		return false;
	*link = child;
	return true;
}

static struct node *map_make(struct document *document)
{
	struct node *map = document_alloc(document, sizeof(*map));

	if (map)
		map->kind = NODE_MAP;
	return map;
}

/* Every refusal comes before the first change: maps are made only below the last node there is. */
bool document_set_node(struct document *document, const char *path, const struct node *value,
		       struct error *error)
{
	struct node *map = document->root, *copy, **link;
	size_t length;

	if (!path_is_sound(path, value, error))
		return false;
	copy = node_copy(document, value);
	for (; copy; path += length + 1) {
		length = strcspn(path, ".");
		if (map->kind != NODE_MAP)
			return node_error(value, error, "'%.60s' is not in a map, expected one",
					  path);
		link = child_link(map, path, length);
		if (!path[length] && child_hang(document, link, path, length, copy, value))
			return true;
		if (!path[length])
			break;
		if (!*link && !child_hang(document, link, path, length, map_make(document), value))
			break;
		map = *link;
	}
	return error_set(error, "out of memory");
}

bool document_set(struct document *document, const char *path, const char *value, const char *name,
		  struct error *error)
{
	struct document *parsed = document_parse(name, value, strlen(value), error);
	bool set = parsed && document_set_node(document, path, parsed->root, error);

	document_free(parsed);
	return set;
}
