/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of perf for the host at hand, after perf's own choice in tools/perf/arch/ARCH/util/mem-events.c. */
#define _GNU_SOURCE /* vasprintf */
#include "native/capture.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PERIOD_EVENTS = 1009, /* a prime, see below */
	PERIOD_IBS = 100000,  /* IBS takes multiples of 16 */
	IBS_STEP = 16
};

/* ---- words ---------------------------------------------------------------------------------- */

bool words_add(struct words *words, const char *format, ...)
{
	char **all = reallocarray(words->all, words->count + 2, sizeof(*all));
	va_list arguments;
	int length;

	if (!all)
		return false;
	words->all = all;
	va_start(arguments, format);
	length = vasprintf(&all[words->count], format, arguments);
	va_end(arguments);
	words->count += length >= 0;
	all[words->count] = NULL;
	return length >= 0;
}

void words_free(struct words *words)
{
	for (uint32_t k = 0; k < words->count; k++)
		free(words->all[k]);
	free(words->all);
	*words = (struct words){ NULL, 0 };
}

/* ---- parts of commands ---------------------------------------------------------------------- */

static struct capture_run *add_run(struct capture_plan *plan, const char *out, bool numbered)
{
	struct capture_run *runs = reallocarray(plan->runs, plan->count + 1, sizeof(*runs));
	struct capture_run *run;
	int length;

	if (!runs)
		return NULL;
	plan->runs = runs;
	run = &runs[plan->count++];
	*run = (struct capture_run){ .out = NULL };
	length = numbered ? asprintf(&run->out, "%s.%" PRIu32, out, plan->count)
			  : asprintf(&run->out, "%s", out);
	if (length < 0)
		run->out = NULL;
	return length >= 0 && words_add(&run->command, "perf") &&
			       words_add(&run->command, "record") &&
			       words_add(&run->command, "-o") &&
			       words_add(&run->command, "%s", run->out)
		       ? run
		       : NULL;
}

static bool add_event(struct words *command, const char *event)
{
	return words_add(command, "-e") && words_add(command, "%s", event);
}

static bool add_period(struct words *command, uint64_t period)
{
	return words_add(command, "-c") && words_add(command, "%" PRIu64, period);
}

/* What is to be recorded with each sample: data address, latency, time, CPU. */
static bool add_contents(struct words *command, bool physical, bool latency)
{
	return words_add(command, "-d") && (!physical || words_add(command, "--phys-data")) &&
	       (!latency || words_add(command, "-W")) && words_add(command, "-T") &&
	       words_add(command, "--sample-cpu");
}

static bool add_target(struct words *command, const struct capture_request *request)
{
	if (request->pid)
		return words_add(command, "-p") && words_add(command, "%" PRIu64, request->pid);
	if (!words_add(command, "--"))
		return false;
	for (char **word = request->command; *word; word++)
		if (!words_add(command, "%s", *word))
			return false;
	return true;
}

static bool say_user_only(const struct capture_host *host, struct words *why)
{
	return !capture_user_only(host) ||
	       words_add(why,
			 "user space alone, without physical addresses: "
			 "kernel.perf_event_paranoid is %d, and CAP_PERFMON is not there",
			 host->paranoid);
}

static bool say_sampled(struct words *why)
{
	return words_add(why, "samples show which accesses there were, and not their order: they "
			      "replay as a mix, and what comes out is a range");
}

/* ---- by the host's means -------------------------------------------------------------------- */

static bool add_pebs_events(struct capture_run *run, const struct capture_pmu *pmu,
			    const struct capture_request *request, const char *modifier)
{
	char loads[256], stores[128];

	snprintf(loads, sizeof(loads),
		 pmu->aux ? "{%s/mem-loads-aux/,%s/mem-loads,ldlat=%" PRIu64 "/}:P%s"
			  : "%.0s%s/mem-loads,ldlat=%" PRIu64 "/P%s",
		 pmu->name, pmu->name, request->ldlat, modifier);
	snprintf(stores, sizeof(stores), "%s/mem-stores/P%s", pmu->name, modifier);
	return add_event(&run->command, loads) && add_event(&run->command, stores) &&
	       (!pmu->aux ||
		words_add(&run->why,
			  "%s/mem-loads-aux/: without it the processor does not say where a load's "
			  "data was",
			  pmu->name));
}

static bool plan_pebs(struct capture_run *run, const struct capture_host *host,
		      const struct capture_request *request)
{
	bool user = capture_user_only(host), done = true;
	uint64_t period = request->period ? request->period : PERIOD_EVENTS;

	done = words_add(&run->why,
			 "mem-loads, mem-stores: Intel's PEBS; loads under %" PRIu64
			 " cycles are not sampled, and a locked operation is sampled by both",
			 request->ldlat) &&
	       (host->pmu_count == 1 ||
		words_add(&run->why, "each kind of core has events of its own"));
	for (uint32_t k = 0; done && k < host->pmu_count; k++)
		done = add_pebs_events(run, &host->pmus[k], request, user ? "u" : "");
	return done && add_period(&run->command, period) &&
	       words_add(&run->why, "-c %" PRIu64 ": one access in so many%s", period,
			 request->period ? "" : "; a prime, with which no loop keeps step") &&
	       add_contents(&run->command, !user, true);
}

static bool plan_ibs(struct capture_run *run, const struct capture_host *host,
		     const struct capture_request *request, struct error *error)
{
	bool user = capture_user_only(host);
	uint64_t period = request->period ? request->period : PERIOD_IBS;

	if (user && !host->user_alone)
		return error_set(
			error,
			"IBS of this kernel cannot leave the kernel's own accesses out "
			"(Linux 6.14 can), and kernel.perf_event_paranoid is %d: run as root",
			host->paranoid);
	if (!host->per_task && !host->privileged && host->paranoid >= 1)
		return error_set(error,
				 "IBS of this kernel samples whole CPUs alone (Linux 6.2 follows a "
				 "command), and kernel.perf_event_paranoid is %d: run as root",
				 host->paranoid);
	if (period % IBS_STEP)
		return error_set(error, "--period %" PRIu64 ": IBS takes multiples of %d", period,
				 IBS_STEP);
	return (words_add(&run->why, "ibs_op: AMD's instruction-based sampling, of every operation "
				     "alike; those that are no access fall away") &&
		add_event(&run->command, user ? "ibs_op/swfilt=1/u" : "ibs_op//") &&
		(host->per_task || (words_add(&run->command, "-a") &&
				    words_add(&run->why, "-a: IBS follows a command from Linux 6.2 "
							 "on; here it samples all CPUs"))) &&
		add_period(&run->command, period) &&
		words_add(&run->why, "-c %" PRIu64 ": one in so many cycles; a multiple of %d",
			  period, IBS_STEP) &&
		add_contents(&run->command, !user, true)) ||
	       error_set(error, "out of memory");
}

static bool plan_spe(struct capture_run *run, const struct capture_host *host,
		     const struct capture_request *request)
{
	bool done = words_add(&run->why, "arm_spe: Arm's statistical profiling; perf alone can "
					 "decode it, hence the second command");

	for (uint32_t k = 0; done && k < host->pmu_count; k++) {
		char event[160];

		/* Physical addresses need CAP_PERFMON, whatever perf_event_paranoid is. */
		snprintf(event, sizeof(event), "%s/ts_enable=1,%sload_filter=1,store_filter=1/%s",
			 host->pmus[k].name, host->privileged ? "pa_enable=1," : "",
			 capture_user_only(host) ? "u" : "");
		done = add_event(&run->command, event);
	}
	if (done && request->period)
		done = add_period(&run->command, request->period);
	return done && add_contents(&run->command, host->privileged, true) &&
	       words_add(&run->decode, "perf") && words_add(&run->decode, "script") &&
	       words_add(&run->decode, "--itrace=M") && words_add(&run->decode, "-G") &&
	       words_add(&run->decode, "--ns") && words_add(&run->decode, "-F") &&
	       words_add(&run->decode,
			 "comm,pid,tid,cpu,time,period,event,addr,%sdata_src,weight,ip,sym,symoff,"
			 "dso",
			 host->privileged ? "phys_addr," : "") &&
	       words_add(&run->decode, "-i") && words_add(&run->decode, "%s", run->out);
}

static bool plan_samples(struct capture_plan *plan, const struct capture_host *host,
			 const struct capture_request *request, struct error *error)
{
	struct capture_run *run = add_run(plan, request->out, false);
	bool done = run;

	switch (done ? host->means : CAPTURE_NOTHING) {
	case CAPTURE_PEBS:
		done = plan_pebs(run, host, request);
		break;
	case CAPTURE_IBS:
		done = plan_ibs(run, host, request, error);
		break;
	case CAPTURE_SPE:
		done = plan_spe(run, host, request);
		break;
	case CAPTURE_NOTHING:
		break;
	}
	return (done && say_sampled(&run->why) && say_user_only(host, &run->why) &&
		add_target(&run->command, request)) ||
	       (error->text[0] ? false : error_set(error, "out of memory"));
}

/* ---- by breakpoints ------------------------------------------------------------------------- */

static bool kernel_address(uint64_t address)
{
	return address >> 63;
}

static bool add_breakpoint(struct words *command, const struct capture_place *place,
			   const char *kind)
{
	char event[64];

	snprintf(event, sizeof(event), "mem:0x%" PRIx64 "/%u:%s:%c", place->address, place->size,
		 kind, kernel_address(place->address) ? 'k' : 'u');
	return add_event(command, event);
}

static bool plan_breakpoints_run(struct capture_run *run, const struct capture_request *request,
				 uint32_t from, uint32_t to, bool pairs)
{
	bool done = true;

	for (uint32_t k = from; done && k < to; k++) {
		const struct capture_place *place = &request->places[k];

		done = (!pairs || add_breakpoint(&run->command, place, "w")) &&
		       add_breakpoint(&run->command, place, "rw") &&
		       words_add(&run->why, "%s is %u byte%s at 0x%" PRIx64, place->name,
				 place->size, place->size == 1 ? "" : "s", place->address);
	}
	return done &&
	       words_add(&run->why,
			 pairs ? "two breakpoints each: what both see is a store or an atomic "
				 "operation, what :rw alone sees is a load"
			       : "one breakpoint each, %d at a time: it does not tell loads from "
				 "stores; --pairs does, two places at a time",
			 CAPTURE_SLOTS) &&
	       words_add(&run->why, "every access is recorded, and takes some 10 us longer: each "
				    "thread's order is right, times are not") &&
	       add_period(&run->command, 1) && add_contents(&run->command, false, false) &&
	       add_target(&run->command, request);
}

static bool plan_breakpoints(struct capture_plan *plan, const struct capture_host *host,
			     const struct capture_request *request, struct error *error)
{
	bool pairs = request->pairs || request->place_count <= CAPTURE_SLOTS / 2;
	uint32_t each = pairs ? CAPTURE_SLOTS / 2 : CAPTURE_SLOTS;

	for (uint32_t k = 0; k < request->place_count; k++)
		if (kernel_address(request->places[k].address) && capture_user_only(host))
			return error_set(error,
					 "%s is the kernel's, and kernel.perf_event_paranoid is "
					 "%d: run as root",
					 request->places[k].name, host->paranoid);
	for (uint32_t k = 0; k < request->place_count; k += each) {
		uint32_t left = request->place_count - k;
		struct capture_run *run = add_run(plan, request->out, request->place_count > each);

		if (!run ||
		    !plan_breakpoints_run(run, request, k, k + (left < each ? left : each), pairs))
			return error_set(error, "out of memory");
	}
	return true;
}

/* ---- either --------------------------------------------------------------------------------- */

bool capture_plan(struct capture_plan *plan, const struct capture_host *host,
		  const struct capture_request *request, struct error *error)
{
	*plan = (struct capture_plan){ NULL, 0 };
	if (request->place_count)
		return plan_breakpoints(plan, host, request, error);
	if (host->means == CAPTURE_NOTHING)
		return error_set(error,
				 "no processor event here samples data addresses (no PMU, as in "
				 "most virtual machines); breakpoints on an object's fields do "
				 "without: --object NAME=STRUCT@SYMBOL --fields A,B");
	return plan_samples(plan, host, request, error);
}

void capture_plan_free(struct capture_plan *plan)
{
	for (uint32_t k = 0; k < plan->count; k++) {
		free(plan->runs[k].out);
		words_free(&plan->runs[k].command);
		words_free(&plan->runs[k].decode);
		words_free(&plan->runs[k].why);
	}
	free(plan->runs);
	*plan = (struct capture_plan){ NULL, 0 };
}
