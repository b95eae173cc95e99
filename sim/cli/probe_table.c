/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/probe_table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const double probe_tolerance[PROBE_CLASSES] = { [CLASS_SINGLE] = 10,
						[CLASS_SPREAD] = 10,
						[CLASS_CONTENDED] = 25,
						[CLASS_PLAIN] = 25,
						[CLASS_SHARES] = 25 };

/* A load before the compare-exchange makes a pair of threads compete, as many do. */
enum probe_class probe_row_class(const struct probe_row *row)
{
	const struct probe *probe = row->probe;

	if (!strcmp(probe->unit, "ratio"))
		return CLASS_SHARES;
	if (!strcmp(probe->name, "plain_add"))
		return CLASS_PLAIN;
	if (probe->scales || !strncmp(probe->name, "load_cas", 8))
		return CLASS_CONTENDED;
	return row->published && (row->figure.at == AT_P10 || row->figure.at == AT_P90)
		       ? CLASS_SPREAD
		       : CLASS_SINGLE;
}

double probe_row_error(const struct probe_row *row)
{
	return row->published ? (row->simulated / row->expected - 1) * 100 : NAN;
}

const char *probe_row_role(const struct probe_row *row)
{
	return !row->published ? "" : row->figure.input ? "input" : "prediction";
}

/* ---- rows ----------------------------------------------------------------------------------- */

static bool add_row(struct probe_table *table, const struct probe_row *row, struct error *error)
{
	if (table->count == table->room) {
		size_t room = table->room ? 2 * table->room : 64;
		struct probe_row *rows = reallocarray(table->rows, room, sizeof(*rows));

		if (!rows)
			return error_set(error, "out of memory");
		table->rows = rows;
		table->room = room;
	}
	table->rows[table->count++] = *row;
	return true;
}

static uint32_t cpu_count(const struct machine_config *config)
{
	return config->sockets * config->cores_per_socket * config->smt;
}

static bool unknown_figure(const struct node *name, struct error *error)
{
	const char *names[64];
	size_t count = 0;

	for (const struct probe *probe = probes; probe->name && count < 63; probe++)
		names[count++] = probe->name;
	names[count] = NULL;
	return node_unknown(name, false, name->text, names, error);
}

static bool published_row(const struct probe_table *table, const struct node *entry,
			  struct probe_row *row, struct error *error)
{
	struct machine_figure *figure = &row->figure;

	if (!machine_file_figure(entry, figure, error))
		return false;
	row->published = true;
	row->probe = probe_find(figure->figure);
	row->threads = figure->threads;
	if (!row->probe)
		return unknown_figure(node_get(entry, "figure"), error);
	if (row->probe->scales && !figure->threads)
		return node_error(entry, error, "key 'threads' is missing, expected it for %s",
				  row->probe->name);
	if (!row->probe->scales && figure->threads)
		return node_key_error(node_get(entry, "threads"), error,
				      "%s is not for a number of threads, expected none",
				      row->probe->name);
	if (figure->threads > cpu_count(&table->config))
		return node_error(node_get(entry, "threads"), error,
				  "more than the machine's %u CPUs, expected at most that",
				  cpu_count(&table->config));
	if (!strcmp(row->probe->unit, "ratio"))
		return node_real(figure->value, 0, 1e6, &row->expected, error);
	return node_duration(figure->value, &row->time, error);
}

static bool add_published(struct probe_table *table, const struct probe *probe, uint32_t threads,
			  bool *found, struct error *error)
{
	const struct node *entry = machine_file_published(document_root(table->document));

	for (; entry; entry = entry->next) {
		struct probe_row row = { 0 };

		if (!published_row(table, entry, &row, error))
			return false;
		if (row.probe != probe || row.threads != threads)
			continue;
		*found = true;
		if (!add_row(table, &row, error))
			return false;
	}
	return true;
}

/* Every probe once, those that scale at some numbers of threads, and all that is published. */
static bool list_rows(struct probe_table *table, bool only_published, struct error *error)
{
	uint32_t cpus = cpu_count(&table->config), cores = cpus / table->config.smt;

	for (const struct probe *probe = probes; probe->name; probe++)
		for (uint32_t n = 0; n <= (probe->scales ? cpus : 0); n++) {
			const struct probe_row row = { .probe = probe, .threads = n };
			bool usual = probe->scales
					     ? n == 1 || n == 2 || n == 4 || n == cores || n == cpus
					     : true;
			bool found = false;

			if (!add_published(table, probe, n, &found, error))
				return false;
			if (usual && !found && !only_published && !add_row(table, &row, error))
				return false;
		}
	return true;
}

/* ---- simulation ----------------------------------------------------------------------------- */

static double value_at(const struct probe_value *range, int at)
{
	switch (at) {
	case AT_MIN:
		return range->low;
	case AT_P10:
		return range->p10;
	case AT_P90:
		return range->p90;
	case AT_MAX:
		return range->high;
	default:
		return range->value;
	}
}

/* The configuration of the part that was measured, if that was another. */
static bool part_config(const struct probe_table *table, const struct probe_row *row,
			struct document **document, struct machine_config *config,
			struct error *error)
{
	*config = table->config;
	if (!row->published || !row->figure.set)
		return true;
	*document = document_copy(table->document);
	if (!*document)
		return error_set(error, "out of memory");
	for (const struct node *key = row->figure.set->first; key; key = key->next)
		if (!document_set_node(*document, key->key, key, error))
			return false;
	if (!machine_file_read(document_root(*document), config, error))
		return false;
	config->coherence.seed = table->seed;
	return true;
}

bool probe_table_simulate(const struct probe_table *table, struct probe_row *row,
			  struct error *error)
{
	struct document *document = NULL;
	struct machine_config config;
	bool done = part_config(table, row, &document, &config, error) &&
		    probe_run(row->probe, &config, row->threads, &row->range, error);

	if (done && row->published && strcmp(row->probe->unit, "ratio") != 0)
		row->expected = duration_ns(row->time, config.clock);
	row->simulated = value_at(&row->range, row->figure.at);
	document_free(document);
	return done;
}

/* ---- a table -------------------------------------------------------------------------------- */

bool probe_table_load(struct probe_table *table, const char *path, struct error *error)
{
	table->document = document_load(path, error);
	return table->document;
}

bool probe_table_list(struct probe_table *table, bool only_published, struct error *error)
{
	if (!machine_file_read(document_root(table->document), &table->config, error))
		return false;
	table->config.coherence.seed = table->seed;
	return list_rows(table, only_published, error);
}

void probe_table_free(struct probe_table *table)
{
	document_free(table->document);
	free(table->rows);
	*table = (struct probe_table){ 0 };
}
