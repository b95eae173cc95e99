/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An experiment: refused with its place; or accepted, and then every variant of it can be put in
 * force, and runs for a moment or is refused with its place. */
#include "tests/fuzz/fuzz.h"
#include "workload/experiment.h"
#include "workload/variant.h"
#include <string.h>

enum { VARIANTS_TRIED = 2 };

/* Small and quick, yet all kinds of distance are in it. */
static const char machine_text[] =
	"machine: small\n"
	"about: 2 sockets x 2 cores x 2 threads\n"
	"clock: 1 GHz\n"
	"topology: {sockets: 2, cores_per_socket: 2, smt: 2, line: 64 B}\n"
	"core:\n"
	"  l1: {size: 256 B, ways: 2, latency: 4 cycles}\n"
	"  l2: {size: 512 B, ways: 4, latency: 12 cycles}\n"
	"  locked_rmw: 18 cycles\n"
	"  fence: 33 cycles\n"
	"  store_buffer: 8\n"
	"  store_forward: 5 cycles\n"
	"  loads_in_flight: 4\n"
	"  smt_slowdown: 1.5\n"
	"llc: {size: 1 KiB, ways: 4, latency: 20 ns}\n"
	"dram: {local: 80 ns, remote: 140 ns}\n"
	"transfer:\n"
	"  hand_off: {same_socket: {median: 60 ns}, cross_socket: {median: 130 ns}}\n"
	"  invalidate_serial: 1 ns\n"
	"  home_occupancy: 2 ns\n"
	"discipline: random\n"
	"s_eviction: silent\n"
	"home: ahead\n"
	"sources: {}\n"
	"assumed: {clock: x, topology: x, core: x, llc: x, dram: x, transfer: x, discipline: x, "
	"s_eviction: x, home: x}\n";

/* A moment: long enough for each thread to have begun. */
static const char measure_text[] = "{warmup: 0 ns, duration: 1 us}";

static const struct document *machine_document(void)
{
	static struct document *document;

	if (!document)
		document = fuzz_document("machine", machine_text);
	return document;
}

/* A refusal at a place of the input; or of a layout or an override, or of what no line is to blame
 * for. But the simulator itself must not fail. */
static void expect_refused(const struct error *error)
{
	static const char defect[] = "protocol defect", deadlock[] = "deadlock";

	if (!strncmp(error->text, FUZZ_NAME ":", sizeof(FUZZ_NAME)))
		fuzz_expect_refusal(error);
	else
		fuzz_expect_message(error);
	FUZZ_EXPECT(strncmp(error->text, defect, sizeof(defect) - 1), error);
	FUZZ_EXPECT(strncmp(error->text, deadlock, sizeof(deadlock) - 1), error);
}

static void try_variant(const struct experiment *experiment, const struct variant *variant)
{
	static const struct run_options options = { .seed = 1,
						    .paranoid = true,
						    .layout_directory = "configs/layouts" };
	struct setting from = { experiment->document,
				(struct document *)(uintptr_t)machine_document() };
	struct setting setting;
	struct simulation simulation;
	struct error error = { "" };

	FUZZ_EXPECT(setting_copy(&setting, &from, &error), &error);
	if (variant_apply(experiment->variants_node, variant->node, &setting, &error) &&
	    setting_override_text(&setting, "measure", measure_text, "measure", &error) &&
	    simulation_run(&simulation, &setting, &options, &error)) {
		FUZZ_EXPECT(!error.text[0] && simulation.threads > 0, &error);
		simulation_free(&simulation);
	} else {
		expect_refused(&error);
	}
	setting_free(&setting);
}

static void expect_consistent(const struct experiment *experiment)
{
	FUZZ_EXPECT(experiment->variant_count >= 1, NULL);
	FUZZ_EXPECT(experiment->variant_count <= VARIANTS_MAX, NULL);
	FUZZ_EXPECT(experiment->baseline < experiment->variant_count, NULL);
	FUZZ_EXPECT(experiment->per > 0 && experiment->per_operation > 0, NULL);
	FUZZ_EXPECT(experiment->unit && experiment->name && experiment->about, NULL);
	for (uint32_t k = 0; k < experiment->variant_count && k < VARIANTS_TRIED; k++)
		try_variant(experiment, &experiment->variants[k]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = { "" };
	struct document *document = document_parse(FUZZ_NAME, (const char *)data, size, &error);
	struct experiment experiment = { 0 };

	if (document && experiment_read(&experiment, document, &error)) {
		FUZZ_EXPECT(!error.text[0], &error);
		expect_consistent(&experiment);
	} else {
		fuzz_expect_refusal(&error);
	}
	if (document)
		experiment_free(&experiment);
	return 0;
}
