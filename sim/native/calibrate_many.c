/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/calibrate_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct contest_row {
	const char *name;
	enum bench_contest contest;
	const char *method;
} contest_table[] = {
	{ "fetch_add", CONTESTS_FETCH_ADD,
	  "fetch-adds to one counter, an operation of all threads" },
	{ "cas_loop", CONTESTS_CAS_LOOP,
	  "compare-exchange loops that go on with what they were given, a success of all threads" },
	{ "load_cas_loop", CONTESTS_LOAD_CAS_LOOP,
	  "load and compare-exchange loops, a success of all threads" },
	{ "plain_add", CONTESTS_PLAIN_ADD,
	  "load, add, store to one counter, an operation of a thread" },
	{ "trace", CONTESTS_TRACE, "fetch-adds whose results are kept" },
};

enum { CONTESTS = sizeof(contest_table) / sizeof(*contest_table) };

static void measure_contest(struct calibrating *all, const struct contest_row *row,
			    const uint32_t *order, uint32_t threads)
{
	double token_ns = threads == 2 ? calibrate_token(all->c, order[0], order[1]) : 0;
	struct bench_contest_result result = { 0 };
	struct error error = { "" };

	if (!bench_contest(&all->bench, order, threads, token_ns, row->contest, &result, &error)) {
		calibrate_lacks(all, row->name, error.text);
		return;
	}
	if (row->contest == CONTESTS_TRACE) {
		calibrate_add(all, "traced_fetch_add", threads, "ns", result.ns, "%s", row->method);
		calibrate_add(all, "visit", threads, "operations", result.visit,
			      "operations of a core before another has the line, of %s",
			      row->method);
		if (threads > all->c->before_threads) {
			all->c->before_threads = threads;
			memcpy(all->c->before, result.before, sizeof(result.before));
		}
		return;
	}
	if (!calibrate_add(all, row->name, threads, "ns", result.ns, "%s", row->method))
		calibrate_lacks(all, row->name, "the CPUs did not lie still for long enough");
	if (row->contest == CONTESTS_LOAD_CAS_LOOP)
		calibrate_add(
			all, "fairness", threads, "ratio", result.fairness,
			"successes of the luckiest thread to the least lucky, of load_cas_loop");
}

/* The numbers of threads: all up to four, then powers of two, all cores, all CPUs. */
static bool counts(const struct host *host, uint32_t threads)
{
	return threads <= 4 || (threads & (threads - 1)) == 0 || threads == host->cores ||
	       threads == host->count;
}

void calibrate_contests(struct calibrating *all)
{
	const struct host *host = all->c->host;
	struct error error = { "" };
	uint32_t count = 0, numbers = 0, *order = host_order(host, "compact", &count, &error);
	double each;

	for (uint32_t n = 1; n <= count; n++)
		numbers += counts(host, n);
	each = all->effort->contests_s / (CONTESTS * (numbers ? numbers : 1));
	all->bench.seconds = fmin(each, all->effort->bout_most_s);
	for (uint32_t n = 1; order && n <= count; n++)
		for (int k = 0; counts(host, n) && k < CONTESTS; k++) {
			calibrate_tell(all, contest_table[k].name);
			measure_contest(all, &contest_table[k], order, n);
		}
	free(order);
}
