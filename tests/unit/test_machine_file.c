/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machine files: what reaches the simulator, what the defaults are, and what is refused. The tests
 * read configs/machines and are run in the root of the project. */
#include "tests/unit/suites.h"
#include "machine/machine_file.h"
#include <CUnit/CUnit.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- helpers -------------------------------------------------------------------------------- */

/* A sound file. 20 cycles at 2 GHz are 10 ns. */
static const char sound[] =
	"machine: m\n"
	"about: a machine of round numbers\n"
	"clock: 2 GHz\n"
	"topology: {sockets: 2, cores_per_socket: 4, smt: 2, line: 64 B}\n"
	"core:\n" /* line 5 */
	"  l1: {size: 32 KiB, ways: 8, latency: 4 cycles}\n"
	"  l2: {size: 1 MiB, ways: 16, latency: 7 ns}\n"
	"  locked_rmw: 20 cycles\n"
	"  fence: 33 cycles\n"
	"  store_buffer: 56\n" /* line 10 */
	"  store_forward: 5 cycles\n"
	"  loads_in_flight: 12\n"
	"  smt_slowdown: 1.5\n"
	"llc: {size: 24.75 MiB, ways: 11, latency: 24 ns}\n"
	"dram: {local: 80 ns, remote: 140 ns}\n" /* line 15 */
	"transfer:\n"
	"  hand_off:\n"
	"    same_socket: {min: 40 ns, median: 50 ns, max: 65 ns}\n"
	"    cross_socket: {median: 130 ns}\n"
	"  invalidate_serial: 1 ns\n" /* line 20 */
	"  home_occupancy: 3 ns\n"
	"link: {bandwidth: 34 GB/s}\n"
	"discipline: fifo\n"
	"s_eviction: exact\n"
	"home: blocking\n" /* line 25 */
	"sources: {clock: a, topology: a, core: a, llc: a, dram: a}\n"
	"assumed: {transfer: b, link: b, discipline: b, s_eviction: b, home: b}\n";

static void expect_text(const char *got, const char *expected)
{
	CU_ASSERT_STRING_EQUAL(got, expected);
	if (strcmp(got, expected))
		printf("\n   got: %s\n  want: %s\n", got, expected);
}

static struct document *parse(const char *text)
{
	struct error error = { "" };
	struct document *document = document_parse("f", text, strlen(text), &error);

	expect_text(error.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(document);
	return document;
}

/* The sound file with one piece of text replaced; to be freed. */
static struct document *changed(const char *from, const char *to)
{
	char text[4096];
	const char *at = strstr(sound, from);

	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - sound), sound, to, at + strlen(from));
	return parse(text);
}

static struct machine_config config_of(struct document *document)
{
	struct machine_config config = { 0 };
	struct error error = { "" };

	CU_ASSERT_TRUE(machine_file_read(document_root(document), &config, &error));
	expect_text(error.text, "");
	return config;
}

static struct machine_config changed_config(const char *from, const char *to)
{
	struct document *document = changed(from, to);
	struct machine_config config = config_of(document);

	config.name = NULL;
	document_free(document);
	return config;
}

static void expect_refused(const char *from, const char *to, const char *expected)
{
	struct document *document = changed(from, to);
	struct machine_config config;
	struct error error = { "" };

	CU_ASSERT_FALSE(machine_file_read(document_root(document), &config, &error));
	expect_text(error.text, expected);
	document_free(document);
}

static void expect_near(double got, double expected)
{
	CU_ASSERT_DOUBLE_EQUAL(got, expected, 1e-9);
	if (got < expected - 1e-9 || got > expected + 1e-9)
		printf("\n   got: %g\n  want: %g\n", got, expected);
}

/* ---- what reaches the simulator ------------------------------------------------------------- */

static void settings_of_a_core_arrive_in_cycles(void)
{
	struct machine_config config = changed_config("", "");

	CU_ASSERT_EQUAL(config.locked_rmw, 20);
	CU_ASSERT_EQUAL(config.timing.locked_cmpxchg, 20);
	CU_ASSERT_EQUAL(config.fence, 33);
	CU_ASSERT_EQUAL(config.store_forward, 5);
	CU_ASSERT_EQUAL(config.store_buffer, 56);
	CU_ASSERT_EQUAL(config.loads_in_flight, 12);
	CU_ASSERT_EQUAL(config.coherence.l1.latency, 4);
	CU_ASSERT_EQUAL(config.coherence.l2.latency, 14); /* 7 ns at 2 GHz */
	expect_near(config.smt_slowdown, 1.5);
	expect_near(config.clock, 2e9);
}

static void topology_and_choices_arrive(void)
{
	struct machine_config config = changed_config("", "");

	CU_ASSERT_EQUAL(config.sockets, 2);
	CU_ASSERT_EQUAL(config.cores_per_socket, 4);
	CU_ASSERT_EQUAL(config.smt, 2);
	CU_ASSERT_EQUAL(config.coherence.line, 64);
	CU_ASSERT_EQUAL(config.coherence.discipline, DISCIPLINE_FIFO);
	CU_ASSERT_EQUAL(config.coherence.eviction, EVICTION_EXACT);
	CU_ASSERT_EQUAL(config.coherence.home, HOME_BLOCKING);
}

static void uncore_latencies_arrive_in_nanoseconds(void)
{
	struct machine_config config = changed_config("", "");

	expect_near(config.timing.llc, 24);
	expect_near(config.timing.dram_local, 80);
	expect_near(config.timing.dram_remote, 140);
	expect_near(config.timing.hand_off[DISTANCE_SOCKET].low, 40);
	expect_near(config.timing.hand_off[DISTANCE_SOCKET].mean, 50);
	expect_near(config.timing.hand_off[DISTANCE_SOCKET].high, 65);
	expect_near(config.timing.invalidate_serial, 1);
	expect_near(config.timing.home_occupancy, 3);
	expect_near(config.timing.link_bandwidth, 34e9);
}

static void the_sets_of_the_llc_need_be_no_power_of_two(void)
{
	struct machine_config config = changed_config("", "");

	CU_ASSERT_EQUAL(config.coherence.l1.sets, 64);
	CU_ASSERT_EQUAL(config.coherence.l2.sets, 1024);
	CU_ASSERT_EQUAL(config.coherence.llc_sets, 36864); /* 24.75 MiB / 11 ways / 64 B */
	CU_ASSERT_EQUAL(config.coherence.llc_ways, 11);
}

static void a_machine_of_1024_cores_can_be_made(void)
{
	struct machine_config config = changed_config("sockets: 2, cores_per_socket: 4",
						      "sockets: 16, cores_per_socket: 64");
	struct error error = { "" };
	struct machine *machine = machine_new(&config, &error);

	CU_ASSERT_PTR_NOT_NULL(machine);
	expect_text(error.text, "");
	machine_free(machine);
}

/* ---- defaults ------------------------------------------------------------------------------- */

/* hand_off - locked_rmw + llc / 2: 50 - 10 + 12 in a socket, 130 - 10 + 12 across. */
static void transactions_that_are_not_given_follow_from_the_hand_off(void)
{
	struct machine_config config = changed_config("", "");

	expect_near(config.timing.dirty[DISTANCE_SOCKET][0], 52);
	expect_near(config.timing.dirty[DISTANCE_SOCKET][1], 52);
	expect_near(config.timing.dirty[DISTANCE_CROSS][0], 132);
	expect_near(config.timing.dirty[DISTANCE_CROSS][1], 132);
	expect_near(config.timing.clean[DISTANCE_SOCKET], 52);
	expect_near(config.timing.clean[DISTANCE_CROSS], 132);
	expect_near(config.timing.upgrade[DISTANCE_SOCKET], 52);
	expect_near(config.timing.upgrade[DISTANCE_CROSS], 132);
}

static void transactions_that_are_given_stay(void)
{
	struct machine_config config = changed_config(
		"  invalidate_serial",
		"  dirty: {cross_socket: {home_at_owner: 115 ns, home_at_requester: 178 ns}}\n"
		"  upgrade: {same_socket: 45 ns}\n"
		"  invalidate_serial");

	expect_near(config.timing.dirty[DISTANCE_SOCKET][0], 52);
	expect_near(config.timing.dirty[DISTANCE_CROSS][0], 115);
	expect_near(config.timing.dirty[DISTANCE_CROSS][1], 178);
	expect_near(config.timing.upgrade[DISTANCE_SOCKET], 45);
	expect_near(config.timing.upgrade[DISTANCE_CROSS], 132);
}

static void pairs_lie_at_the_median_where_no_range_is_given(void)
{
	struct machine_config config = changed_config("", "");

	expect_near(config.timing.hand_off[DISTANCE_CROSS].low, 130);
	expect_near(config.timing.hand_off[DISTANCE_CROSS].high, 130);
}

/* Measured at 2 GHz: 40 ns of transfer, and 20 cycles, which are 20 ns at 1 GHz. */
static void a_hand_off_keeps_its_transfer_at_another_clock(void)
{
	struct document *document = changed("  hand_off:\n", "  hand_off:\n    clock: 2 GHz\n");
	struct error error = { "" };
	struct machine_config config;

	CU_ASSERT_TRUE(document_set(document, "clock", "1 GHz", "--set", &error));
	config = config_of(document);
	expect_near(config.timing.hand_off[DISTANCE_SOCKET].low, 50);
	expect_near(config.timing.hand_off[DISTANCE_SOCKET].mean, 60);
	expect_near(config.timing.hand_off[DISTANCE_SOCKET].high, 75);
	expect_near(config.timing.dirty[DISTANCE_SOCKET][0], 52);
	document_free(document);
}

static void without_a_link_there_is_no_limit(void)
{
	static const char assumed[] = "link: {bandwidth: 34 GB/s}\n";
	char text[sizeof(sound)];
	const char *at = strstr(sound, assumed);
	struct document *document;

	snprintf(text, sizeof(text), "%.*s%s", (int)(at - sound), sound, at + strlen(assumed));
	memcpy(strstr(text, "link: b, "), "         ", 9);
	document = parse(text);
	expect_near(config_of(document).timing.link_bandwidth, 0);
	document_free(document);
}

static void one_socket_needs_no_figures_across(void)
{
	char text[sizeof(sound)];
	struct machine_config config;
	struct document *document;

	snprintf(text, sizeof(text), "%s", sound);
	memcpy(strstr(text, "sockets: 2"), "sockets: 1", 10);
	memcpy(strstr(text, ", remote: 140 ns"), "                ", 16);
	memcpy(strstr(text, "cross_socket: {median: 130 ns}"), "                              ",
	       30);
	document = parse(text);
	config = config_of(document);
	expect_near(config.timing.hand_off[DISTANCE_CROSS].mean, 50);
	expect_near(config.timing.dram_remote, 80);
	document_free(document);
}

/* ---- clusters, dies, and what owners and homes do ------------------------------------------- */

/* Settings over the sound file, the last one without a path. */
struct setting {
	const char *path, *value;
};

static struct document *with(const struct setting *settings)
{
	struct document *document = parse(sound);
	struct error error = { "" };

	for (; settings->path; settings++)
		CU_ASSERT_TRUE(
			document_set(document, settings->path, settings->value, "--set", &error));
	expect_text(error.text, "");
	return document;
}

#define NESTED                                                                    \
	{ "topology.cores_per_die", "2" }, { "topology.cores_per_cluster", "1" }, \
	{                                                                         \
		"transfer.hand_off.same_die.median", "35 ns"                      \
	}

static void the_levels_of_a_socket_reach_the_simulator(void)
{
	static const struct setting settings[] = {
		NESTED,
		{ "transfer.hand_off.same_die.home_away", "95 ns" },
		{ "transfer.dirty.same_die", "33 ns" },
		{ NULL, NULL },
	};
	struct document *document = with(settings);
	struct machine_config config = config_of(document);

	CU_ASSERT_EQUAL(config.cores_per_die, 2);
	CU_ASSERT_EQUAL(config.cores_per_cluster, 1);
	expect_near(config.timing.hand_off[DISTANCE_DIE].mean, 35);
	expect_near(config.timing.away[DISTANCE_DIE], 60);
	expect_near(config.timing.away[DISTANCE_SOCKET], 0);
	expect_near(config.timing.dirty[DISTANCE_DIE][0], 33);
	expect_near(config.timing.clean[DISTANCE_DIE], 35 - 10 + 12);
	document_free(document);
}

/* 20 cycles of 10 ns: 15 ns are two operations, so that 30 ns of 50 are transfer, and an isolated
 * transfer takes these and half an LLC hit. */
static void a_retained_line_does_whole_operations_within_the_hand_off(void)
{
	static const struct setting settings[] = { { "transfer.retain", "15 ns" }, { NULL, NULL } };
	struct document *document = with(settings);
	struct machine_config config = config_of(document);

	CU_ASSERT_EQUAL(config.timing.retain, 30);
	expect_near(config.timing.hand_off[DISTANCE_SOCKET].mean, 50);
	expect_near(config.timing.dirty[DISTANCE_SOCKET][0], 50 - 20 + 12);
	document_free(document);
}

static void operations_at_the_home_take_as_long_as_answers_by_default(void)
{
	static const struct setting settings[] = { { "transfer.far_occupancy", "9 ns" },
						   { "discipline", "biased" },
						   { "bias", "40" },
						   { NULL, NULL } };
	struct document *document = with(settings);

	expect_near(changed_config("", "").timing.far_occupancy, 3);
	expect_near(config_of(document).timing.far_occupancy, 9);
	CU_ASSERT_EQUAL(config_of(document).coherence.discipline, DISCIPLINE_BIASED);
	expect_near(config_of(document).coherence.bias, 40);
	document_free(document);
}

static void levels_that_do_not_nest_are_refused(void)
{
	expect_refused("cores_per_socket: 4, smt", "cores_per_socket: 4, cores_per_die: 3, smt",
		       "f:4:60: 3, expected a divisor of the 4 cores of the next level");
	expect_refused("cores_per_socket: 4, smt", "cores_per_socket: 4, cores_per_cluster: 8, smt",
		       "f:4:64: 8, expected a divisor of the 4 cores of the next level");
}

static void a_level_needs_its_hand_off(void)
{
	expect_refused("cores_per_socket: 4, smt", "cores_per_socket: 4, cores_per_cluster: 2, smt",
		       "f:18:5: key 'same_cluster' is missing, expected it with several cores in a "
		       "cluster");
	expect_refused("cores_per_socket: 4, smt", "cores_per_socket: 4, cores_per_die: 2, smt",
		       "f:18:5: key 'same_die' is missing, expected it with several clusters in a "
		       "die");
}

static void what_a_machine_lacks_is_not_among_its_settings(void)
{
	struct document *document = parse(sound);
	struct error error = { "" };
	json_t *json = machine_file_json(document_root(document), &error);
	json_t *hand_off = json_object_get(json_object_get(json, "transfer"), "hand_off");

	CU_ASSERT_PTR_NOT_NULL(json_object_get(hand_off, "cross_socket"));
	CU_ASSERT_PTR_NULL(json_object_get(hand_off, "same_cluster"));
	CU_ASSERT_PTR_NULL(json_object_get(json_object_get(hand_off, "same_socket"), "home_away"));
	json_decref(json);
	document_free(document);
}

/* ---- limits --------------------------------------------------------------------------------- */

static void zero_cores_are_refused(void)
{
	expect_refused("cores_per_socket: 4", "cores_per_socket: 0",
		       "f:4:42: 0 is out of range, expected 1 to 1024");
	expect_refused("sockets: 2", "sockets: 0", "f:4:21: 0 is out of range, expected 1 to 16");
	expect_refused("smt: 2", "smt: 0", "f:4:50: 0 is out of range, expected 1 to 8");
}

static void more_cores_than_the_limit_are_refused(void)
{
	expect_refused("cores_per_socket: 4", "cores_per_socket: 513",
		       "f:4:42: 1026 cores in all, expected at most 1024");
	expect_refused("cores_per_socket: 4", "cores_per_socket: 1000000000",
		       "f:4:42: 1000000000 is out of range, expected 1 to 1024");
	expect_refused("cores_per_socket: 4, smt: 2", "cores_per_socket: 512, smt: 4",
		       "f:4:52: 4096 CPUs in all, expected at most 2048");
}

static void a_line_of_another_size_is_refused(void)
{
	expect_refused("line: 64 B", "line: 48 B",
		       "f:4:59: unknown value '48 B', did you mean '32 B'? expected one of: 32 B, "
		       "64 B, 128 B");
}

static void an_l1_larger_than_the_l2_is_refused(void)
{
	expect_refused("size: 32 KiB, ways: 8", "size: 2 MiB, ways: 8",
		       "f:6:14: more than the L2, expected at most its size");
}

static void a_compare_exchange_shorter_than_an_addition_is_refused(void)
{
	expect_refused("  fence: 33", "  locked_cmpxchg: 19 cycles\n  fence: 33",
		       "f:9:19: shorter than locked_rmw, expected at least that");
}

static void a_cache_without_ways_is_refused(void)
{
	expect_refused("ways: 8", "ways: 0", "f:6:28: 0 is out of range, expected 1 to 128");
}

static void a_cache_of_no_whole_number_of_sets_is_refused(void)
{
	expect_refused("size: 32 KiB", "size: 33000 B",
		       "f:6:14: expected a multiple of 512 B: 8 ways of 64 B");
	expect_refused("size: 24.75 MiB", "size: 24 MiB",
		       "f:14:13: expected a multiple of 704 B: 11 ways of 64 B");
}

static void the_sets_of_a_private_cache_are_a_power_of_two(void)
{
	expect_refused("size: 32 KiB", "size: 24 KiB", "f:6:14: 48 sets, expected a power of two");
}

static void an_l2_with_no_more_ways_than_threads_is_refused(void)
{
	expect_refused("ways: 16", "ways: 2",
		       "f:7:27: 2 ways for 2 threads, expected more ways than threads");
}

static void an_l2_faster_than_the_l1_is_refused(void)
{
	expect_refused("latency: 7 ns", "latency: 1 ns",
		       "f:7:40: shorter than the L1's, expected at least that");
}

/* A loop that spins on such an operation would never end. */
static void what_takes_less_than_a_cycle_is_refused(void)
{
	expect_refused("latency: 4 cycles", "latency: 0 cycles",
		       "f:6:40: less than a cycle, expected one or more");
	expect_refused("locked_rmw: 20 cycles", "locked_rmw: 0.1 ns",
		       "f:8:15: less than a cycle, expected one or more");
	expect_refused("store_forward: 5 cycles", "store_forward: 0 cycles",
		       "f:11:18: less than a cycle, expected one or more");
}

static void a_store_buffer_beyond_the_limit_is_refused(void)
{
	expect_refused("store_buffer: 56", "store_buffer: 129",
		       "f:10:17: 129 is out of range, expected 1 to 128");
}

static void a_range_that_misses_its_median_is_refused(void)
{
	expect_refused("min: 40 ns", "min: 51 ns",
		       "f:18:24: more than the median, expected at most that");
	expect_refused("max: 65 ns", "max: 49 ns",
		       "f:18:51: less than the median, expected at least that");
}

static void a_hand_off_shorter_than_its_locked_operation_is_refused(void)
{
	expect_refused("min: 40 ns, median: 50 ns", "min: 5 ns, median: 50 ns",
		       "f:18:5: hand_off: its shortest is less than the locked operations that it "
		       "contains");
}

/* The way to the home and on is half of the LLC's 24 ns. */
static void a_transfer_shorter_than_the_way_to_the_home_is_refused(void)
{
	expect_refused("  invalidate_serial", "  dirty: {same_socket: 12 ns}\n  invalidate_serial",
		       "f:20:10: transfer.dirty: 12 ns leave less than a cycle for the answer once "
		       "the way to the home (24 cycles) is taken off");
}

static void a_second_socket_needs_its_figures(void)
{
	expect_refused("    cross_socket: {median: 130 ns}\n", "",
		       "f:18:5: key 'cross_socket' is missing, expected it with several sockets");
	expect_refused(", remote: 140 ns", "",
		       "f:15:7: key 'remote' is missing, expected it with several sockets");
}

static void an_unknown_key_names_the_nearest_known_one(void)
{
	expect_refused("ways: 16", "wais: 16",
		       "f:7:21: unknown key 'wais', did you mean 'ways'? expected one of: size, "
		       "ways, latency");
}

static void a_missing_key_is_named(void)
{
	expect_refused("discipline: fifo\n", "",
		       "f:1:1: key 'discipline' is missing, expected it here");
}

static void a_latency_without_a_unit_is_refused(void)
{
	expect_refused("local: 80 ns", "local: 80",
		       "f:15:15: '80', expected a time in ns, us, ms, s or cycles, such as 50 ns");
}

static void a_bandwidth_needs_its_unit(void)
{
	static const char *const wrong[] = { "34",     "34 GiB/s", "-34 GB/s",
					     "0 GB/s", "nan GB/s", "GB/s" };

	for (size_t k = 0; k < sizeof(wrong) / sizeof(*wrong); k++) {
		char expected[128], to[64];

		snprintf(to, sizeof(to), "bandwidth: %s}", wrong[k]);
		snprintf(expected, sizeof(expected),
			 "f:22:19: '%s', expected 0.001 to 1000000 GB/s", wrong[k]);
		expect_refused("bandwidth: 34 GB/s}", to, expected);
	}
}

/* ---- sources -------------------------------------------------------------------------------- */

static void a_figure_without_a_source_is_refused(void)
{
	expect_refused("dram: a}", "dram.local: a}",
		       "f:15:22: 'dram.remote' has no source, expected one under 'sources', or a "
		       "reason under 'assumed'");
	expect_refused("link: b, ", "",
		       "f:22:8: 'link.bandwidth' has no source, expected one under 'sources', or a "
		       "reason under 'assumed'");
}

static void the_start_of_a_key_covers_nothing(void)
{
	expect_refused("topology: a", "topology.smt: a",
		       "f:4:12: 'topology.sockets' has no source, expected one under 'sources', or "
		       "a reason under 'assumed'");
}

static void a_source_of_nothing_is_refused(void)
{
	expect_refused("dram: a}", "dram: a, dram.far: a}",
		       "f:26:60: no such key here, expected one that the file sets");
}

static void sources_are_a_map_of_texts(void)
{
	expect_refused("assumed: {transfer: b, link: b, discipline: b, s_eviction: b, home: b}",
		       "assumed: [transfer]", "f:27:10: a list, expected a map");
	expect_refused("dram: a}", "dram: [a]}", "f:26:57: a list, expected text");
}

static void an_override_needs_no_source(void)
{
	struct document *document = changed("", "");
	struct error error = { "" };

	CU_ASSERT_TRUE(document_set(document, "batch", "4", "--set", &error));
	CU_ASSERT_EQUAL(config_of(document).coherence.batch, 4);
	document_free(document);
}

/* ---- published figures ---------------------------------------------------------------------- */

static void published_figures_can_be_read(void)
{
	struct document *document = changed(
		"sources:", "published:\n"
			    "  - {figure: a, value: 3 ns, source: there, input: true}\n"
			    "  - {figure: b, threads: 4, value: 2, source: x, part: y, set: "
			    "{clock: 1 GHz}}\n"
			    "sources:");
	const struct node *entry = machine_file_published(document_root(document));
	struct machine_figure a, b;
	struct error error = { "" };

	config_of(document);
	CU_ASSERT_TRUE(machine_file_figure(entry, &a, &error));
	CU_ASSERT_TRUE(machine_file_figure(entry->next, &b, &error));
	CU_ASSERT_STRING_EQUAL(a.figure, "a");
	CU_ASSERT_STRING_EQUAL(a.value->text, "3 ns");
	CU_ASSERT_TRUE(a.input && !b.input);
	CU_ASSERT_EQUAL(a.threads, 0);
	CU_ASSERT_EQUAL(b.threads, 4);
	CU_ASSERT_STRING_EQUAL(b.part, "y");
	CU_ASSERT_STRING_EQUAL(node_get(b.set, "clock")->text, "1 GHz");
	CU_ASSERT_PTR_NULL(entry->next->next);
	document_free(document);
}

static void a_published_figure_needs_a_source(void)
{
	expect_refused("sources:", "published: [{figure: a, value: 3 ns}]\nsources:",
		       "f:26:13: key 'source' is missing, expected it here");
}

static void published_figures_are_a_list(void)
{
	expect_refused("sources:", "published: {figure: a}\nsources:",
		       "f:26:12: expected a list of {figure: NAME, value: X, ...}");
}

static void effective_settings_have_their_defaults_and_units(void)
{
	struct document *document = changed("", "");
	struct error error = { "" };
	json_t *json = machine_file_json(document_root(document), &error), *transfer, *hand_off;

	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	transfer = json_object_get(json, "transfer");
	hand_off = json_object_get(json_object_get(transfer, "hand_off"), "cross_socket");
	expect_text(json_string_value(json_object_get(json, "clock")), "2 GHz");
	expect_text(json_string_value(json_object_get(hand_off, "max")), "130 ns");
	expect_text(json_string_value(
			    json_object_get(json_object_get(transfer, "clean"), "same_socket")),
		    "52 ns");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(json, "batch")), 8);
	CU_ASSERT_PTR_NULL(json_object_get(json, "sources"));
	CU_ASSERT_PTR_NULL(json_object_get(json, "published"));
	json_decref(json);
	document_free(document);
}

/* ---- files ---------------------------------------------------------------------------------- */

static void every_machine_that_is_shipped_loads(void)
{
	glob_t found;

	CU_ASSERT_EQUAL_FATAL(glob("configs/machines/*.yaml", 0, NULL, &found), 0);
	CU_ASSERT(found.gl_pathc >= 4);
	for (size_t k = 0; k < found.gl_pathc; k++) {
		struct error error = { "" };
		struct document *document = document_load(found.gl_pathv[k], &error);
		struct machine_config config = { 0 };
		struct machine *machine;

		CU_ASSERT_PTR_NOT_NULL_FATAL(document);
		config = config_of(document);
		machine = machine_new(&config, &error);
		expect_text(error.text, "");
		CU_ASSERT_PTR_NOT_NULL(strstr(found.gl_pathv[k], config.name));
		machine_free(machine);
		document_free(document);
	}
	globfree(&found);
}

static void a_file_cut_at_any_byte_is_refused_with_its_place(void)
{
	for (size_t length = 1; length < sizeof(sound) - 2; length++) {
		struct error error = { "" };
		struct machine_config config;
		struct document *document = document_parse("f", sound, length, &error);

		if (document)
			CU_ASSERT_FALSE(
				machine_file_read(document_root(document), &config, &error));
		CU_ASSERT_EQUAL(strncmp(error.text, "f:", 2), 0);
		document_free(document);
	}
}

void suite_machine_file(void)
{
	CU_pSuite suite = CU_add_suite("machine_file", NULL, NULL);

	CU_ADD_TEST(suite, settings_of_a_core_arrive_in_cycles);
	CU_ADD_TEST(suite, topology_and_choices_arrive);
	CU_ADD_TEST(suite, uncore_latencies_arrive_in_nanoseconds);
	CU_ADD_TEST(suite, the_sets_of_the_llc_need_be_no_power_of_two);
	CU_ADD_TEST(suite, a_machine_of_1024_cores_can_be_made);
	CU_ADD_TEST(suite, transactions_that_are_not_given_follow_from_the_hand_off);
	CU_ADD_TEST(suite, transactions_that_are_given_stay);
	CU_ADD_TEST(suite, pairs_lie_at_the_median_where_no_range_is_given);
	CU_ADD_TEST(suite, a_hand_off_keeps_its_transfer_at_another_clock);
	CU_ADD_TEST(suite, without_a_link_there_is_no_limit);
	CU_ADD_TEST(suite, one_socket_needs_no_figures_across);
	CU_ADD_TEST(suite, the_levels_of_a_socket_reach_the_simulator);
	CU_ADD_TEST(suite, a_retained_line_does_whole_operations_within_the_hand_off);
	CU_ADD_TEST(suite, operations_at_the_home_take_as_long_as_answers_by_default);
	CU_ADD_TEST(suite, levels_that_do_not_nest_are_refused);
	CU_ADD_TEST(suite, a_level_needs_its_hand_off);
	CU_ADD_TEST(suite, what_a_machine_lacks_is_not_among_its_settings);
	CU_ADD_TEST(suite, zero_cores_are_refused);
	CU_ADD_TEST(suite, more_cores_than_the_limit_are_refused);
	CU_ADD_TEST(suite, a_line_of_another_size_is_refused);
	CU_ADD_TEST(suite, an_l1_larger_than_the_l2_is_refused);
	CU_ADD_TEST(suite, a_compare_exchange_shorter_than_an_addition_is_refused);
	CU_ADD_TEST(suite, a_cache_without_ways_is_refused);
	CU_ADD_TEST(suite, a_cache_of_no_whole_number_of_sets_is_refused);
	CU_ADD_TEST(suite, the_sets_of_a_private_cache_are_a_power_of_two);
	CU_ADD_TEST(suite, an_l2_with_no_more_ways_than_threads_is_refused);
	CU_ADD_TEST(suite, an_l2_faster_than_the_l1_is_refused);
	CU_ADD_TEST(suite, what_takes_less_than_a_cycle_is_refused);
	CU_ADD_TEST(suite, a_store_buffer_beyond_the_limit_is_refused);
	CU_ADD_TEST(suite, a_range_that_misses_its_median_is_refused);
	CU_ADD_TEST(suite, a_hand_off_shorter_than_its_locked_operation_is_refused);
	CU_ADD_TEST(suite, a_transfer_shorter_than_the_way_to_the_home_is_refused);
	CU_ADD_TEST(suite, a_second_socket_needs_its_figures);
	CU_ADD_TEST(suite, an_unknown_key_names_the_nearest_known_one);
	CU_ADD_TEST(suite, a_missing_key_is_named);
	CU_ADD_TEST(suite, a_latency_without_a_unit_is_refused);
	CU_ADD_TEST(suite, a_bandwidth_needs_its_unit);
	CU_ADD_TEST(suite, a_figure_without_a_source_is_refused);
	CU_ADD_TEST(suite, the_start_of_a_key_covers_nothing);
	CU_ADD_TEST(suite, a_source_of_nothing_is_refused);
	CU_ADD_TEST(suite, sources_are_a_map_of_texts);
	CU_ADD_TEST(suite, an_override_needs_no_source);
	CU_ADD_TEST(suite, published_figures_can_be_read);
	CU_ADD_TEST(suite, a_published_figure_needs_a_source);
	CU_ADD_TEST(suite, published_figures_are_a_list);
	CU_ADD_TEST(suite, effective_settings_have_their_defaults_and_units);
	CU_ADD_TEST(suite, every_machine_that_is_shipped_loads);
	CU_ADD_TEST(suite, a_file_cut_at_any_byte_is_refused_with_its_place);
}
