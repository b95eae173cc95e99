/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/layout_cmd.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "config/schema.h"
#include "layout/btf.h"
#include "layout/dwarf.h"
#include <dirent.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	STATUS_DONE,
	STATUS_DISAGREES,
	STATUS_REFUSED,
	PATH_SIZE = 4096,
	LINE_LEAST = 8,
	LINE_MOST = 4096
};

static const char help[] =
	"usage: hitm layout show NAME [--line N] [--format text|json|csv]\n"
	"       hitm layout check NAME...\n"
	"       hitm layout verify [NAME...] --dwarf FILE | --btf FILE\n"
	"\n"
	"show    prints a struct as pahole does: each field's offset and size in bytes, its cache\n"
	"        line, the boundaries of lines, and holes, which may be members that the file\n"
	"        leaves out\n"
	"check   loads each layout, with those nested in it, and says ok or what is wrong\n"
	"verify  holds each layout against the struct as it was compiled: the size, and offset "
	"and\n"
	"        size of every field that the layout has. Without a NAME, says of every layout\n"
	"        whether it is of a struct of FILE\n"
	"\n"
	"NAME is the name of a file in configs/layouts, or a path that ends in .yaml.\n"
	"\n"
	"  -d, --dwarf FILE     an object, program, library or archive with DWARF (cc -g)\n"
	"  -b, --btf FILE       an object with BTF, or BTF alone, as /sys/kernel/btf/vmlinux\n"
	"  -l, --line N         bytes of a cache line; default 64\n"
	"  -f, --format FORMAT  text, json or csv; default text\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status: 0 done, 1 a layout (without NAME: every one) does not agree, 2 bad usage or\n"
	"input.\n";

struct command {
	enum output_format format;
	uint32_t line;
	bool only_help;
	const char *dwarf, *btf; /* files, or NULL */
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

static int show(const struct command *command, int count, char **names, struct error *error)
{
	static void (*const shows[])(const struct layout *, uint32_t) = {
		[OUTPUT_TEXT] = show_text, [OUTPUT_JSON] = show_json, [OUTPUT_CSV] = show_csv
	};
	struct layout *layout;

	if (count != 1) {
		error_set(error,
			  "hitm layout show: one layout was expected; hitm layout -h shows how");
		return STATUS_REFUSED;
	}
	layout = layout_load(command->directory, names[0], NULL, error);
	if (!layout)
		return STATUS_REFUSED;
	shows[command->format](layout, command->line);
	layout_free(layout);
	return STATUS_DONE;
}

/* ---- check ---------------------------------------------------------------------------------- */

static int check(const struct command *command, int count, char **names, struct error *error)
{
	bool sound = true;

	if (!count) {
		error_set(error,
			  "hitm layout check: a layout was expected; hitm layout -h shows how");
		return STATUS_REFUSED;
	}
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
	return sound ? STATUS_DONE : STATUS_REFUSED;
}

/* ---- verify --------------------------------------------------------------------------------- */

/* What a layout is held against; one of the two. */
struct compiled {
	struct dwarf *dwarf;
	struct btf_file *btf;
	const char *path;
};

static bool compiled_open(struct compiled *compiled, const struct command *command,
			  struct error *error)
{
	*compiled = (struct compiled){ .path = command->dwarf ? command->dwarf : command->btf };
	if (!command->dwarf == !command->btf)
		return error_set(error, "hitm layout verify: one of --dwarf and --btf was "
					"expected; hitm layout -h shows how");
	if (command->dwarf)
		compiled->dwarf = dwarf_open(command->dwarf, error);
	else
		compiled->btf = btf_file_open(command->btf, error);
	return compiled->dwarf || compiled->btf;
}

static void compiled_close(struct compiled *compiled)
{
	dwarf_close(compiled->dwarf);
	btf_file_close(compiled->btf);
}

static struct members *compiled_members(const struct compiled *compiled, const char *structure,
					struct error *error)
{
	return compiled->dwarf ? dwarf_members(compiled->dwarf, structure, error)
			       : btf_file_members(compiled->btf, structure, error);
}

/* A layout and the struct that it is of. */
struct verification {
	const struct layout *layout;
	const struct members *members;
	bool headed;
};

static void print_disagreement(void *context, const struct disagreement *disagreement)
{
	struct verification *verification = context;
	const struct layout_field *field = disagreement->field;
	const struct member *found = disagreement->found;

	if (!verification->headed)
		printf("%s: does not agree with struct %s\n"
		       "  %-32s %16s %16s\n",
		       verification->layout->name, verification->layout->structure,
		       "field: offset, size", "in the layout", "found");
	verification->headed = true;
	if (!field)
		printf("  %-32s %16u %16u\n", "(size of the struct)", verification->layout->size,
		       verification->members->size);
	else if (!found)
		printf("  %-32s %9u, %5u %16s\n", field->name, field->offset, field->size,
		       "no such field");
	else
		printf("  %-32s %9u, %5u %9u, %5u%s\n", field->name, field->offset, field->size,
		       found->offset, found->size, found->bits ? " (a bit-field)" : "");
}

static void print_nothing(void *context, const struct disagreement *disagreement)
{
	(void)context;
	(void)disagreement;
}

enum verdict { AGREES, DISAGREES, ABSENT, FAILED };

/* In `detail`, every disagreement is printed; else a line says how many there are. */
static enum verdict verify_one(const struct command *command, const struct compiled *compiled,
			       const char *name, bool detail, struct error *error)
{
	struct layout *layout = layout_load(command->directory, name, NULL, error);
	struct members *members =
		layout ? compiled_members(compiled, layout->structure, error) : NULL;
	struct verification verification = { layout, members, false };
	enum verdict verdict = error->text[0] ? FAILED : ABSENT;

	if (members) {
		uint32_t count =
			members_verify(members, layout, detail ? print_disagreement : print_nothing,
				       &verification);

		verdict = count ? DISAGREES : AGREES;
		if (!count)
			printf("%s: agrees with struct %s: %u fields, %u bytes\n", layout->name,
			       layout->structure, layout->field_count, layout->size);
		else if (!detail)
			printf("%s: does not agree with struct %s: %u disagreements\n",
			       layout->name, layout->structure, count);
	} else if (verdict == ABSENT && detail) {
		printf("%s: no struct %s in %s\n", layout->name, layout->structure, compiled->path);
	}
	members_free(members);
	layout_free(layout);
	return verdict;
}

static int is_layout_file(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 5 && !strcmp(entry->d_name + length - 5, ".yaml");
}

/* Which of all layouts are those of this file? */
static int verify_all(const struct command *command, const struct compiled *compiled,
		      struct error *error)
{
	struct dirent **files;
	int count = scandir(command->directory, &files, is_layout_file, alphasort);
	int verdicts[FAILED + 1] = { 0 };

	if (count < 0) {
		error_set(error, "%.200s: no layouts there", command->directory);
		return STATUS_REFUSED;
	}
	for (int k = 0; k < count; k++) {
		files[k]->d_name[strlen(files[k]->d_name) - 5] = '\0';
		if (!verdicts[FAILED])
			verdicts[verify_one(command, compiled, files[k]->d_name, false, error)]++;
		free(files[k]);
	}
	free(files);
	if (verdicts[FAILED])
		return STATUS_REFUSED;
	printf("%d of %d layouts agree; %s has no struct for %d\n", verdicts[AGREES], count,
	       compiled->path, verdicts[ABSENT]);
	return verdicts[AGREES] ? STATUS_DONE : STATUS_DISAGREES;
}

static int verify(const struct command *command, int count, char **names, struct error *error)
{
	struct compiled compiled;
	int status = STATUS_DONE;

	if (!compiled_open(&compiled, command, error))
		return STATUS_REFUSED;
	if (!count)
		status = verify_all(command, &compiled, error);
	for (int k = 0; k < count && status != STATUS_REFUSED; k++) {
		enum verdict verdict = verify_one(command, &compiled, names[k], true, error);

		if (verdict != AGREES)
			status = verdict == FAILED ? STATUS_REFUSED : STATUS_DISAGREES;
	}
	compiled_close(&compiled);
	return status;
}

/* ---- the command ---------------------------------------------------------------------------- */

static const struct verb {
	const char *name;
	/* Returns the exit status; STATUS_REFUSED with *error set, or with all said. */
	int (*run)(const struct command *command, int count, char **names, struct error *error);
} verbs[] = { { "show", show }, { "check", check }, { "verify", verify } };

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
	case 'd':
		command->dwarf = optarg;
		return true;
	case 'b':
		command->btf = optarg;
		return true;
	case 'h':
		command->only_help = true;
		return true;
	default:
		return option_refused("layout", option, argv, error);
	}
}

static bool parse_options(struct command *command, int argc, char **argv, struct error *error)
{
	static const struct option options[] = {
		{ "dwarf", required_argument, NULL, 'd' },
		{ "btf", required_argument, NULL, 'b' },
		{ "line", required_argument, NULL, 'l' },
		{ "format", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	optind = 0; /* glibc: start over, whoever called getopt before */
	while ((option = getopt_long(argc, argv, ":d:b:l:f:h", options, NULL)) != -1)
		if (!read_option(command, option, argv, error))
			return false;
	return true;
}

static int run(struct command *command, int argc, char **argv, struct error *error)
{
	if (!parse_options(command, argc, argv, error))
		return STATUS_REFUSED;
	if (command->only_help) {
		fputs(help, stdout);
		return STATUS_DONE;
	}
	data_path(command->directory, sizeof(command->directory), "configs/layouts");
	for (size_t k = 0; optind < argc && k < sizeof(verbs) / sizeof(*verbs); k++)
		if (!strcmp(argv[optind], verbs[k].name))
			return verbs[k].run(command, argc - optind - 1, argv + optind + 1, error);
	error_set(error,
		  "hitm layout: '%.40s', expected show, check or verify; hitm layout -h shows how",
		  optind < argc ? argv[optind] : "");
	return STATUS_REFUSED;
}

int cli_layout(int argc, char **argv)
{
	struct command command = { .line = 64 };
	struct error error = { "" };
	int status = run(&command, argc, argv, &error);

	if (error.text[0])
		complain(&error);
	return status;
}
