/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was measured, as a machine file and as a matrix. */
#include "native/calibrate.h"
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS_MOST = 96, KEY_SIZE = 64, VALUE_SIZE = 64, NOTE_SIZE = 700 };

/* A line of the file: a dotted key, what it is set to, and where that comes from. */
struct setting {
	char key[KEY_SIZE], value[VALUE_SIZE], note[NOTE_SIZE];
	bool assumed;
};

struct writing {
	const struct calibration *c;
	const char *const *unfit;
	struct setting settings[SETTINGS_MOST];
	uint32_t count;
	bool retains; /* transfer.retain is set, from fetch_add of two threads */
};

/* ---- settings ------------------------------------------------------------------------------- */

static struct setting *set(struct writing *writing, bool assumed, const char *key, const char *note,
			   const char *format, ...) __attribute__((format(printf, 5, 6)));
static struct setting *set(struct writing *writing, bool assumed, const char *key, const char *note,
			   const char *format, ...)
{
	struct setting *setting = &writing->settings[writing->count];
	va_list arguments;

	if (writing->count + 1 < SETTINGS_MOST)
		writing->count++;
	*setting = (struct setting){ .assumed = assumed };
	snprintf(setting->key, sizeof(setting->key), "%s", key);
	snprintf(setting->note, sizeof(setting->note), "%s", note);
	va_start(arguments, format);
	vsnprintf(setting->value, sizeof(setting->value), format, arguments);
	va_end(arguments);
	return setting;
}

/* Three digits after the point where a cycle is a part of that. */
static const char *amount(char *text, double value)
{
	snprintf(text, VALUE_SIZE, value < 10 ? "%.3g" : "%.4g", value);
	return text;
}

static void note_of(const struct calibrate_figure *figure, char *note)
{
	const struct sample *value = &figure->value;
	char pairs[VALUE_SIZE] = "", median[VALUE_SIZE], low[VALUE_SIZE], high[VALUE_SIZE];

	if (figure->pairs)
		snprintf(pairs, sizeof(pairs), ", %u pair%s", figure->pairs,
			 figure->pairs > 1 ? "s" : "");
	snprintf(note, NOTE_SIZE, "measured: %s%s, median of %u: %s %s, %s to %s%s%s",
		 figure->method, pairs, value->count, amount(median, value->median), figure->unit,
		 amount(low, value->low), amount(high, value->high),
		 figure->noise[0] ? "; disturbed: " : "", figure->noise);
}

static bool is_unfit(const struct writing *writing, const char *key)
{
	for (const char *const *unfit = writing->unfit; unfit && *unfit; unfit++)
		if (!strncmp(*unfit, key, strlen(*unfit)))
			return true;
	return false;
}

/* The key is what was measured; where nothing was, what is assumed, or it is left to the rule if that
 * is NULL. */
static void set_measured(struct writing *writing, const char *key, const char *name,
			 const char *otherwise, const char *why)
{
	const struct calibrate_figure *figure = calibration_figure(writing->c, name, 0);
	char note[NOTE_SIZE], value[VALUE_SIZE];

	if (figure && !is_unfit(writing, key)) {
		note_of(figure, note);
		set(writing, false, key, note, "%s ns", amount(value, figure->value.median));
	} else if (otherwise) {
		set(writing, true, key, why, "%s", otherwise);
	}
}

static void set_topology(struct writing *writing)
{
	const struct host *host = writing->c->host;
	const struct calibrate_shape *shape = &writing->c->shape;
	bool assumed = !host->known;
	const char *note =
		assumed ? "the host does not tell" : "hwloc, of the CPUs that may be used";

	set(writing, assumed, "topology.sockets", note, "%u", shape->sockets);
	set(writing, assumed, "topology.cores_per_socket", note, "%u", shape->cores_per_socket);
	if (shape->cores_per_die)
		set(writing, assumed, "topology.cores_per_die", note, "%u", shape->cores_per_die);
	if (shape->cores_per_cluster)
		set(writing, assumed, "topology.cores_per_cluster", note, "%u",
		    shape->cores_per_cluster);
	set(writing, assumed, "topology.smt", note, "%u", shape->smt);
	set(writing, assumed, "topology.line", note, "%u B", host->line);
}

/* Of sizes, the nearest that the model can have: whole ways, and where a mask finds the set a power of
 * two of them. */
static void set_cache(struct writing *writing, const char *key, const struct host_cache *cache,
		      bool mask, const struct host_cache *usual)
{
	bool told = cache->size && cache->ways;
	const struct host_cache *from = told ? cache : usual;
	uint32_t line = writing->c->host->line;
	uint64_t sets = from->size / line / from->ways, power = 1;
	char name[KEY_SIZE];
	const char *note = told ? "hwloc" : "the host does not tell";

	while (mask && power * 2 <= sets)
		power *= 2;
	sets = mask ? power : sets;
	snprintf(name, sizeof(name), "%s.size", key);
	set(writing, !told, name, note, "%llu KiB",
	    (unsigned long long)(sets * from->ways * line) >> 10);
	snprintf(name, sizeof(name), "%s.ways", key);
	set(writing, !told, name, note, "%u", from->ways);
}

/* A loop of loads and compare-exchanges: the model charges the load for itself, and a
 * compare-exchange no less than another locked operation. */
static void set_cmpxchg(struct writing *writing)
{
	const struct calibrate_figure *loop = calibration_figure(writing->c, "load_cas_loop", 1),
				      *load = calibration_figure(writing->c, "load_l1", 0),
				      *add = calibration_figure(writing->c, "locked_add", 0);
	char note[NOTE_SIZE], more[NOTE_SIZE + 40], value[VALUE_SIZE];
	double rest = loop && load ? loop->value.median - load->value.median : 0;

	if (!add || rest <= add->value.median)
		return;
	note_of(loop, note);
	snprintf(more, sizeof(more), "%s; less a load that hits the L1", note);
	set(writing, false, "core.locked_cmpxchg", more, "%s ns", amount(value, rest));
}

/* A store is a cycle of its own in the model. */
static void set_forward(struct writing *writing)
{
	const struct calibrate_figure *forward = calibration_figure(writing->c, "store_forward", 0),
				      *clock = calibration_figure(writing->c, "clock", 0);
	char note[NOTE_SIZE], more[NOTE_SIZE + 40], value[VALUE_SIZE];
	double cycles;

	if (!forward || !clock) {
		set(writing, true, "core.store_forward", "not measured", "5 cycles");
		return;
	}
	note_of(forward, note);
	snprintf(more, sizeof(more), "%s; less a cycle for the store", note);
	cycles = fmax(forward->value.median * clock->value.median - 1, 1);
	set(writing, false, "core.store_forward", more, "%s cycles", amount(value, cycles));
}

static void set_core(struct writing *writing)
{
	static const struct host_cache l1 = { 32 << 10, 8 }, l2 = { 1 << 20, 8 };
	const struct calibrate_figure *overlap =
		calibration_figure(writing->c, "loads_in_flight", 0);
	double lines = overlap ? fmin(fmax(round(overlap->value.median), 1), 24) : 10;
	char note[NOTE_SIZE] = "not measured";

	set_cache(writing, "core.l1", &writing->c->host->l1, true, &l1);
	set_measured(writing, "core.l1.latency", "load_l1", "4 cycles", "not measured");
	set_cache(writing, "core.l2", &writing->c->host->l2, true, &l2);
	set_measured(writing, "core.l2.latency", "load_l2", "14 cycles", "not measured");
	set_measured(writing, "core.locked_rmw", "locked_add", "18 cycles", "not measured");
	set_cmpxchg(writing);
	set_measured(writing, "core.fence", "fence", "33 cycles", "not measured");
	set(writing, true, "core.store_buffer",
	    "no user program can tell for sure; that of recent server cores is 56 to 72", "%d", 64);
	set_forward(writing);
	if (overlap)
		note_of(overlap, note);
	set(writing, !overlap, "core.loads_in_flight", note, "%.0f", lines);
	set(writing, true, "core.smt_slowdown",
	    writing->c->shape.smt > 1
		    ? "two threads of a core together do 1.33 times the work of one"
		    : "a core shows one thread",
	    "%s", writing->c->shape.smt > 1 ? "1.5" : "1");
}

static void set_memory(struct writing *writing)
{
	static const struct host_cache llc = { 32 << 20, 16 };
	const struct host *host = writing->c->host;

	set_cache(writing, "llc", &host->llc, false, &llc);
	set_measured(writing, "llc.latency", "load_llc", "20 ns", "not measured");
	set_measured(writing, "dram.local", "load_dram_local", "100 ns", "not measured");
	if (writing->c->shape.sockets > 1)
		set_measured(writing, "dram.remote", "load_dram_remote", "150 ns", "not measured");
}

/* ---- transfers ------------------------------------------------------------------------------ */

static const char *const level_keys[LEVELS] = { "same_core", "same_cluster", "same_die",
						"same_socket", "cross_socket" };

static bool lies_at(const struct calibration *c, int level)
{
	const struct calibrate_shape *shape = &c->shape;
	uint32_t below = shape->cores_per_die       ? shape->cores_per_die
			 : shape->cores_per_cluster ? shape->cores_per_cluster
						    : 1;

	switch (level) {
	case LEVEL_SMT:
		return shape->smt > 1;
	case LEVEL_CLUSTER:
		return shape->cores_per_cluster;
	case LEVEL_DIE:
		return shape->cores_per_die > shape->cores_per_cluster;
	case LEVEL_SAME:
		return shape->cores_per_socket > below;
	default:
		return shape->sockets > 1;
	}
}

/* What is assumed, but enough for the locked operations that it contains. */
static const char *assumed_hand_off(const struct writing *writing, double ns, char *text)
{
	const struct calibrate_figure *add = calibration_figure(writing->c, "locked_add", 0);

	snprintf(text, VALUE_SIZE, "%.0f ns", fmax(ns, add ? 4 * add->value.median : 0));
	return text;
}

static void set_hand_offs(struct writing *writing)
{
	char assumed[VALUE_SIZE];
	bool any = false;

	for (int level = 0; level < LEVELS; level++) {
		char key[KEY_SIZE], name[FIGURE_NAME], part[KEY_SIZE + 8], value[VALUE_SIZE];
		const struct calibrate_figure *figure;

		if (!lies_at(writing->c, level))
			continue;
		snprintf(name, sizeof(name), "hand_off_%s", calibrate_level_names[level]);
		snprintf(key, sizeof(key), "transfer.hand_off.%s", level_keys[level]);
		figure = calibration_figure(writing->c, name, 0);
		if (level == LEVEL_SMT) {
			set_measured(writing, key, name, NULL, "");
			continue;
		}
		any = true;
		if (figure && figure->pairs > 1) {
			snprintf(part, sizeof(part), "%s.min", key);
			set(writing, false, part, "the least over the pairs", "%s ns",
			    amount(value, figure->value.low));
		}
		snprintf(part, sizeof(part), "%s.median", key);
		set_measured(writing, part, name,
			     assumed_hand_off(writing, level == LEVEL_CROSS ? 120 : 50, assumed),
			     "not measured");
		if (figure && figure->pairs > 1) {
			snprintf(part, sizeof(part), "%s.max", key);
			set(writing, false, part, "the most over the pairs", "%s ns",
			    amount(value, figure->value.high));
		}
	}
	if (!any)
		set(writing, true, "transfer.hand_off.same_socket.median",
		    "there is one core only: nothing is handed over", "%s",
		    assumed_hand_off(writing, 50, assumed));
}

static void set_transfers_of(struct writing *writing, const char *kind, const char *figure)
{
	for (int level = LEVEL_CLUSTER; level < LEVELS; level++) {
		char key[KEY_SIZE], name[FIGURE_NAME];
		bool by_home = level == LEVEL_CROSS && !strcmp(kind, "dirty");

		if (!lies_at(writing->c, level))
			continue;
		snprintf(key, sizeof(key), "transfer.%s.%s%s", kind, level_keys[level],
			 by_home ? ".home_at_owner" : "");
		snprintf(name, sizeof(name), "%s_%s%s", figure, calibrate_level_names[level],
			 by_home ? "_at_owner" : "");
		set_measured(writing, key, name, NULL, "");
		if (!by_home)
			continue;
		set_measured(writing, "transfer.dirty.cross_socket.home_at_requester",
			     "load_dirty_cross_at_requester", NULL, "");
	}
}

/* The last of them begins within the time. */
double calibrate_retain(double operations, double operation_ns)
{
	double whole = round(operations);

	return whole > 1 ? (whole - 0.5) * operation_ns : 0;
}

/* The hand-off of the two CPUs that a contest of two threads takes; NULL where there are none. */
static const struct calibrate_figure *first_hand_off(const struct calibration *c)
{
	struct error ignored = { "" };
	uint32_t count = 0, *order = host_order(c->host, "compact", &count, &ignored);
	const struct calibrate_figure *figure = NULL;
	char name[FIGURE_NAME];

	if (order && count > 1) {
		enum calibrate_level level = calibrate_level(&c->shape, &c->host->cpus[order[0]],
							     &c->host->cpus[order[1]]);

		snprintf(name, sizeof(name), "hand_off_%s", calibrate_level_names[level]);
		figure = calibration_figure(c, name, 0);
	}
	free(order);
	return figure;
}

/* Two cores that are alone with each other: what a hand-off takes, each visit takes. */
static void set_retain(struct writing *writing)
{
	const struct calibrate_figure *hand_off = first_hand_off(writing->c),
				      *add = calibration_figure(writing->c, "locked_add", 0),
				      *two = calibration_figure(writing->c, "fetch_add", 2);
	double operations = hand_off && two ? hand_off->value.median / two->value.median : 1;
	double retain = add ? calibrate_retain(operations, add->value.median) : 0;
	char value[VALUE_SIZE], note[NOTE_SIZE];

	if (!(retain > 0) || is_unfit(writing, "transfer.retain"))
		return;
	snprintf(note, sizeof(note),
		 "measured: fetch_add of two threads goes %.1f times into their hand-off: so many "
		 "operations a visit, to the nearest",
		 operations);
	set(writing, false, "transfer.retain", note, "%s ns", amount(value, retain));
	writing->retains = true;
}

double calibrate_bias(const struct calibration *calibration)
{
	const struct calibrate_shape *shape = &calibration->shape;
	bool clusters = shape->cores_per_cluster;
	const uint64_t *before = calibration->before;
	double near = (double)before[BEFORE_SIBLING] + (double)before[BEFORE_CLUSTER] +
		      (clusters ? 0 : (double)before[BEFORE_SOCKET]),
	       far = (double)before[BEFORE_ELSEWHERE] +
		     (clusters ? (double)before[BEFORE_SOCKET] : 0),
	       groups = clusters ? (double)calibration->host->clusters : shape->sockets,
	       group = calibration->before_threads / groups;

	if (group <= 1 || groups < 2 || far < 1 || near < 1)
		return NAN;
	return near / far * (calibration->before_threads - group) / (group - 1);
}

/* A line that was loaded from the core that had stored to it: did that one keep a copy? */
static void set_migratory(struct writing *writing)
{
	const struct calibrate_figure *reload = NULL,
				      *l1 = calibration_figure(writing->c, "load_l1", 0);
	char note[NOTE_SIZE], name[FIGURE_NAME];

	for (int level = LEVEL_CLUSTER; level < LEVELS && !reload; level++) {
		snprintf(name, sizeof(name), "reload_%s", calibrate_level_names[level]);
		reload = calibration_figure(writing->c, name, 0);
	}
	if (!reload || !l1 || reload->value.median < 4 * l1->value.median)
		return;
	note_of(reload, note);
	set(writing, false, "transfer.migratory", note, "true");
}

static void set_discipline(struct writing *writing)
{
	double bias = calibrate_bias(writing->c);
	char note[NOTE_SIZE];

	snprintf(
		note, sizeof(note),
		"measured: owner traces of %u threads; waiters near the last owner came %.2f times "
		"as often as others",
		writing->c->before_threads, bias);
	if (bias > 1.2) {
		set(writing, false, "discipline", note, "biased");
		set(writing, false, "bias", note, "%.2f", bias);
	} else if (!isnan(bias)) {
		set(writing, false, "discipline", note, "random");
	} else {
		set(writing, true, "discipline", "too few CPUs here to show one", "random");
	}
}

static void set_transfers(struct writing *writing)
{
	set_hand_offs(writing);
	set_transfers_of(writing, "dirty", "load_dirty");
	set_transfers_of(writing, "clean", "load_clean");
	set_transfers_of(writing, "upgrade", "upgrade");
	set(writing, true, "transfer.invalidate_serial", "small against the way itself", "1 ns");
	set(writing, true, "transfer.home_occupancy", "a few ns; reads of a clean line overlap",
	    "3 ns");
	set_retain(writing);
	set_migratory(writing);
	set_discipline(writing);
	set(writing, true, "s_eviction", "clean lines leave without notice", "silent");
	set(writing, true, "home",
	    "a hand-off costs hardly more than its transfer, so the next forward runs ahead",
	    "ahead");
}

/* ---- text ----------------------------------------------------------------------------------- */

/* In quotes, so that nothing in it means anything to YAML. */
static void print_quoted(FILE *file, const char *text)
{
	fputc('\'', file);
	for (; *text; text++)
		if (*text == '\'')
			fputs("''", file);
		else
			fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, file);
	fputc('\'', file);
}

/* Dotted keys in a row as nested maps. */
static void print_settings(const struct writing *writing, FILE *file)
{
	char last[KEY_SIZE] = "";

	for (uint32_t k = 0; k < writing->count; k++) {
		const struct setting *setting = &writing->settings[k];
		const char *part = setting->key;
		int depth = 0;
		bool same = true;

		for (const char *dot; (dot = strchr(part, '.')); part = dot + 1, depth++) {
			size_t length = (size_t)(dot + 1 - setting->key);

			same = same && !strncmp(last, setting->key, length);
			if (!same)
				fprintf(file, "%*s%.*s:\n", 2 * depth, "", (int)(dot - part), part);
		}
		fprintf(file, "%*s%s: %s\n", 2 * depth, "", part, setting->value);
		memcpy(last, setting->key, sizeof(last));
	}
}

static void print_notes(const struct writing *writing, FILE *file, bool assumed)
{
	bool any = false;

	for (uint32_t k = 0; k < writing->count; k++) {
		const struct setting *setting = &writing->settings[k];

		if (setting->assumed != assumed)
			continue;
		if (!any)
			fprintf(file, "\n%s:\n", assumed ? "assumed" : "sources");
		any = true;
		fprintf(file, "  %s: ", setting->key);
		print_quoted(file, setting->note);
		fputc('\n', file);
	}
	if (!any && !assumed)
		fputs("\nsources: {}\n", file);
}

/* What the file was written from; the rest the model has to predict. */
static bool is_input(const struct writing *writing, const struct calibrate_figure *figure)
{
	const char *name = figure->name;
	static const char *const inputs[] = { "locked_add", "fence",     "load_l1",    "load_l2",
					      "load_llc",   "load_dram", "load_clean", "load_dirty",
					      "upgrade",    "hand_off",  NULL };
	char key[KEY_SIZE];

	if (!strcmp(name, "fetch_add"))
		return figure->threads == 2 && writing->retains;
	for (int k = 0; inputs[k]; k++)
		if (!strncmp(name, inputs[k], strlen(inputs[k]))) {
			snprintf(key, sizeof(key), "transfer.%s",
				 inputs[k] + (strncmp(inputs[k], "load_", 5) ? 0 : 5));
			return !is_unfit(writing, key);
		}
	return false;
}

static void print_figure(const struct writing *writing, FILE *file,
			 const struct calibrate_figure *figure)
{
	char value[VALUE_SIZE], note[NOTE_SIZE], source[NOTE_SIZE + 32];
	bool ratio = !strcmp(figure->unit, "ratio");

	fprintf(file, "  - {figure: %s, ", figure->name);
	if (figure->threads)
		fprintf(file, "threads: %u, ", figure->threads);
	fprintf(file, "value: %s%s, %ssource: ", amount(value, figure->value.median),
		ratio ? "" : " ns", is_input(writing, figure) ? "input: true, " : "");
	note_of(figure, note);
	snprintf(source, sizeof(source), "hitm calibrate; %s", note);
	print_quoted(file, source);
	fputs("}\n", file);
}

static void print_published(const struct writing *writing, FILE *file, calibrate_is_probe *is_probe)
{
	bool any = false;

	for (uint32_t k = 0; k < writing->c->count; k++) {
		const struct calibrate_figure *figure = &writing->c->figures[k];

		if (!is_probe(figure->name))
			continue;
		if (!any)
			fputs("\npublished:\n", file);
		any = true;
		print_figure(writing, file, figure);
	}
}

/* What was measured and has no key and no probe. */
static void print_others(const struct writing *writing, FILE *file, calibrate_is_probe *is_probe)
{
	for (uint32_t k = 0; k < writing->c->count; k++) {
		const struct calibrate_figure *figure = &writing->c->figures[k];
		char note[NOTE_SIZE], threads[VALUE_SIZE] = "";

		if (is_probe(figure->name))
			continue;
		if (figure->threads)
			snprintf(threads, sizeof(threads), ", %u threads", figure->threads);
		note_of(figure, note);
		fprintf(file, "#   %s%s: %s\n", figure->name, threads, note);
	}
}

static void print_head(const struct writing *writing, FILE *file, calibrate_is_probe *is_probe)
{
	const struct calibration *c = writing->c;
	char least[VALUE_SIZE];

	fputs("# Written by hitm calibrate. Spreads are those of the middle eight tenths.\n", file);
	if (!isnan(c->other_ns))
		fprintf(file,
			"#\n# The CPUs do not lie still, as those of a virtual machine may not: "
			"the "
			"hand-off of one pair was\n# as below for %.0f %% of the time only, and %s "
			"ns at others. What several threads measured counts where\n# a token "
			"between them took as long, before and after, as it mostly did.\n",
			c->steadiness * 100, amount(least, c->other_ns));
	for (const char *const *unfit = writing->unfit; unfit && *unfit; unfit++)
		fprintf(file,
			"#\n# %s as measured is at odds with the other figures in the model, and "
			"left to its rule.\n",
			*unfit);
	fputs("#\n# Also measured:\n", file);
	print_others(writing, file, is_probe);
}

/* What may stand as a name: the rest would have to be quoted wherever it is used. */
static void print_name(FILE *file, const char *name)
{
	for (; *name; name++)
		fputc(isalnum((unsigned char)*name) || strchr("-_.", *name) ? *name : '-', file);
}

static void print_machine(const struct writing *writing, FILE *file)
{
	const struct host *host = writing->c->host;
	char about[NOTE_SIZE];

	fputs("machine: host-", file);
	print_name(file, host->name);
	snprintf(about, sizeof(about), "%s, %u of its CPUs",
		 host->model[0] ? host->model : "an unknown CPU", host->count);
	fputs("\nabout: ", file);
	print_quoted(file, about);
	fputc('\n', file);
}

bool calibration_write(const struct calibration *calibration, FILE *file, const char *const *unfit,
		       calibrate_is_probe *is_probe, struct error *error)
{
	struct writing *writing = calloc(1, sizeof(*writing));
	const struct calibrate_figure *clock = calibration_figure(calibration, "clock", 0);
	char note[NOTE_SIZE] = "not measured";

	if (!writing)
		return error_set(error, "out of memory");
	writing->c = calibration;
	writing->unfit = unfit;
	if (clock)
		note_of(clock, note);
	set(writing, !clock, "clock", note, "%.4g GHz", clock ? clock->value.median : 3);
	set_topology(writing);
	set_core(writing);
	set_memory(writing);
	set_transfers(writing);
	fputs("# SPDX-License-Identifier: GPL-2.0-or-later\n", file);
	print_head(writing, file, is_probe);
	print_machine(writing, file);
	print_settings(writing, file);
	print_notes(writing, file, false);
	print_notes(writing, file, true);
	print_published(writing, file, is_probe);
	free(writing);
	return true;
}

/* ---- the matrix ----------------------------------------------------------------------------- */

void matrix_write(const struct calibration *calibration, FILE *file)
{
	const struct host_cpu *cpus = calibration->host->cpus;
	uint32_t cores = calibration->host->cores;

	fputs("cpu", file);
	for (uint32_t b = 0; b < cores; b++)
		fprintf(file, ",%u", cpus[calibration->cores[b]].os);
	for (uint32_t a = 0; a < cores; a++) {
		fprintf(file, "\n%u", cpus[calibration->cores[a]].os);
		for (uint32_t b = 0; b < cores; b++) {
			double ns = calibration->matrix[(size_t)a * cores + b];

			if (ns > 0)
				fprintf(file, ",%.1f", ns);
			else
				fputc(',', file);
		}
	}
	fputc('\n', file);
}
