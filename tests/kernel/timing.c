/* SPDX-License-Identifier: GPL-2.0-or-later */
/* timing LAYOUT PROPAGATE: ns a charge, by the kernel's own page counter and by models/page_counter.c in
 * the same layout, for one thread and for two, on this host. */
#include "tests/kernel/timing.h"
#include "workload/simulation.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct document *parse(const char *text, struct error *error)
{
	return document_parse("timing", text, strlen(text), error);
}

static bool time_model(const char *layout, const char *propagate, uint32_t threads,
		       const struct native_plan *plan, struct native_result *result,
		       struct error *error)
{
	const struct run_options options = { .seed = 1, .layout_directory = "configs/layouts" };
	struct simulation simulation;
	struct setting setting;
	char text[512];
	bool done;

	snprintf(text, sizeof(text),
		 "layouts: {page_counter: %s}\nworkload: {model: charge, threads: %u, levels: %d, "
		 "hold: "
		 "%d, protect: %d, propagate: %s}\n",
		 layout, threads, TIMING_LEVELS, TIMING_HOLD, TIMING_PROTECT, propagate);
	setting.experiment = parse(text, error);
	setting.machine = document_load("configs/machines/skx-2s-18c.yaml", error);
	done = setting.experiment && setting.machine &&
	       simulation_build(&simulation, &setting, &options, error);
	if (done) {
		done = native_run(simulation.build, plan, result, error) &&
		       simulation.model->verify(simulation.build, error);
		simulation_free(&simulation);
	}
	setting_free(&setting);
	return done;
}

static void print(const char *what, uint32_t threads, const struct native_result *result)
{
	printf("%-8s %7u %10.2f  %8.2f to %-8.2f", what, threads, result->ns, result->low,
	       result->high);
	if (result->disturbed)
		printf("  %u disturbed%s: %s", result->disturbed,
		       result->repeats ? "" : ", none quiet", result->noise);
	putchar('\n');
}

static bool time_both(const struct layout *layout, const char *name, const char *propagate,
		      const struct host *host, struct error *error)
{
	uint32_t count, *order = host_order(host, "spread", &count, error);
	const struct native_plan plan = {
		.host = host, .order = order, .cpus = count, .ms = 50, .repeats = 9
	};
	bool done = order;

	for (uint32_t threads = 1; done && threads <= 2 && threads <= count; threads++) {
		struct native_result kernel, model;

		done = time_kernel(layout, threads, &plan, &kernel, error) &&
		       time_model(name, propagate, threads, &plan, &model, error);
		if (!done)
			break;
		print("kernel", threads, &kernel);
		print("model", threads, &model);
	}
	free(order);
	return done;
}

int main(int argc, char **argv)
{
	struct error error = { "" };
	struct layout *layout =
		argc == 3 ? layout_load("configs/layouts", argv[1], NULL, &error) : NULL;
	struct host *host = layout ? host_new(&error) : NULL;
	bool done = host;

	if (argc != 3)
		error_set(&error, "usage: timing LAYOUT PROPAGATE");
	if (done) {
		printf("%-8s %7s %10s  %s\n", "", "threads", "ns", "spread, p10 to p90");
		done = time_both(layout, argv[1], argv[2], host, &error);
	}
	if (!done)
		fprintf(stderr, "timing: %s\n", error.text);
	host_free(host);
	layout_free(layout);
	return done ? 0 : 2;
}
