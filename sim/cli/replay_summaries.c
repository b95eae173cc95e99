/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/replay_parts.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_WIDTH_MOST = 100 };

/* What is said of a file that is not read, without its name in front. */
static const char *reason(const struct error *error, const char *path)
{
	size_t length = strlen(path);

	if (!strncmp(error->text, path, length) && !strncmp(error->text + length, ": ", 2))
		return error->text + length + 2;
	return error->text;
}

static bool print_one(const char *path, int width, const char *format)
{
	static const char *const kinds[] = { [KIND_UNKNOWN] = "-",
					     [KIND_COMPLETE] = "complete",
					     [KIND_SAMPLED] = "sampled",
					     [KIND_AGGREGATE] = "aggregate" };
	struct error error = { "" };
	struct tally tally;
	const struct trace_summary *summary = &tally.summary;
	char name[4096];

	text_escape(name, sizeof(name), path);
	if (!tally_read(&tally, path, format, &error)) {
		printf("%-*s  refused: %s\n", width, name, reason(&error, path));
		return false;
	}
	printf("%-*s  %-12s %-9s %9" PRIu64 " %9" PRIu64 " %9" PRIu64 "  %s%s\n", width, name,
	       summary->format, kinds[summary->kind], summary->read, summary->used,
	       summary->read - summary->used,
	       summary->used           ? "read"
	       : tally.nothing.text[0] ? reason(&tally.nothing, path)
	       : summary->note_count   ? summary_last_note(summary)
				       : "nothing to replay",
	       summary->lost ? ", some were lost" : "");
	tally_free(&tally);
	return true;
}

bool replay_summaries(char **paths, int count, const char *format)
{
	int width = 4;
	bool all = true;

	for (int k = 0; k < count; k++)
		if ((int)strlen(paths[k]) > width)
			width = (int)strlen(paths[k]);
	width = width < NAME_WIDTH_MOST ? width : NAME_WIDTH_MOST;
	printf("%-*s  %-12s %-9s %9s %9s %9s  verdict\n", width, "file", "format", "kind", "read",
	       "used", "dropped");
	for (int k = 0; k < count; k++)
		all &= print_one(paths[k], width, format);
	return all;
}
