/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A YAML file as a tree of nodes that remember where they stand.
 *
 * Files come from strangers: at most 1 MiB, 32 levels, 1,000,000 events, 4 KiB a scalar; aliases,
 * anchors, tags, directives, a second document, duplicate keys and control characters are refused
 * (libyaml 0.2.5 has no limits of its own), and so is, unread, what is no regular file. */
#ifndef CONFIG_YAML_H
#define CONFIG_YAML_H

#include "config/error.h"
#include <stddef.h>

enum node_kind { NODE_SCALAR, NODE_MAP, NODE_LIST };

struct node {
	enum node_kind kind;
	const char *file;      /* for messages; "--set" for an override */
	unsigned line, column; /* of the value, from 1 */
	unsigned key_line, key_column;
	const char *key;    /* of an entry of a map; NULL elsewhere */
	const char *text;   /* of a scalar */
	struct node *first; /* children, in file order */
	struct node *next;  /* next child of the same parent */
};

struct document; /* owns every node and every string in it */

/* Reads a file. Returns NULL with *error set where it cannot be read or is refused. */
struct document *document_load(const char *path, struct error *error);
/* The same from memory; `name` stands for the file in messages. */
struct document *document_parse(const char *name, const char *text, size_t length,
				struct error *error);
/* A deep copy, so that each variant can be overridden apart. */
struct document *document_copy(const struct document *document);
void document_free(struct document *document);
struct node *document_root(const struct document *document);

/* Sets the value at a dotted path (`transfer.same_socket.dirty`) to a copy of `value` (any kind of
 * node), making maps on the way where they are missing. A path that runs through a scalar is an
 * error, placed at `value`. */
bool document_set_node(struct document *document, const char *path, const struct node *value,
		       struct error *error);
/* The same with the value given as YAML text, e.g. from `--set path=value`; `name` for messages. */
bool document_set(struct document *document, const char *path, const char *value, const char *name,
		  struct error *error);

/* The child of a map with this key, or NULL (also where `map` is NULL or not a map). */
const struct node *node_get(const struct node *map, const char *key);
/* The node at a dotted path below `map`, or NULL. */
const struct node *node_at(const struct node *map, const char *path);
/* Number of children. */
size_t node_count(const struct node *node);
/* Records an error at the node's value (or at its key). Returns false. */
bool node_error(const struct node *node, struct error *error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool node_key_error(const struct node *node, struct error *error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
