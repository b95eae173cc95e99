/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What calibration makes of measurements: medians, the machine file, the matrix. What it measures is
 * the host's affair: of that only whether it comes to an end, and to something that can be read. */
#include "tests/unit/scratch.h"
#include "tests/unit/suites.h"
#include "machine/machine_file.h"
#include "native/bout.h"
#include "native/calibrate.h"
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- samples -------------------------------------------------------------------------------- */

static void the_median_of_an_even_number_lies_between(void)
{
	double odd[] = { 9, 1, 5 }, even[] = { 4, 1, 3, 9 };

	CU_ASSERT_EQUAL(sample_of(odd, 3).median, 5);
	CU_ASSERT_EQUAL(sample_of(even, 4).median, 3.5);
}

static void a_tenth_is_left_out_on_either_side(void)
{
	double values[20];
	struct sample sample;

	for (int k = 0; k < 20; k++)
		values[k] = 19 - k;
	sample = sample_of(values, 20);
	CU_ASSERT_EQUAL(sample.low, 2);
	CU_ASSERT_EQUAL(sample.high, 17);
	CU_ASSERT_EQUAL(sample.count, 20);
}

static void few_values_are_spread_from_least_to_most(void)
{
	double values[] = { 3, 1, 2 };
	struct sample sample = sample_of(values, 3);

	CU_ASSERT_EQUAL(sample.low, 1);
	CU_ASSERT_EQUAL(sample.high, 3);
	CU_ASSERT_EQUAL(sample_spread(&sample), 1);
}

static void nothing_has_no_median(void)
{
	struct sample sample = sample_of(NULL, 0);

	CU_ASSERT_EQUAL(sample.count, 0);
	CU_ASSERT_TRUE(isnan(sample.median));
}

static void the_mode_is_where_most_values_lie(void)
{
	const double values[] = { 105, 25, 10, 26, 104, 24, NAN, 25 };
	double share;

	CU_ASSERT_EQUAL(bout_mode(values, 8, &share), 25);
	CU_ASSERT_EQUAL(share, 0.5);
}

/* ---- hosts made up -------------------------------------------------------------------------- */

enum { CPUS_MOST = 16 };

struct made_up {
	struct host host;
	struct host_cpu cpus[CPUS_MOST];
	struct calibration calibration;
	uint32_t cores[CPUS_MOST];
	double matrix[CPUS_MOST * CPUS_MOST], token[CPUS_MOST * CPUS_MOST];
};

/* As many sockets of clusters of cores of threads, all alike. */
static struct made_up *make_up(uint32_t sockets, uint32_t clusters, uint32_t cores, uint32_t smt)
{
	struct made_up *up = calloc(1, sizeof(*up));
	struct host *host = &up->host;

	CU_ASSERT_PTR_NOT_NULL_FATAL(up);
	*host = (struct host){ .name = "made up", .model = "It's a 'CPU'", .line = 64 };
	host->cpus = up->cpus;
	host->known = true;
	host->sockets = host->dies = sockets;
	host->clusters = sockets * clusters;
	host->cores = host->clusters * cores;
	host->l1 = (struct host_cache){ 32 << 10, 8 };
	host->l2 = (struct host_cache){ 1 << 20, 8 };
	host->llc = (struct host_cache){ 32 << 20, 16 };
	for (host->count = 0; host->count < host->cores * smt; host->count++) {
		uint32_t core = host->count / smt;

		up->cpus[host->count] = (struct host_cpu){ .os = host->count,
							   .core = core,
							   .smt = host->count % smt,
							   .cluster = core / cores,
							   .die = core / cores / clusters,
							   .socket = core / cores / clusters };
		up->cores[core] = host->count - host->count % smt;
	}
	for (int k = 0; k < CPUS_MOST * CPUS_MOST; k++)
		up->matrix[k] = NAN;
	up->calibration = (struct calibration){ .host = host,
						.shape = calibrate_shape(host),
						.cores = up->cores,
						.matrix = up->matrix,
						.token = up->token,
						.steadiness = 1,
						.other_ns = NAN };
	return up;
}

static void add_figure(struct made_up *up, const char *name, uint32_t threads, const char *unit,
		       double value, uint32_t pairs)
{
	struct calibrate_figure *figure = &up->calibration.figures[up->calibration.count++];

	*figure = (struct calibrate_figure){ .threads = threads, .unit = unit, .pairs = pairs };
	snprintf(figure->name, sizeof(figure->name), "%s", name);
	snprintf(figure->method, sizeof(figure->method), "it's: # a method");
	figure->value = (struct sample){ value, value * 0.9, value * 1.1, 50 };
}

static bool is_probe(const char *name)
{
	return strcmp(name, "clock") != 0 && strcmp(name, "reload_same") != 0 &&
	       strcmp(name, "store_forward") != 0 && strcmp(name, "loads_in_flight") != 0;
}

/* The text of the file; the caller frees it. */
static char *written(const struct made_up *up, const char *const *unfit)
{
	struct error error = { "" };
	size_t length = 0;
	char *text = NULL;
	FILE *file = open_memstream(&text, &length);

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_TRUE(calibration_write(&up->calibration, file, unfit, is_probe, &error));
	CU_ASSERT_STRING_EQUAL(error.text, "");
	fclose(file);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	return text;
}

/* The document goes with its strings, of which the test needs none. */
static struct machine_config read_back(const char *text)
{
	struct error error = { "" };
	struct document *document = document_parse("written", text, strlen(text), &error);
	struct machine_config config = { 0 };

	CU_ASSERT_PTR_NOT_NULL_FATAL(document);
	CU_ASSERT_TRUE(machine_file_read(document_root(document), &config, &error));
	CU_ASSERT_STRING_EQUAL(error.text, "");
	if (error.text[0])
		printf("\n  %s\n", error.text);
	config.name = "";
	document_free(document);
	return config;
}

/* What a calibration of a host with every level finds, in round numbers at 1 GHz. */
static void add_all(struct made_up *up)
{
	static const struct {
		const char *name, *unit;
		double value;
	} figures[] = {
		{ "clock", "GHz", 1 },
		{ "locked_add", "ns", 20 },
		{ "fence", "ns", 33 },
		{ "load_l1", "ns", 4 },
		{ "load_l2", "ns", 14 },
		{ "load_llc", "ns", 40 },
		{ "load_dram_local", "ns", 100 },
		{ "load_dram_remote", "ns", 200 },
		{ "loads_in_flight", "lines", 12.2 },
		{ "load_dirty_cluster", "ns", 61 },
		{ "load_dirty_same", "ns", 122 },
		{ "load_dirty_cross_at_owner", "ns", 223 },
		{ "load_dirty_cross_at_requester", "ns", 304 },
		{ "load_clean_cluster", "ns", 65 },
		{ "load_clean_same", "ns", 126 },
		{ "load_clean_cross", "ns", 227 },
		{ "upgrade_cluster", "ns", 68 },
		{ "upgrade_same", "ns", 129 },
		{ "upgrade_cross", "ns", 230 },
		{ "hand_off_smt", "ns", 31 },
	};

	for (size_t k = 0; k < sizeof(figures) / sizeof(*figures); k++)
		add_figure(up, figures[k].name, 0, figures[k].unit, figures[k].value, 0);
	add_figure(up, "store_forward", 0, "ns", 6, 0);
	add_figure(up, "load_cas_loop", 1, "ns", 29, 0);
	add_figure(up, "hand_off_cluster", 0, "ns", 70, 4);
	add_figure(up, "hand_off_same", 0, "ns", 140, 8);
	add_figure(up, "hand_off_cross", 0, "ns", 260, 16);
}

/* ---- shapes --------------------------------------------------------------------------------- */

static void one_cluster_a_socket_is_no_level(void)
{
	struct made_up *up = make_up(2, 1, 4, 2);
	const struct calibrate_shape *shape = &up->calibration.shape;

	CU_ASSERT_EQUAL(shape->sockets, 2);
	CU_ASSERT_EQUAL(shape->cores_per_socket, 4);
	CU_ASSERT_EQUAL(shape->cores_per_cluster, 0);
	CU_ASSERT_EQUAL(shape->cores_per_die, 0);
	CU_ASSERT_EQUAL(shape->smt, 2);
	free(up);
}

static void pairs_belong_to_the_nearest_level_they_share(void)
{
	struct made_up *up = make_up(2, 2, 2, 2);
	const struct calibrate_shape *shape = &up->calibration.shape;
	const struct host_cpu *cpus = up->cpus;

	CU_ASSERT_EQUAL(shape->cores_per_cluster, 2);
	CU_ASSERT_EQUAL(calibrate_level(shape, &cpus[0], &cpus[1]), LEVEL_SMT);
	CU_ASSERT_EQUAL(calibrate_level(shape, &cpus[1], &cpus[2]), LEVEL_CLUSTER);
	CU_ASSERT_EQUAL(calibrate_level(shape, &cpus[0], &cpus[4]), LEVEL_SAME);
	CU_ASSERT_EQUAL(calibrate_level(shape, &cpus[0], &cpus[8]), LEVEL_CROSS);
	free(up);
}

/* Three cores of one cluster and one of the other: the model's clusters are all alike. */
static void a_part_of_a_host_gets_room_for_its_largest(void)
{
	struct made_up *up = make_up(1, 2, 2, 1);
	struct calibrate_shape shape;

	up->cpus[2].cluster = 0;
	shape = calibrate_shape(&up->host);
	CU_ASSERT_EQUAL(shape.cores_per_cluster, 3);
	CU_ASSERT_EQUAL(shape.cores_per_socket, 6);
	free(up);
}

/* ---- the machine file ----------------------------------------------------------------------- */

static void what_was_measured_is_read_back(void)
{
	struct made_up *up = make_up(2, 2, 2, 2);
	struct machine_config config;
	char *text;

	add_all(up);
	text = written(up, NULL);
	config = read_back(text);
	CU_ASSERT_EQUAL(config.clock, 1e9);
	CU_ASSERT_EQUAL(config.sockets, 2);
	CU_ASSERT_EQUAL(config.cores_per_socket, 4);
	CU_ASSERT_EQUAL(config.cores_per_cluster, 2);
	CU_ASSERT_EQUAL(config.smt, 2);
	CU_ASSERT_EQUAL(config.locked_rmw, 20);
	CU_ASSERT_EQUAL(config.fence, 33);
	CU_ASSERT_EQUAL(config.store_forward, 5);   /* 6, of which one is the store */
	CU_ASSERT_EQUAL(config.locked_cmpxchg, 25); /* 29, of which 4 are the load */
	CU_ASSERT_EQUAL(config.loads_in_flight, 12);
	CU_ASSERT_EQUAL(config.coherence.l1.latency, 4);
	CU_ASSERT_EQUAL(config.coherence.l2.sets, 2048);
	CU_ASSERT_EQUAL(config.coherence.llc_ways, 16);
	CU_ASSERT_EQUAL(config.timing.llc, 40);
	CU_ASSERT_EQUAL(config.timing.dram_local, 100);
	CU_ASSERT_EQUAL(config.timing.dram_remote, 200);
	free(text);
	free(up);
}

static void transfers_are_read_back_by_distance(void)
{
	struct made_up *up = make_up(2, 2, 2, 2);
	struct fabric_timing timing;
	char *text;

	add_all(up);
	text = written(up, NULL);
	timing = read_back(text).timing;
	CU_ASSERT_DOUBLE_EQUAL(timing.hand_off[DISTANCE_CLUSTER].mean, 70, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(timing.hand_off[DISTANCE_CLUSTER].low, 63, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(timing.hand_off[DISTANCE_SOCKET].high, 154, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(timing.hand_off[DISTANCE_CROSS].mean, 260, 1e-9);
	CU_ASSERT_EQUAL(timing.dirty[DISTANCE_CLUSTER][0], 61);
	CU_ASSERT_EQUAL(timing.dirty[DISTANCE_CROSS][0], 223);
	CU_ASSERT_EQUAL(timing.dirty[DISTANCE_CROSS][1], 304);
	CU_ASSERT_EQUAL(timing.clean[DISTANCE_SOCKET], 126);
	CU_ASSERT_EQUAL(timing.upgrade[DISTANCE_CROSS], 230);
	CU_ASSERT_EQUAL(timing.retain, 0);
	free(text);
	free(up);
}

/* With nothing measured at all: a host of one core that tells nothing. */
static void a_file_of_assumptions_can_be_read(void)
{
	struct made_up *up = make_up(1, 1, 1, 1);
	char *text;

	up->host.known = false;
	up->host.model[0] = '\0';
	up->host.l1 = up->host.l2 = up->host.llc = (struct host_cache){ 0 };
	text = written(up, NULL);
	CU_ASSERT_EQUAL(read_back(text).cores_per_socket, 1);
	CU_ASSERT_PTR_NULL(strstr(text, "\npublished:"));
	CU_ASSERT_PTR_NULL(strstr(text, "'measured:"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "one core only"));
	free(text);
	free(up);
}

/* As under a sanitizer: an operation takes longer than the hand-off that would be assumed. */
static void an_assumed_hand_off_has_room_for_its_operation(void)
{
	struct made_up *up = make_up(1, 1, 1, 1);
	char *text;

	add_figure(up, "clock", 0, "GHz", 1, 0);
	add_figure(up, "locked_add", 0, "ns", 200, 0);
	text = written(up, NULL);
	CU_ASSERT_EQUAL(read_back(text).timing.hand_off[DISTANCE_SOCKET].mean, 800);
	free(text);
	free(up);
}

static void odd_caches_are_rounded_to_what_the_model_can_have(void)
{
	struct made_up *up = make_up(1, 1, 2, 1);
	struct machine_config config;
	char *text;

	up->host.l1 = (struct host_cache){ 48 << 10, 12 };
	up->host.l2 = (struct host_cache){ 1280 << 10, 20 };
	up->host.llc = (struct host_cache){ 36608 << 10, 11 };
	text = written(up, NULL);
	config = read_back(text);
	CU_ASSERT_EQUAL(config.coherence.l1.sets, 64);
	CU_ASSERT_EQUAL(config.coherence.l2.sets, 1024);
	CU_ASSERT_EQUAL(config.coherence.llc_sets, 53248);
	free(text);
	free(up);
}

/* What does not fit the other figures is left to the model's rule, and published as a prediction. */
static void an_unfit_key_is_left_out(void)
{
	static const char *const unfit[] = { "transfer.upgrade", NULL };
	struct made_up *up = make_up(2, 2, 2, 2);
	char *text, *published;

	add_all(up);
	text = written(up, unfit);
	CU_ASSERT_NOT_EQUAL(read_back(text).timing.upgrade[DISTANCE_CROSS], 230);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "# transfer.upgrade as measured is at odds"));
	published = strstr(text, "figure: upgrade_cross");
	CU_ASSERT_PTR_NOT_NULL_FATAL(published);
	CU_ASSERT_EQUAL(strncmp(published, "figure: upgrade_cross, value: 230 ns, source", 44), 0);
	published = strstr(text, "figure: load_clean_cross");
	CU_ASSERT_PTR_NOT_NULL_FATAL(published);
	CU_ASSERT_EQUAL(strncmp(published, "figure: load_clean_cross, value: 227 ns, input", 46),
			0);
	free(text);
	free(up);
}

static void names_and_methods_mean_nothing_to_yaml(void)
{
	struct made_up *up = make_up(1, 1, 2, 1);
	char *text;

	snprintf(up->host.name, sizeof(up->host.name), "a: b\n'#{");
	snprintf(up->host.model, sizeof(up->host.model), "it's \x01\n: [");
	add_figure(up, "locked_add", 0, "ns", 20, 0);
	text = written(up, NULL);
	read_back(text);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "machine: host-a--b----\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "about: 'it''s ??: [, 2 of its CPUs'\n"));
	free(text);
	free(up);
}

/* 70 ns are 5 operations of 14: the model does as many of 20 cycles each when it retains the line
 * for 4 and a half. */
static void an_owner_retains_a_line_for_as_many_operations_as_it_did(void)
{
	struct made_up *up = make_up(1, 1, 2, 1);
	char *text;

	add_figure(up, "clock", 0, "GHz", 1, 0);
	add_figure(up, "locked_add", 0, "ns", 10, 0);
	add_figure(up, "hand_off_same", 0, "ns", 70, 1);
	add_figure(up, "fetch_add", 2, "ns", 14, 0);
	text = written(up, NULL);
	CU_ASSERT_EQUAL(read_back(text).timing.retain, 45);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "figure: fetch_add, threads: 2, value: 14 ns, input"));
	free(text);
	free(up);
	CU_ASSERT_EQUAL(calibrate_retain(1.4, 10), 0);
	CU_ASSERT_EQUAL(calibrate_retain(1.6, 10), 15);
}

/* In the model a compare-exchange takes no less than an addition. */
static void a_quick_compare_exchange_is_no_other_than_an_addition(void)
{
	struct made_up *up = make_up(1, 1, 2, 1);
	char *text;

	add_figure(up, "clock", 0, "GHz", 1, 0);
	add_figure(up, "locked_add", 0, "ns", 20, 0);
	add_figure(up, "load_l1", 0, "ns", 4, 0);
	add_figure(up, "load_cas_loop", 1, "ns", 23, 0);
	text = written(up, NULL);
	CU_ASSERT_EQUAL(read_back(text).locked_cmpxchg, 20);
	free(text);
	free(up);
}

/* An L1 hit takes 4 ns. */
static void a_line_migrates_where_its_writer_has_lost_it_to_a_reader(void)
{
	for (int lost = 0; lost < 2; lost++) {
		struct made_up *up = make_up(1, 1, 2, 1);
		char *text;

		add_figure(up, "load_l1", 0, "ns", 4, 0);
		add_figure(up, "reload_same", 0, "ns", lost ? 60 : 5, 1);
		text = written(up, NULL);
		CU_ASSERT_EQUAL(read_back(text).coherence.migratory, lost);
		free(text);
		free(up);
	}
}

/* Eight threads in two clusters: of the seven others three are near. */
static void a_bias_is_the_weight_of_those_nearby(void)
{
	struct made_up *up = make_up(1, 2, 4, 1);

	up->calibration.before_threads = 8;
	up->calibration.before[BEFORE_CLUSTER] = 3000;
	up->calibration.before[BEFORE_SOCKET] = 4000;
	CU_ASSERT_DOUBLE_EQUAL(calibrate_bias(&up->calibration), 1, 1e-9);
	up->calibration.before[BEFORE_SELF] = 12345;
	up->calibration.before[BEFORE_CLUSTER] = 9000;
	CU_ASSERT_DOUBLE_EQUAL(calibrate_bias(&up->calibration), 3, 1e-9);
	up->calibration.before_threads = 2;
	CU_ASSERT_TRUE(isnan(calibrate_bias(&up->calibration)));
	free(up);
}

static void a_bias_is_read_back(void)
{
	struct made_up *up = make_up(1, 2, 4, 1);
	struct machine_config config;
	char *text;

	up->calibration.before_threads = 8;
	up->calibration.before[BEFORE_CLUSTER] = 9000;
	up->calibration.before[BEFORE_SOCKET] = 4000;
	text = written(up, NULL);
	config = read_back(text);
	CU_ASSERT_EQUAL(config.coherence.discipline, DISCIPLINE_BIASED);
	CU_ASSERT_EQUAL(config.coherence.bias, 3);
	free(text);
	free(up);
}

static void the_matrix_has_a_line_a_core(void)
{
	struct made_up *up = make_up(1, 1, 3, 2);
	size_t length = 0;
	char *text = NULL;
	FILE *file = open_memstream(&text, &length);

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	up->matrix[1] = up->matrix[3] = 25.04;
	up->matrix[2] = up->matrix[6] = 105.25;
	matrix_write(&up->calibration, file);
	fclose(file);
	CU_ASSERT_STRING_EQUAL(text, "cpu,0,2,4\n0,,25.0,105.2\n2,25.0,,\n4,105.2,,\n");
	free(text);
	free(up);
}

/* ---- threads -------------------------------------------------------------------------------- */

static void meet_twice(struct crewman *self, void *argument)
{
	uint32_t *met = argument;

	for (int k = 0; k < 2; k++)
		if (crew_meet(self))
			__atomic_fetch_add(met, 1, __ATOMIC_RELAXED);
}

static void leave_the_others_alone(struct crewman *self, void *argument)
{
	bool *met = argument;

	if (self->index)
		*met = crew_meet(self);
}

/* Two threads may have to share a CPU here. */
static void threads_that_meet_come_to_an_end(void)
{
	const uint32_t order[] = { 0, 0 };
	struct error error = { "" };
	struct host *host = host_new(&error);
	uint32_t met = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(host);
	CU_ASSERT_TRUE(crew_run(host, order, 2, 20, meet_twice, &met, &error));
	CU_ASSERT_EQUAL(met, 4);
	host_free(host);
}

static void who_waits_in_vain_gives_up(void)
{
	const uint32_t order[] = { 0, 0 };
	struct error error = { "" };
	struct host *host = host_new(&error);
	bool met = true;

	CU_ASSERT_PTR_NOT_NULL_FATAL(host);
	CU_ASSERT_FALSE(crew_run(host, order, 2, 0.2, leave_the_others_alone, &met, &error));
	CU_ASSERT_FALSE(met);
	CU_ASSERT_STRING_EQUAL(error.text, "threads waited for each other for too long");
	host_free(host);
}

/* ---- the command ---------------------------------------------------------------------------- */

static void the_command_writes_what_probe_reads(void)
{
	CU_ASSERT_EQUAL(hitm_run("", "calibrate --quick --quiet --out 'a dir/host.yaml'"), 0);
	CU_ASSERT_STRING_EQUAL(file_text("out"), "");
	CU_ASSERT_EQUAL(hitm_run("", "probe --quiet --format csv 'a dir/host.yaml'"), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("out"), "locked_add,"));
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("out"), "fetch_add,1,"));
}

static void one_cpu_and_the_kernels_clock_will_do(void)
{
	CU_ASSERT_EQUAL(hitm_run("taskset -c 0",
				 "calibrate --quick --clock system --format json --out one.yaml"),
			0);
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("out"), "\"schema\": \"hitm-calibration/1\""));
	CU_ASSERT_PTR_NULL(strstr(file_text("out"), "hand_off"));
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("one.yaml"), "one core only"));
	CU_ASSERT_EQUAL(hitm_run("", "probe --quiet one.yaml"), 0);
}

/* hwloc is told of two sockets that are not here, or is not let look. */
static void what_hwloc_says_need_not_be_so(void)
{
	static const char *const variables[] = { "HWLOC_SYNTHETIC='pack:2 core:2 pu:1'",
						 "HWLOC_COMPONENTS=no_os,stop" };

	for (size_t k = 0; k < sizeof(variables) / sizeof(*variables); k++) {
		CU_ASSERT_EQUAL(hitm_run(variables[k], "calibrate -Q -q --out odd.yaml"), 0);
		CU_ASSERT_EQUAL(hitm_run("", "probe --quiet odd.yaml"), 0);
	}
}

static void bad_usage_is_refused(void)
{
	static const char *const bad[] = { "--clock sun", "--colour", "--out", "host.yaml",
					   "--format xml" };

	for (size_t k = 0; k < sizeof(bad) / sizeof(*bad); k++) {
		char arguments[100];

		snprintf(arguments, sizeof(arguments), "calibrate %s", bad[k]);
		CU_ASSERT_EQUAL(hitm_run("", arguments), 2);
		CU_ASSERT_EQUAL(strncmp(file_text("err"), "hitm calibrate: ", 16), 0);
	}
}

static void a_file_that_cannot_be_written_is_said_so(void)
{
	file_write("taken", "");
	CU_ASSERT_EQUAL(hitm_run("", "calibrate --quick --quiet --out taken/host.yaml"), 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("err"), "taken"));
}

void suite_calibrate(void)
{
	CU_pSuite suite = CU_add_suite("calibrate", scratch_make, scratch_remove);

	CU_ADD_TEST(suite, the_median_of_an_even_number_lies_between);
	CU_ADD_TEST(suite, a_tenth_is_left_out_on_either_side);
	CU_ADD_TEST(suite, few_values_are_spread_from_least_to_most);
	CU_ADD_TEST(suite, nothing_has_no_median);
	CU_ADD_TEST(suite, the_mode_is_where_most_values_lie);
	CU_ADD_TEST(suite, one_cluster_a_socket_is_no_level);
	CU_ADD_TEST(suite, pairs_belong_to_the_nearest_level_they_share);
	CU_ADD_TEST(suite, a_part_of_a_host_gets_room_for_its_largest);
	CU_ADD_TEST(suite, what_was_measured_is_read_back);
	CU_ADD_TEST(suite, transfers_are_read_back_by_distance);
	CU_ADD_TEST(suite, a_file_of_assumptions_can_be_read);
	CU_ADD_TEST(suite, an_assumed_hand_off_has_room_for_its_operation);
	CU_ADD_TEST(suite, odd_caches_are_rounded_to_what_the_model_can_have);
	CU_ADD_TEST(suite, an_unfit_key_is_left_out);
	CU_ADD_TEST(suite, names_and_methods_mean_nothing_to_yaml);
	CU_ADD_TEST(suite, an_owner_retains_a_line_for_as_many_operations_as_it_did);
	CU_ADD_TEST(suite, a_quick_compare_exchange_is_no_other_than_an_addition);
	CU_ADD_TEST(suite, a_line_migrates_where_its_writer_has_lost_it_to_a_reader);
	CU_ADD_TEST(suite, a_bias_is_the_weight_of_those_nearby);
	CU_ADD_TEST(suite, a_bias_is_read_back);
	CU_ADD_TEST(suite, the_matrix_has_a_line_a_core);
	CU_ADD_TEST(suite, threads_that_meet_come_to_an_end);
	CU_ADD_TEST(suite, who_waits_in_vain_gives_up);
	CU_ADD_TEST(suite, the_command_writes_what_probe_reads);
	CU_ADD_TEST(suite, one_cpu_and_the_kernels_clock_will_do);
	CU_ADD_TEST(suite, what_hwloc_says_need_not_be_so);
	CU_ADD_TEST(suite, bad_usage_is_refused);
	CU_ADD_TEST(suite, a_file_that_cannot_be_written_is_said_so);
}
