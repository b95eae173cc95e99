/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE /* asprintf */
#include "layout/layout.h"
#include "config/schema.h"
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SIZE_LIMIT = 1 << 20,
	ALIGN_LIMIT = 4096,
	NESTING_LIMIT = 16,
};

/* A file of the nest, read once however many fields refer to it. */
struct nested {
	struct nested *next;
	char *name;
	struct layout *layout; /* NULL while it is being read: who asks then has found a cycle */
};

struct loader {
	const struct layout_source *source;
	struct nested *all;
	unsigned depth;
	struct error *error;
};

struct header {
	const char *layout, *structure, *source;
	uint64_t size, align;
	const struct node *fields;
};

/* One line below `fields:`. */
struct entry {
	const struct node *node;
	uint32_t offset, size;
	const char *layout, *union_with;
	uint32_t group; /* entries that `union_with` joins, directly or through others, share one */
};

static const struct key header_keys[] = {
	{ "layout", VALUE_STRING, offsetof(struct header, layout), .required = true },
	{ "struct", VALUE_STRING, offsetof(struct header, structure), .required = true },
	{ "size", VALUE_SIZE, offsetof(struct header, size), .required = true, .min = 1,
	  .max = SIZE_LIMIT },
	{ "align", VALUE_SIZE, offsetof(struct header, align), .required = true, .min = 1,
	  .max = ALIGN_LIMIT },
	{ "source", VALUE_STRING, offsetof(struct header, source), .required = true },
	{ "fields", VALUE_NODE, offsetof(struct header, fields), .required = true },
	{ .name = NULL },
};

static const struct key entry_keys[] = {
	{ "offset", VALUE_COUNT, offsetof(struct entry, offset), .required = true, .min = 0,
	  .max = SIZE_LIMIT },
	{ "size", VALUE_COUNT, offsetof(struct entry, size), .required = true, .min = 0,
	  .max = SIZE_LIMIT },
	{ "layout", VALUE_STRING, offsetof(struct entry, layout), .required = false },
	{ "union_with", VALUE_STRING, offsetof(struct entry, union_with), .required = false },
	{ .name = NULL },
};

/* ---- checks of one file ---- */

static bool name_is_sound(const char *name)
{
	size_t length = strlen(name);

	if (length > LAYOUT_NAME_LIMIT || !(isalpha((unsigned char)*name) || *name == '_'))
		return false;
	return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.[]") ==
	       length;
}

static bool header_read(const struct document *document, const char *name, struct header *header,
			struct error *error)
{
	const struct node *root = document_root(document);

	if (!schema_read(root, header_keys, header, error))
		return false;
	if (name && strcmp(header->layout, name))
		return node_error(node_get(root, "layout"), error,
				  "'%.60s', expected '%.60s' as the file is called", header->layout,
				  name);
	if (header->align & (header->align - 1))
		return node_error(node_get(root, "align"), error,
				  "not a power of two, expected one");
	if (header->fields->kind != NODE_MAP || !header->fields->first)
		return node_error(header->fields, error,
				  "no fields, expected NAME: {offset: N, size: N}");
	if (node_count(header->fields) > LAYOUT_FIELD_LIMIT)
		return node_error(header->fields, error, "too many fields, expected at most %d",
				  LAYOUT_FIELD_LIMIT);
	return true;
}

static bool entry_read(const struct node *node, uint32_t struct_size, struct entry *entry,
		       struct error *error)
{
	if (!name_is_sound(node->key))
		return node_key_error(node, error,
				      "'%.60s' is no field, expected letters, digits, _ . [ ]",
				      node->key);
	*entry = (struct entry){ .node = node };
	if (!schema_read(node, entry_keys, entry, error))
		return false;
	return entry->offset + entry->size <= struct_size ||
	       node_key_error(node, error, "'%s' ends at byte %u, expected at most %u", node->key,
			      entry->offset + entry->size, struct_size);
}

/* Joins the groups of entries that share bytes by intent. */
static bool unions_join(struct entry *entries, size_t count, struct error *error)
{
	for (size_t i = 0; i < count; i++) {
		const struct node *node = entries[i].node;
		uint32_t from = entries[i].group;
		size_t other = 0;

		if (!entries[i].union_with)
			continue;
		while (other < count && strcmp(entries[other].node->key, entries[i].union_with))
			other++;
		if (other == count || other == i)
			return node_error(node_get(node, "union_with"), error,
					  "'%.60s', expected another field of this file",
					  entries[i].union_with);
		for (size_t j = 0; j < count; j++)
			if (entries[j].group == from)
				entries[j].group = entries[other].group;
	}
	return true;
}

static uint64_t place_in_file(const struct entry *entry)
{
	return (uint64_t)entry->node->key_line << 32 | entry->node->key_column;
}

static int entry_compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return place_in_file(a) < place_in_file(b) ? -1 : place_in_file(a) > place_in_file(b);
}

/* A nested layout fills its entry exactly, so to compare the entries of each file is to compare all
 * leaves. */
static bool entries_are_apart(struct entry *entries, size_t count, struct error *error)
{
	qsort(entries, count, sizeof(*entries), entry_compare);
	for (size_t i = 0; i < count; i++) {
		const struct entry *a = &entries[i];

		for (const struct entry *b = a + 1;
		     b < entries + count && b->offset < a->offset + a->size; b++)
			if (b->size && a->group != b->group)
				return node_key_error(b->node, error,
						      "'%s' at byte %u lies in '%s', bytes %u to "
						      "%u, expected union_with",
						      b->node->key, b->offset, a->node->key,
						      a->offset, a->offset + a->size - 1);
	}
	return true;
}

/* ---- from documents ---- */

static bool ends_in_yaml(const char *name)
{
	size_t length = strlen(name);

	return length > 5 && !strcmp(name + length - 5, ".yaml");
}

static const struct layout *nested_load(struct loader *loader, const char *name,
					const struct node *at);

static bool entry_open(struct loader *loader, const struct entry *entry, struct layout *layout)
{
	const char *name = entry->node->key;
	const struct layout *nested;

	if (!entry->layout && layout->field_count < LAYOUT_FIELD_LIMIT)
		return layout_add(layout, "", name, entry->offset, entry->size) ||
		       error_set(loader->error, "out of memory");
	nested = entry->layout ? nested_load(loader, entry->layout, node_get(entry->node, "layout"))
			       : NULL;
	if (entry->layout && !nested)
		return false;
	if (!nested || nested->field_count > LAYOUT_FIELD_LIMIT - layout->field_count)
		return node_key_error(entry->node, loader->error,
				      "too many fields with those nested, expected at most %d",
				      LAYOUT_FIELD_LIMIT);
	if (nested->size != entry->size)
		return node_error(node_get(entry->node, "size"), loader->error,
				  "%u, expected %u as '%.60s' has it", entry->size, nested->size,
				  nested->name);
	for (uint32_t i = 0; i < nested->field_count; i++) {
		const struct layout_field *field = &nested->fields[i];

		if (!layout_add(layout, name, field->name, entry->offset + field->offset,
				field->size))
			return error_set(loader->error, "out of memory");
	}
	return true;
}

static bool fields_open(struct loader *loader, const struct node *fields, struct layout *layout)
{
	size_t count = node_count(fields), i = 0;
	struct entry *entries = calloc(count, sizeof(*entries));
	bool good = entries || error_set(loader->error, "out of memory");

	for (const struct node *node = fields->first; node && good; node = node->next) {
		good = entry_read(node, layout->size, &entries[i], loader->error);
		entries[i].group = (uint32_t)i;
		i++;
	}
	good = good && unions_join(entries, count, loader->error) &&
	       entries_are_apart(entries, count, loader->error);
	for (i = 0; i < count && good; i++)
		good = entry_open(loader, &entries[i], layout);
	free(entries);
	for (i = 0; good && i < layout->field_count; i++)
		if (layout_find(layout, layout->fields[i].name) != &layout->fields[i])
			return node_error(fields, loader->error,
					  "'%.60s' names two fields, expected one",
					  layout->fields[i].name);
	return good;
}

static struct layout *file_read(struct loader *loader, const char *name, const struct node *at)
{
	const struct layout_source *source = loader->source;
	struct document *document = source->find(source->context, name, at, loader->error);
	struct header header;
	struct layout *layout = NULL;

	if (document &&
	    header_read(document, ends_in_yaml(name) ? NULL : name, &header, loader->error)) {
		layout = layout_new(header.layout, header.structure, header.source);
		if (!layout)
			error_set(loader->error, "out of memory");
	}
	if (layout) {
		layout->size = (uint32_t)header.size;
		layout->align = (uint32_t)header.align;
		if (!fields_open(loader, header.fields, layout)) {
			layout_free(layout);
			layout = NULL;
		}
	}
	document_free(document);
	return layout;
}

static const struct layout *nested_load(struct loader *loader, const char *name,
					const struct node *at)
{
	struct nested *nested = loader->all;

	while (nested && strcmp(nested->name, name))
		nested = nested->next;
	if (nested && !nested->layout)
		node_error(at, loader->error, "'%.60s' contains itself, expected no cycle", name);
	if (nested)
		return nested->layout;
	if (loader->depth == NESTING_LIMIT)
		return node_error(at, loader->error, "nested too deep, expected at most %d layouts",
				  NESTING_LIMIT),
		       NULL;
	nested = calloc(1, sizeof(*nested));
	if (!nested || !(nested->name = strdup(name))) {
		free(nested);
		return error_set(loader->error, "out of memory"), NULL;
	}
	nested->next = loader->all;
	loader->all = nested;
	loader->depth++;
	nested->layout = file_read(loader, name, at);
	loader->depth--;
	return nested->layout;
}

struct layout *layout_read(const struct layout_source *source, const char *name,
			   const struct node *at, struct error *error)
{
	struct loader loader = { .source = source, .error = error };
	struct layout *layout = (struct layout *)nested_load(&loader, name, at);

	for (struct nested *nested = loader.all, *next; nested; nested = next) {
		next = nested->next;
		if (nested->layout != layout)
			layout_free(nested->layout);
		free(nested->name);
		free(nested);
	}
	return layout;
}

/* ---- from files ---- */

static int is_layout_file(const struct dirent *entry)
{
	return ends_in_yaml(entry->d_name);
}

static bool layout_missing(const char *directory, const char *name, const struct node *at,
			   struct error *error)
{
	struct dirent **files;
	int count = scandir(directory, &files, is_layout_file, alphasort);
	const char *near = NULL,
		   **names = calloc((size_t)(count > 0 ? count : 0) + 1, sizeof(*names));
	char text[384];

	for (int i = 0; i < count && names; i++) {
		files[i]->d_name[strlen(files[i]->d_name) - 5] = '\0';
		names[i] = files[i]->d_name;
	}
	near = names ? nearest(name, names) : NULL;
	snprintf(text, sizeof(text), "no layout '%.100s' in %.100s, %s%.100s%s", name, directory,
		 near ? "did you mean '" : "expected the name of a file there", near ? near : "",
		 near ? "'?" : "");
	for (int i = 0; i < count; i++)
		free(files[i]);
	if (count >= 0)
		free(files);
	free(names);
	return at ? node_error(at, error, "%s", text) : error_set(error, "%s", text);
}

static struct document *file_find(const void *context, const char *name, const struct node *at,
				  struct error *error)
{
	const char *directory = context;
	struct document *document = NULL;
	char *path;

	if (ends_in_yaml(name) && at && access(name, F_OK))
		return node_error(at, error, "no file '%.200s', expected a layout", name), NULL;
	if (ends_in_yaml(name))
		return document_load(name, error);
	if (asprintf(&path, "%s/%s.yaml", directory, name) < 0) {
		error_set(error, "out of memory");
		return NULL;
	}
	if (strchr(name, '/') || access(path, F_OK))
		layout_missing(directory, name, at, error);
	else
		document = document_load(path, error);
	free(path);
	return document;
}

struct layout *layout_load(const char *directory, const char *name, const struct node *at,
			   struct error *error)
{
	return layout_read(&(struct layout_source){ file_find, directory }, name, at, error);
}

/* ---- from text ---- */

struct text {
	const char *directory, *text;
	size_t length;
};

static struct document *text_find(const void *context, const char *name, const struct node *at,
				  struct error *error)
{
	const struct text *text = context;

	return at ? file_find(text->directory, name, at, error)
		  : document_parse(name, text->text, text->length, error);
}

struct layout *layout_parse(const char *directory, const char *name, const char *text,
			    size_t length, struct error *error)
{
	const struct text context = { directory, text, length };

	return layout_read(&(struct layout_source){ text_find, &context }, name, NULL, error);
}
