/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/check_table.h"
#include <string.h>

enum { DOES_SIZE = 160 };

static const char *cache_action(int k)
{
	return cache_action_name((enum cache_action)k);
}

static const char *home_action(int k)
{
	return home_action_name((enum home_action)k);
}

/* "take, done", in the order of protocol.def; "-" for nothing. */
static const char *does(const struct protocol_row *row, int count, const char *(*name)(int),
			char *text)
{
	size_t length = 0;

	text[0] = '\0';
	for (int k = 0; k < count; k++)
		if (row->actions >> k & 1)
			length += (size_t)snprintf(text + length, DOES_SIZE - length, "%s%s",
						   length ? ", " : "", name(k));
	return length ? text : "-";
}

static void print_head(FILE *out, const char *whose, bool markdown)
{
	if (markdown)
		fprintf(out, "\n| %s | event | does | next |\n| --- | --- | --- | --- |\n", whose);
	else
		fprintf(out, "\n%-7s %-14s %-28s %s\n", whose, "event", "does", "next");
}

static void print_row(FILE *out, bool markdown, const char *state, const char *event,
		      const char *actions, const char *next)
{
	fprintf(out, markdown ? "| %s | %s | %s | %s |\n" : "%-7s %-14s %-28s %s\n", state, event,
		actions, next);
}

void check_table_print(FILE *out, const struct protocol_variant *variant, bool markdown)
{
	struct protocol rows;
	char text[DOES_SIZE];

	protocol_select(&rows, variant);
	fprintf(out, "%sprotocol %s, s_eviction %s, home %s, atomics %s\n", markdown ? "## " : "",
		protocol_kind_names[variant->protocol], eviction_names[variant->eviction],
		home_kind_names[variant->home], atomics_names[variant->atomics]);
	print_head(out, "cache", markdown);
	for (int s = 0; s < CACHE_STATE_COUNT; s++)
		for (int e = 0; e < CACHE_EVENT_COUNT; e++) {
			const struct protocol_row *row = &rows.cache[s][e];

			if (row->valid)
				print_row(out, markdown, cache_state_name((enum cache_state)s),
					  cache_event_name((enum cache_event)e),
					  does(row, CACHE_ACTION_COUNT, cache_action, text),
					  cache_state_name(row->next));
		}
	print_head(out, "home", markdown);
	for (int s = 0; s < HOME_STATE_COUNT; s++)
		for (int e = 0; e < HOME_EVENT_COUNT; e++) {
			const struct protocol_row *row = &rows.home[s][e];

			if (row->valid)
				print_row(out, markdown, home_state_name((enum home_state)s),
					  home_event_name((enum home_event)e),
					  does(row, HOME_ACTION_COUNT, home_action, text),
					  home_state_name(row->next));
		}
}
