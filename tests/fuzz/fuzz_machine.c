/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine file: refused with its place; or accepted, and then what it means is consistent, and
 * printed and read again it means the same. */
#include "machine/machine_file.h"
#include "tests/fuzz/fuzz.h"
#include <stdlib.h>
#include <string.h>

/* A link without a bandwidth is one that the file does not have. */
static void drop_empty_link(json_t *file)
{
	if (json_is_null(json_object_get(json_object_get(file, "link"), "bandwidth")))
		json_object_del(file, "link");
}

/* Every setting as a file of its own, which assumes them all. Names may hold what YAML breaks lines
 * at, so others stand for them. */
static struct document *print_and_parse(json_t *json)
{
	json_t *file = json_copy(json), *assumed = json_object(), *value;
	struct document *document;
	const char *key;
	char *text;

	json_object_del(file, "machine");
	json_object_del(file, "about");
	drop_empty_link(file);
	json_object_foreach(file, key, value)
	{
		json_object_set_new(assumed, key, json_string("x"));
	}
	json_object_set_new(file, "machine", json_string("x"));
	json_object_set_new(file, "about", json_string("x"));
	json_object_set_new(file, "sources", json_object());
	json_object_set_new(file, "assumed", assumed);
	text = json_dumps(file, 0);
	document = fuzz_document("printed", text);
	free(text);
	json_decref(file);
	return document;
}

static void expect_same_again(const struct node *root)
{
	struct error error = { "" };
	json_t *json = machine_file_json(root, &error), *again;
	struct document *document;

	FUZZ_EXPECT(json, &error);
	document = print_and_parse(json);
	again = machine_file_json(document_root(document), &error);
	FUZZ_EXPECT(again, &error);
	json_object_set(again, "machine", json_object_get(json, "machine"));
	json_object_set(again, "about", json_object_get(json, "about"));
	FUZZ_EXPECT(json_equal(json, again), NULL);
	json_decref(json);
	json_decref(again);
	document_free(document);
}

static void expect_consistent(const struct machine_config *config)
{
	const struct coherence_config *c = &config->coherence;
	uint64_t cores = (uint64_t)config->sockets * config->cores_per_socket;

	FUZZ_EXPECT(config->name, NULL);
	FUZZ_EXPECT(cores >= 1 && cores <= FABRIC_CORES_MAX && config->smt >= 1, NULL);
	FUZZ_EXPECT(cores * config->smt <= MACHINE_CPUS_MAX, NULL);
	FUZZ_EXPECT(c->line == 32 || c->line == 64 || c->line == 128, NULL);
	FUZZ_EXPECT(c->l1.sets && !(c->l1.sets & (c->l1.sets - 1)), NULL);
	FUZZ_EXPECT(c->l2.sets && !(c->l2.sets & (c->l2.sets - 1)), NULL);
	FUZZ_EXPECT(c->llc_sets && c->llc_ways && c->l1.ways && c->l2.ways > config->smt, NULL);
	FUZZ_EXPECT(c->l1.latency >= 1 && c->l1.latency <= c->l2.latency, NULL);
	FUZZ_EXPECT(config->locked_rmw >= 1 && config->store_forward >= 1, NULL);
	FUZZ_EXPECT(config->store_buffer >= 1 && config->store_buffer <= STORES_MAX, NULL);
	FUZZ_EXPECT(config->loads_in_flight >= 1 && config->loads_in_flight <= GROUP_MAX, NULL);
	FUZZ_EXPECT(config->clock >= 1e6 && config->clock <= 1e11, NULL);
}

/* The simulator must take what the reader takes; only small ones, for speed. */
static void expect_machine(const struct machine_config *config)
{
	const struct coherence_config *c = &config->coherence;
	uint64_t lines =
		(uint64_t)c->l2.sets * c->l2.ways * config->sockets * config->cores_per_socket +
		(uint64_t)c->llc_sets * c->llc_ways * config->sockets;
	struct error error = { "" };
	struct machine *machine;

	if (lines > 1 << 12 || config->sockets * config->cores_per_socket > 16)
		return;
	machine = machine_new(config, &error);
	FUZZ_EXPECT(machine, &error);
	machine_free(machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = { "" };
	struct document *document = document_parse(FUZZ_NAME, (const char *)data, size, &error);
	struct machine_config config;

	if (document && machine_file_read(document_root(document), &config, &error)) {
		FUZZ_EXPECT(!error.text[0], &error);
		expect_consistent(&config);
		expect_machine(&config);
		expect_same_again(document_root(document));
	} else {
		fuzz_expect_refusal(&error);
	}
	document_free(document);
	return 0;
}
