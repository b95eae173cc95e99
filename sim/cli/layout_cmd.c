/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/layout_cmd.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "config/schema.h"
#include "layout/layout.h"
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_DONE = 0, STATUS_REFUSED = 2, PATH_SIZE = 4096, LINE_LEAST = 8, LINE_MOST = 4096 };

static const char help[] =
	"usage: hitm layout show NAME [--line N] [--format text|json|csv]\n"
	"       hitm layout check NAME...\n"
	"\n"
	"show   prints a struct as pahole does: each field's offset and size in bytes and its "
	"cache\n"
	"       line, the boundaries of lines, and holes, which may be members that the file "
	"leaves\n"
	"       out\n"
	"check  loads each layout, with those nested in it, and says ok or what is wrong\n"
	"\n"
	"NAME is the name of a file in configs/layouts, or a path that ends in .yaml.\n"
	"\n"
	"  -l, --line N         bytes of a cache line; default 64\n"
	"  -f, --format FORMAT  text, json or csv; default text\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status: 0 done, 2 bad usage or input.\n";

struct command {
	enum output_format format;
	uint32_t line;
	bool only_help;
	char directory[PATH_SIZE];
};

/* ---- holes ---------------------------------------------------------------------------------- */

/* A walk over the fields, in order of offset. */
struct walk {
	const struct layout *layout;
	uint32_t next; /* field */
	uint32_t end;  /* of all bytes so far that belong to a field */
	uint32_t holes, hole_bytes;
};

/* Goes on to the next field. Returns the bytes between it and those before. */
static uint32_t walk_on(struct walk *walk)
{
	const struct layout_field *field = &walk->layout->fields[walk->next++];
	uint32_t hole = field->offset > walk->end ? field->offset - walk->end : 0;

	walk->holes += hole > 0;
	walk->hole_bytes += hole;
	if (field->offset + field->size > walk->end)
		walk->end = field->offset + field->size;
	return hole;
}

static uint32_t line_count(const struct layout *layout, uint32_t line)
{
	return (layout->size + line - 1) / line;
}

/* ---- show ----------------------------------------------------------------------------------- */

static int name_width(const struct layout *layout)
{
	size_t width = strlen(layout->structure) + 1; /* the heading is indented less, by 8 */

	for (uint32_t k = 0; k < layout->field_count; k++)
		if (strlen(layout->fields[k].name) > width)
			width = strlen(layout->fields[k].name);
	return (int)width;
}

static void print_boundary(uint32_t offset, uint32_t line)
{
	uint32_t ago = offset % line;

	printf("\n\t/* --- cacheline %u boundary (%u bytes) ", offset / line, offset - ago);
	if (ago)
		printf("was %u bytes ago ", ago);
	puts("--- */");
}

static void print_totals(const struct walk *walk, uint32_t line)
{
	const struct layout *layout = walk->layout;

	printf("\n\t/* size: %u, align: %u, cachelines: %u, fields: %u */\n", layout->size,
	       layout->align, line_count(layout, line), layout->field_count);
	if (walk->holes)
		printf("\t/* holes: %u, sum holes: %u */\n", walk->holes, walk->hole_bytes);
	if (layout->size > walk->end)
		printf("\t/* padding: %u */\n", layout->size - walk->end);
	if (layout->size % line)
		printf("\t/* last cacheline: %u bytes */\n", layout->size % line);
	puts("};");
}

static void show_text(const struct layout *layout, uint32_t line)
{
	struct walk walk = { .layout = layout };
	int width = name_width(layout);
	uint32_t last = 0; /* line */

	printf("/* %s: %s */\n", layout->name, layout->source);
	printf("struct %s {%*s/* offset   size   line */\n", layout->structure,
	       width - (int)strlen(layout->structure) + 1, "");
	for (uint32_t k = 0; k < layout->field_count; k++) {
		const struct layout_field *field = &layout->fields[k];
		bool shared = field->size && field->offset < walk.end;
		uint32_t hole = walk_on(&walk);

		if (hole)
			printf("\n\t/* XXX %u bytes hole */\n", hole);
		if (field->offset / line > last)
			print_boundary(field->offset, line);
		else if (hole)
			putchar('\n');
		last = field->offset / line;
		printf("\t%s;%*s /* %6u %6u %6u */%s\n", field->name,
		       width - (int)strlen(field->name), "", field->offset, field->size, last,
		       shared ? " /* union */" : "");
	}
	print_totals(&walk, line);
}

static void show_csv(const struct layout *layout, uint32_t line)
{
	puts("field,offset,size,line");
	for (uint32_t k = 0; k < layout->field_count; k++)
		printf("%s,%u,%u,%u\n", layout->fields[k].name, layout->fields[k].offset,
		       layout->fields[k].size, layout->fields[k].offset / line);
}

static void show_json(const struct layout *layout, uint32_t line)
{
	struct walk walk = { .layout = layout };
	json_t *fields = json_array(), *holes = json_array(), *json;

	for (uint32_t k = 0; k < layout->field_count; k++) {
		const struct layout_field *field = &layout->fields[k];
		uint32_t end = walk.end, hole = walk_on(&walk);

		if (hole)
			json_array_append_new(holes,
					      json_pack("{s:I, s:I}", "offset", (json_int_t)end,
							"size", (json_int_t)hole));
		json_array_append_new(fields, json_pack("{s:s, s:I, s:I, s:I}", "name", field->name,
							"offset", (json_int_t)field->offset, "size",
							(json_int_t)field->size, "line",
							(json_int_t)(field->offset / line)));
	}
	json = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "schema",
			 "hitm-layout/1", "layout", layout->name, "struct", layout->structure,
			 "source", layout->source, "size", (json_int_t)layout->size, "align",
			 (json_int_t)layout->align, "line", (json_int_t)line, "lines",
			 (json_int_t)line_count(layout, line), "padding",
			 (json_int_t)(layout->size - walk.end), "fields", fields, "holes", holes);
	output_json(stdout, json, &(struct error){ "" });
	json_decref(json);
}

static bool show(const struct command *command, int count, char **names, struct error *error)
{
	static void (*const shows[])(const struct layout *, uint32_t) = {
		[OUTPUT_TEXT] = show_text, [OUTPUT_JSON] = show_json, [OUTPUT_CSV] = show_csv
	};
	struct layout *layout;

	if (count != 1)
		return error_set(error,
				 "hitm layout show: one layout was expected; hitm layout -h shows "
				 "how");
	layout = layout_load(command->directory, names[0], NULL, error);
	if (!layout)
		return false;
	shows[command->format](layout, command->line);
	layout_free(layout);
	return true;
}

/* ---- check ---------------------------------------------------------------------------------- */

static bool check(const struct command *command, int count, char **names, struct error *error)
{
	bool sound = true;

	if (!count)
		return error_set(error,
				 "hitm layout check: a layout was expected; hitm layout -h shows "
				 "how");
	for (int k = 0; k < count; k++) {
		struct error bad = { "" };
		struct layout *layout = layout_load(command->directory, names[k], NULL, &bad);

		if (layout)
			printf("%s: ok\n", names[k]);
		else
			complain(&bad);
		sound &= layout != NULL;
		layout_free(layout);
	}
	return sound;
}

/* ---- the command ---------------------------------------------------------------------------- */

static const struct verb {
	const char *name;
	bool (*run)(const struct command *command, int count, char **names, struct error *error);
} verbs[] = { { "show", show }, { "check", check } };

static bool read_line(struct command *command, const char *text, struct error *error)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	command->line = (uint32_t)value;
	return (*text >= '0' && *text <= '9' && !*end && value >= LINE_LEAST &&
		value <= LINE_MOST && !(value & (value - 1))) ||
	       error_set(error, "hitm layout: --line '%.40s', expected a power of two, %d to %d",
			 text, LINE_LEAST, LINE_MOST);
}

static bool read_option(struct command *command, int option, char **argv, struct error *error)
{
	switch (option) {
	case 'l':
		return read_line(command, optarg, error);
	case 'f':
		return output_format_read("layout", optarg, &command->format, error);
	case 'h':
		command->only_help = true;
		return true;
	case ':':
		return error_set(error, "hitm layout: %s takes a value; hitm layout -h shows how",
				 argv[optind - 1]);
	default:
		return error_set(
			error, "hitm layout: unknown option %s; hitm layout -h shows those it has",
			argv[optind - 1]);
	}
}

static bool parse_options(struct command *command, int argc, char **argv, struct error *error)
{
	static const struct option options[] = {
		{ "line", required_argument, NULL, 'l' },
		{ "format", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	optind = 0; /* glibc: start over, whoever called getopt before */
	while ((option = getopt_long(argc, argv, ":l:f:h", options, NULL)) != -1)
		if (!read_option(command, option, argv, error))
			return false;
	return true;
}

static bool run(struct command *command, int argc, char **argv, struct error *error)
{
	if (!parse_options(command, argc, argv, error))
		return false;
	if (command->only_help) {
		fputs(help, stdout);
		return true;
	}
	data_path(command->directory, sizeof(command->directory), "configs/layouts");
	for (size_t k = 0; optind < argc && k < sizeof(verbs) / sizeof(*verbs); k++)
		if (!strcmp(argv[optind], verbs[k].name))
			return verbs[k].run(command, argc - optind - 1, argv + optind + 1, error);
	return error_set(error,
			 "hitm layout: '%.40s', expected show or check; hitm layout -h "
			 "shows how",
			 optind < argc ? argv[optind] : "");
}

int cli_layout(int argc, char **argv)
{
	struct command command = { .line = 64 };
	struct error error = { "" };
	bool done = run(&command, argc, argv, &error);

	if (error.text[0])
		complain(&error);
	return done ? STATUS_DONE : STATUS_REFUSED;
}
