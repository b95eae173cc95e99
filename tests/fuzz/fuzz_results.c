/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A results file as `hitm plot` reads it: refused, or every picture can be written from it. */
#include "cli/plot_pictures.h"
#include "tests/fuzz/fuzz.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/hitm-fuzz-XXXXXX";

static void directory_remove(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/picture.curves", directory);
	unlink(path);
	rmdir(directory);
}

static void directory_make(void)
{
	FUZZ_EXPECT(mkdtemp(directory), NULL);
	atexit(directory_remove);
}

/* A canvas whose files keep nothing; a picture's further data go to the directory. */
static struct canvas *canvas_make(void)
{
	static struct canvas canvas = { .directory = directory, .picture = "picture" };
	FILE **files[] = { &canvas.prologue, &canvas.boxes, &canvas.lines, &canvas.marks,
			   &canvas.texts };

	if (canvas.prologue)
		return &canvas;
	directory_make();
	for (size_t k = 0; k < sizeof(files) / sizeof(*files); k++) {
		*files[k] = fopen("/dev/null", "w");
		FUZZ_EXPECT(*files[k], NULL);
	}
	return &canvas;
}

static void expect_pictures(const struct plot_results *results)
{
	static plot_picture *const pictures[] = { plot_bars, plot_scaling, plot_heatmap,
						  plot_layouts };
	struct plot_input input = { results, 1, NULL };
	struct canvas *canvas = canvas_make();

	for (size_t k = 0; k < sizeof(pictures) / sizeof(*pictures); k++) {
		struct error error = { "" };
		double height = 0;
		bool drawn = pictures[k](&input, canvas, &height, &error);

		FUZZ_EXPECT(!error.text[0], &error);
		FUZZ_EXPECT(!drawn || (height > 0 && height < 1e6), NULL);
	}
}

static void expect_consistent(const struct plot_results *results)
{
	FUZZ_EXPECT(results->variant_count <= 64 && results->curve_count <= 6, NULL);
	for (size_t k = 0; k < results->layout_count; k++) {
		const struct plot_layout *layout = &results->layouts[k];

		FUZZ_EXPECT(layout->line >= 8 && !(layout->line & (layout->line - 1)), NULL);
		for (size_t f = 0; f < layout->field_count; f++)
			FUZZ_EXPECT(layout->fields[f].offset + layout->fields[f].size <=
					    layout->size,
				    NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char name[] = FUZZ_NAME ": ";
	struct error error = { "" };
	struct plot_results results = { .file = FUZZ_NAME };

	if (plot_results_parse(FUZZ_NAME, (const char *)data, size, &results, &error)) {
		FUZZ_EXPECT(!error.text[0], &error);
		expect_consistent(&results);
		expect_pictures(&results);
		plot_results_free(&results);
	} else if (!strncmp(error.text, name, sizeof(name) - 1)) {
		fuzz_expect_message(&error); /* JSON, but no results: a path is its place */
	} else {
		fuzz_expect_refusal(&error);
	}
	return 0;
}
