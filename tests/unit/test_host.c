/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's topology and the order of its CPUs, on topologies made up for hwloc; and what must hold
 * of the machine that the tests run on, whatever it is. */
#define _GNU_SOURCE /* sched_getcpu */
#include "tests/unit/suites.h"
#include "native/host.h"
#include <CUnit/CUnit.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- helpers -------------------------------------------------------------------------------- */

/* Two sockets of two L3s of two cores of two threads; the kernel counts the second threads after
 * all first ones, as x86 kernels do. */
#define TWO_SOCKETS "pack:2 l3:2 l2:2 core:1 pu:2(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15)"

static struct host *host_like(const char *description)
{
	struct error error = { "" };
	hwloc_topology_t topology;
	struct host *host;

	CU_ASSERT_FATAL(hwloc_topology_init(&topology) == 0);
	CU_ASSERT_FATAL(hwloc_topology_set_synthetic(topology, description) == 0);
	CU_ASSERT_FATAL(hwloc_topology_load(topology) == 0);
	host = host_of_topology(topology, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(host);
	CU_ASSERT_STRING_EQUAL(error.text, "");
	hwloc_topology_destroy(topology);
	return host;
}

static void expect_text(const char *got, const char *expected)
{
	CU_ASSERT_STRING_EQUAL(got, expected);
	if (strcmp(got, expected) != 0)
		printf("\n  got  %s\n  want %s\n", got, expected);
}

/* The kernel's numbers of an order, or the error's text. */
static void expect_order(const char *description, const char *placement, const char *expected)
{
	struct host *host = host_like(description);
	struct error error = { "" };
	uint32_t count, *order = host_order(host, placement, &count, &error);
	char text[600] = "";

	for (uint32_t k = 0; order && k < count; k++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u", k ? " " : "",
			 host->cpus[order[k]].os);
	expect_text(order ? text : error.text, expected);
	free(order);
	host_free(host);
}

/* ---- topology ------------------------------------------------------------------------------- */

static void cpus_know_what_they_lie_in(void)
{
	struct host *host = host_like(TWO_SOCKETS);
	char text[2000] = "";

	for (uint32_t k = 0; k < host->count; k++) {
		const struct host_cpu *cpu = &host->cpus[k];

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u:%u.%u/%u/%u ",
			 cpu->os, cpu->core, cpu->smt, cpu->cluster, cpu->socket);
	}
	expect_text(text, "0:0.0/0/0 8:0.1/0/0 1:1.0/0/0 9:1.1/0/0 2:2.0/1/0 10:2.1/1/0 3:3.0/1/0 "
			  "11:3.1/1/0 4:4.0/2/1 12:4.1/2/1 5:5.0/2/1 13:5.1/2/1 6:6.0/3/1 "
			  "14:6.1/3/1 7:7.0/3/1 15:7.1/3/1 ");
	CU_ASSERT_EQUAL(host->cores, 8);
	CU_ASSERT_EQUAL(host->clusters, 4);
	CU_ASSERT_EQUAL(host->sockets, 2);
	host_free(host);
}

static void caches_are_as_large_as_hwloc_says(void)
{
	struct host *host = host_like("pack:1 l3:1(size=33554432) l2:2(size=1048576) "
				      "l1d:1(size=32768) core:1 pu:1");

	CU_ASSERT_EQUAL(host->l1.size, 32768);
	CU_ASSERT_EQUAL(host->l2.size, 1048576);
	CU_ASSERT_EQUAL(host->llc.size, 33554432);
	host_free(host);
}

static void cores_without_a_shared_cache_are_one_cluster(void)
{
	struct host *host = host_like("pack:2 l2:4 core:1 pu:1");

	CU_ASSERT_EQUAL(host->clusters, 2);
	CU_ASSERT_EQUAL(host->cpus[3].cluster, host->cpus[0].cluster);
	host_free(host);
}

static void cores_that_share_an_l2_are_clusters(void)
{
	struct host *host = host_like("pack:1 l2:2 core:2 pu:1");

	CU_ASSERT_EQUAL(host->clusters, 2);
	CU_ASSERT_EQUAL(host->cpus[1].cluster, 0);
	CU_ASSERT_EQUAL(host->cpus[2].cluster, 1);
	host_free(host);
}

static void cpus_alone_are_cores_of_one_socket(void)
{
	struct host *host = host_like("pu:3");

	CU_ASSERT_EQUAL(host->cores, 3);
	CU_ASSERT_EQUAL(host->clusters, 1);
	CU_ASSERT_EQUAL(host->sockets, 1);
	CU_ASSERT_EQUAL(host->line, 64);
	host_free(host);
}

/* ---- order ---------------------------------------------------------------------------------- */

static void spread_takes_cores_of_the_sockets_in_turn(void)
{
	expect_order(TWO_SOCKETS, "spread", "0 4 1 5 2 6 3 7 8 12 9 13 10 14 11 15");
}

static void compact_fills_a_socket_first_siblings_last(void)
{
	expect_order(TWO_SOCKETS, "compact", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
	expect_order("pack:2 core:2 pu:2", "compact", "0 2 4 6 1 3 5 7");
}

static void a_list_is_taken_in_its_order(void)
{
	expect_order(TWO_SOCKETS, "0,2,4-7", "0 2 4 5 6 7");
	expect_order(TWO_SOCKETS, "15,3", "15 3");
	expect_order(TWO_SOCKETS, "5-5", "5");
}

static void a_list_names_each_cpu_once(void)
{
	expect_order(TWO_SOCKETS, "3,1-4", "placement: CPU 3 twice, expected each once");
}

static void a_list_names_usable_cpus_only(void)
{
	expect_order("core:2 pu:1", "0,9",
		     "placement: CPU 9, expected one that may be used here: 0-1");
	expect_order("core:1 pu:1", "0-99999",
		     "placement: CPU 1, expected one that may be used here: 0");
	expect_order("pu:4(indexes=0,2,3,9)", "1",
		     "placement: CPU 1, expected one that may be used here: 0,2-3,9");
}

static void what_is_no_list_is_refused(void)
{
	static const char *const bad[] = {
		"",    ",",   "0,",   "0-", "2-1",    "-1",    "a",
		"0 1", "0;1", "0,,1", "+1", "Spread", "0-1-2", "123456"
	};

	for (size_t k = 0; k < sizeof(bad) / sizeof(*bad); k++) {
		char expected[200];

		snprintf(expected, sizeof(expected),
			 "placement '%s', expected spread, compact or a list of CPUs such as "
			 "0,2,4-7",
			 bad[k]);
		expect_order("core:4 pu:1", bad[k], expected);
	}
}

/* ---- this host ------------------------------------------------------------------------------ */

static void every_usable_cpu_can_be_pinned_to(void)
{
	struct error error = { "" };
	struct host *host = host_new(&error);

	CU_ASSERT_PTR_NOT_NULL_FATAL(host);
	CU_ASSERT_TRUE(host->count > 0 && host->cores <= host->count);
	for (uint32_t k = 0; k < host->count; k++) {
		CU_ASSERT_TRUE(host_pin(&host->cpus[k], &error));
		CU_ASSERT_EQUAL(sched_getcpu(), (int)host->cpus[k].os);
	}
	CU_ASSERT_TRUE(host_unpin(host, &error));
	CU_ASSERT_STRING_EQUAL(error.text, "");
	host_free(host);
}

static void a_pinned_thread_has_one_usable_cpu(void)
{
	struct error error = { "" };
	struct host *all = host_new(&error), *one;
	uint32_t last;

	CU_ASSERT_PTR_NOT_NULL_FATAL(all);
	last = all->cpus[all->count - 1].os;
	CU_ASSERT_TRUE(host_pin(&all->cpus[all->count - 1], &error));
	one = host_new(&error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(one);
	CU_ASSERT_EQUAL(one->count, 1);
	CU_ASSERT_EQUAL(one->cpus[0].os, last);
	CU_ASSERT_TRUE(host_unpin(all, &error));
	host_free(one);
	host_free(all);
}

static void clocks_never_run_backwards(void)
{
	for (int counter = 0; counter < 2; counter++) {
		struct host_clock clock = host_clock_new(counter);
		uint64_t before = host_ticks(&clock);

		CU_ASSERT_TRUE(clock.ns_per_tick > 0);
		for (int k = 0; k < 1000; k++) {
			uint64_t now = host_ticks(&clock);

			CU_ASSERT_TRUE(now >= before);
			before = now;
		}
	}
}

void suite_host(void)
{
	CU_pSuite suite = CU_add_suite("host", NULL, NULL);

	CU_ADD_TEST(suite, cpus_know_what_they_lie_in);
	CU_ADD_TEST(suite, caches_are_as_large_as_hwloc_says);
	CU_ADD_TEST(suite, cores_without_a_shared_cache_are_one_cluster);
	CU_ADD_TEST(suite, cores_that_share_an_l2_are_clusters);
	CU_ADD_TEST(suite, cpus_alone_are_cores_of_one_socket);
	CU_ADD_TEST(suite, spread_takes_cores_of_the_sockets_in_turn);
	CU_ADD_TEST(suite, compact_fills_a_socket_first_siblings_last);
	CU_ADD_TEST(suite, a_list_is_taken_in_its_order);
	CU_ADD_TEST(suite, a_list_names_each_cpu_once);
	CU_ADD_TEST(suite, a_list_names_usable_cpus_only);
	CU_ADD_TEST(suite, what_is_no_list_is_refused);
	CU_ADD_TEST(suite, every_usable_cpu_can_be_pinned_to);
	CU_ADD_TEST(suite, a_pinned_thread_has_one_usable_cpu);
	CU_ADD_TEST(suite, clocks_never_run_backwards);
}
