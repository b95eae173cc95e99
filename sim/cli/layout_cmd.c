/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/layout_cmd.h"
#include "cli/layout_verbs.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/paths.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_LEAST = 8, LINE_MOST = 4096 };

static const char help[] =
	"usage: hitm layout show NAME [--line N] [--format text|json|csv]\n"
	"       hitm layout check NAME...\n"
	"       hitm layout verify [NAME...] FROM\n"
	"       hitm layout import STRUCT... FROM [--out PATH] [--name NAME]\n"
	"                          [--nested STRUCT=NAME]... [--flat] [--nth N]\n"
	"\n"
	"show    prints a struct as pahole does: each field's offset and size in bytes, its cache\n"
	"        line, the boundaries of lines, and holes, which may be members that the file\n"
	"        leaves out\n"
	"check   loads each layout, with those nested in it, and says ok or what is wrong\n"
	"verify  holds each layout against the struct as it was compiled: the size, and offset "
	"and\n"
	"        size of every field that the layout has. Without a NAME, says of every layout\n"
	"        whether it is of a struct of FILE\n"
	"import  writes a layout of a struct as it was compiled\n"
	"\n"
	"NAME is the name of a file in configs/layouts, or a path that ends in .yaml. FROM is one "
	"of\n"
	"\n"
	"  -d, --dwarf FILE     an object, program, library or archive with DWARF (cc -g)\n"
	"  -b, --btf FILE       an object with BTF, or BTF alone, as /sys/kernel/btf/vmlinux; a\n"
	"                       kernel module's too, which needs\n"
	"  -B, --btf-base FILE  that of its kernel; default /sys/kernel/btf/vmlinux\n"
	"  -p, --pahole FILE    what pahole printed, as people paste it; - is standard input\n"
	"\n"
	"import:\n"
	"  -o, --out PATH       a file that ends in .yaml, or a directory to write STRUCT.yaml "
	"in;\n"
	"                       default: standard output, for one struct\n"
	"  -n, --name NAME      of the layout; default: that of the file, or STRUCT\n"
	"  -N, --nested STRUCT=NAME\n"
	"                       members that are such a struct have the layout NAME\n"
	"  -F, --flat           with the fields of these layouts, not their names\n"
	"  -k, --nth N          of several structs with one name in pahole's text\n"
	"\n"
	"show:\n"
	"  -l, --line N         bytes of a cache line; default 64\n"
	"  -f, --format FORMAT  text, json or csv; default text\n"
	"\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status: 0 done, 1 a layout (without NAME: every one) does not agree, 2 bad usage or\n"
	"input.\n";

/* ---- check ---------------------------------------------------------------------------------- */

static int layout_check(struct layout_command *command, int count, char **names,
			struct error *error)
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

/* ---- the command ---------------------------------------------------------------------------- */

static const struct verb {
	const char *name;
	int (*run)(struct layout_command *command, int count, char **names, struct error *error);
} verbs[] = { { "show", layout_show },
	      { "check", layout_check },
	      { "verify", layout_verify },
	      { "import", layout_import } };

static bool read_line(struct layout_command *command, const char *text, struct error *error)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	command->line = (uint32_t)value;
	return (*text >= '0' && *text <= '9' && !*end && value >= LINE_LEAST &&
		value <= LINE_MOST && !(value & (value - 1))) ||
	       error_set(error, "hitm layout: --line '%.40s', expected a power of two, %d to %d",
			 text, LINE_LEAST, LINE_MOST);
}

/* STRUCT=LAYOUT */
static bool read_nesting(struct layout_command *command, char *text, struct error *error)
{
	char *layout = strchr(text, '=');

	if (!layout || layout == text || !layout[1])
		return error_set(error, "hitm layout: --nested '%.40s', expected STRUCT=LAYOUT",
				 text);
	if (command->nesting_count == LAYOUT_NESTINGS)
		return error_set(error, "hitm layout: --nested, expected at most %d times",
				 LAYOUT_NESTINGS);
	*layout = '\0';
	command->nestings[command->nesting_count++] = (struct nesting){ text, layout + 1, 0 };
	return true;
}

static bool read_nth(struct layout_command *command, const char *text, struct error *error)
{
	uint64_t number;

	if (!option_number("layout", "nth", text, 1, UINT32_MAX, &number, error))
		return false;
	command->nth = (uint32_t)number;
	return true;
}

static bool read_option(struct layout_command *command, int option, char **argv,
			struct error *error)
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
	case 'p':
		command->pahole = optarg;
		return true;
	case 'B':
		command->btf_base = optarg;
		return true;
	case 'n':
		command->name = optarg;
		return true;
	case 'o':
		command->out = optarg;
		return true;
	case 'N':
		return read_nesting(command, optarg, error);
	case 'k':
		return read_nth(command, optarg, error);
	case 'F':
		command->flat = true;
		return true;
	case 'h':
		command->only_help = true;
		return true;
	default:
		return option_refused("layout", option, argv, error);
	}
}

static bool parse_options(struct layout_command *command, int argc, char **argv,
			  struct error *error)
{
	static const struct option options[] = {
		{ "dwarf", required_argument, NULL, 'd' },
		{ "btf", required_argument, NULL, 'b' },
		{ "pahole", required_argument, NULL, 'p' },
		{ "btf-base", required_argument, NULL, 'B' },
		{ "name", required_argument, NULL, 'n' },
		{ "out", required_argument, NULL, 'o' },
		{ "nested", required_argument, NULL, 'N' },
		{ "nth", required_argument, NULL, 'k' },
		{ "flat", no_argument, NULL, 'F' },
		{ "line", required_argument, NULL, 'l' },
		{ "format", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	optind = 0; /* glibc: start over, whoever called getopt before */
	while ((option = getopt_long(argc, argv, ":d:b:p:B:n:o:N:k:Fl:f:h", options, NULL)) != -1)
		if (!read_option(command, option, argv, error))
			return false;
	return true;
}

static int run(struct layout_command *command, int argc, char **argv, struct error *error)
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
		  "hitm layout: '%.40s', expected show, check, verify or import; hitm layout -h "
		  "shows how",
		  optind < argc ? argv[optind] : "");
	return STATUS_REFUSED;
}

int cli_layout(int argc, char **argv)
{
	struct layout_command command = { .line = 64 };
	struct error error = { "" };
	int status = run(&command, argc, argv, &error);

	if (error.text[0])
		complain(&error);
	return status;
}
