/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE /* posix_spawn_file_actions_addchdir_np */
#include "cli/plot.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "cli/plot_pictures.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_REFUSED = 2 };

extern char **environ;

static const struct picture {
	const char *name;
	plot_picture *write;
	const char *axes; /* template of what lies under the canvas, or NULL */
	bool of_matrix;   /* else of results */
} pictures[] = {
	{ "bars", plot_bars, "plots/bars.gp", false },
	{ "scaling", plot_scaling, "plots/scaling.gp", false },
	{ "heatmap", plot_heatmap, NULL, false },
	{ "layouts", plot_layouts, NULL, false },
	{ "matrix", plot_matrix, "plots/matrix.gp", true },
};
#define PICTURE_COUNT (sizeof(pictures) / sizeof(pictures[0]))

static const char *const formats[] = { "svg", "png" };
#define FORMAT_COUNT (sizeof(formats) / sizeof(formats[0]))

static const char help[] =
	"usage: hitm plot RESULTS.json... [--out DIR] [--only NAME,...] [--quiet]\n"
	"       hitm plot MATRIX.csv [--out DIR] [--quiet]\n"
	"\n"
	"Draws what `hitm run --format json` wrote, each picture as SVG and PNG:\n"
	"  bars      predicted against published change of each variant, with bands\n"
	"  scaling   throughput against CPUs, with the bounds N/(Z+S) and 1/S\n"
	"  heatmap   which field costs which other field how much: base, and the last variant\n"
	"  layouts   structs, a row a cache line, fields coloured by who writes them\n"
	"and what `hitm calibrate` wrote:\n"
	"  matrix    hand-offs of all pairs of cores\n"
	"\n"
	"Bars compare up to six results files, say one a machine. The other pictures show\n"
	"the first file that holds what they draw; a picture without data is left out.\n"
	"\n"
	"  -o, --out DIR     where the pictures go; default: beside the first results file\n"
	"  -O, --only NAMES  only these pictures, separated by commas\n"
	"  -q, --quiet       do not say what was drawn\n"
	"  -h, --help        this text\n"
	"\n"
	"Exit status: 0 done, 1 gnuplot is missing or failed, 2 bad usage or input.\n";

struct command {
	bool wanted[PICTURE_COUNT];
	bool named; /* by --only: then a picture without data is an error */
	bool quiet;
	const char *out; /* NULL: beside the first file */
	struct plot_results results[PLOT_MOST_RESULTS];
	size_t result_count;
	struct plot_matrix matrix;
	const char *first_file;
	char directory[3072]; /* where the pictures go */
	char work[3200]; /* inside it: same file system, so that a rename puts a picture in place at
			    once */
	DIR *open_work;  /* NULL: there is none to remove */
	bool drawn[PICTURE_COUNT];
};

static bool choose_pictures(struct command *command, const char *names, struct error *error)
{
	command->named = true;
	memset(command->wanted, 0, sizeof(command->wanted));
	for (;;) {
		size_t length = strcspn(names, ","), which = 0;

		/* The start of a name will do: no two have the same. */
		while (which < PICTURE_COUNT &&
		       (!length || strncmp(pictures[which].name, names, length) != 0))
			which++;
		if (which == PICTURE_COUNT)
			return error_set(error,
					 "hitm plot: no picture '%.*s', one of bars, scaling, "
					 "heatmap, layouts was expected",
					 (int)(length < 40 ? length : 40), names);
		command->wanted[which] = true;
		if (!names[length])
			return true;
		names += length + 1;
	}
}

static bool parse_options(struct command *command, int argc, char **argv, bool *only_help,
			  struct error *error)
{
	static const struct option options[] = {
		{ "out", required_argument, NULL, 'o' },
		{ "only", required_argument, NULL, 'O' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	optind = 0; /* glibc: start over, whoever called getopt before */
	while ((option = getopt_long(argc, argv, ":o:O:qh", options, NULL)) != -1) {
		if (option == 'o')
			command->out = optarg;
		else if (option == 'O' && !choose_pictures(command, optarg, error))
			return false;
		else if (option == 'q')
			command->quiet = true;
		else if (option == 'h')
			*only_help = true;
		else if (option == ':' || option == '?')
			return option_refused("plot", option, argv, error);
	}
	if (!*only_help && optind == argc)
		return error_set(error, "hitm plot: no results file given; hitm plot -h shows how");
	return true;
}

static bool is_matrix(const char *file)
{
	size_t length = strlen(file);

	return length > 4 && !strcmp(file + length - 4, ".csv");
}

static bool read_results(struct command *command, int count, char **files, struct error *error)
{
	command->first_file = files[0];
	if (count == 1 && is_matrix(files[0]))
		return plot_matrix_read(files[0], &command->matrix, error);
	if (count > PLOT_MOST_RESULTS)
		return error_set(error,
				 "hitm plot: at most %d results files fit in one picture, %d given",
				 PLOT_MOST_RESULTS, count);
	for (int i = 0; i < count; i++) {
		if (!plot_results_read(files[i], &command->results[i], error))
			return false;
		command->result_count++;
	}
	return true;
}

static bool make_directories(const char *path, struct error *error)
{
	char partial[sizeof(((struct command *)NULL)->directory)];
	struct stat info;

	snprintf(partial, sizeof(partial), "%s", path);
	for (char *c = partial + 1; partial[0] && *c; c++) {
		if (*c != '/')
			continue;
		*c = '\0';
		mkdir(partial,
		      0777); /* one that exists is fine, and any other trouble shows below */
		*c = '/';
	}
	if (mkdir(path, 0777) != 0 && errno != EEXIST)
		return error_set(error, "%s: %s", path, strerror(errno));
	if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
		return error_set(error, "%s: a directory was expected", path);
	return true;
}

static bool make_work(struct command *command, struct error *error)
{
	const char *first = command->first_file, *slash = strrchr(first, '/');
	int length;

	if (command->out)
		length = snprintf(command->directory, sizeof(command->directory), "%s",
				  command->out);
	else if (slash)
		length = snprintf(command->directory, sizeof(command->directory), "%.*s",
				  (int)(slash > first ? slash - first : 1), first);
	else
		length = snprintf(command->directory, sizeof(command->directory), ".");
	if ((size_t)length >= sizeof(command->directory))
		return error_set(error, "hitm plot: the name of the output directory is too long");
	if (!make_directories(command->directory, error))
		return false;
	snprintf(command->work, sizeof(command->work), "%s/.hitm-plot-XXXXXX", command->directory);
	if (!mkdtemp(command->work))
		return error_set(error, "%s: %s", command->directory, strerror(errno));
	command->open_work = opendir(command->work);
	if (command->open_work)
		return true;
	error_set(error, "%s: %s", command->work, strerror(errno));
	rmdir(command->work);
	return false;
}

static void remove_work(const struct command *command)
{
	const struct dirent *entry;

	if (!command->open_work)
		return;
	rewinddir(command->open_work);
	while ((entry = readdir(command->open_work)))
		unlinkat(dirfd(command->open_work), entry->d_name, 0); /* "." and ".." refuse */
	closedir(command->open_work);
	rmdir(command->work);
}

/* Writes the data of every picture wanted, so that bad input is found before anything is drawn. */
static bool write_data(struct command *command, struct error *error)
{
	struct plot_input input = { command->results, command->result_count, &command->matrix };
	bool any = false;

	for (size_t i = 0; i < PICTURE_COUNT; i++) {
		struct canvas canvas;
		double height = 0;

		if (!command->wanted[i])
			continue;
		if (canvas_open(&canvas, command->work, pictures[i].name, error) &&
		    pictures[i].of_matrix == (input.count == 0))
			command->drawn[i] = pictures[i].write(&input, &canvas, &height, error);
		if (!canvas_close(&canvas, height, error) || error->text[0])
			return false;
		if (!command->drawn[i] && command->named)
			return error_set(error, "%s: nothing to draw in the picture '%s'",
					 command->first_file, pictures[i].name);
		any |= command->drawn[i];
	}
	return any || error_set(error, "%s: nothing to draw", command->first_file);
}

/* The absolute path of a template: gnuplot runs in the work directory. */
static const char *find_template(const char *relative, char *path, struct error *error)
{
	char buffer[4096];
	const char *name = data_path(buffer, sizeof(buffer), relative);

	if (realpath(name, path))
		return path;
	error_set(error, "hitm plot: %s: %s", name, strerror(errno));
	return NULL;
}

static bool find_complaint(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "r");

	line[0] = '\0';
	if (!file)
		return false;
	/* gnuplot shows the offending line and a caret first, then says what is wrong; warnings do
	 * not end it. */
	while (fgets(line, (int)size, file)) {
		line[strcspn(line, "\n")] = '\0';
		if (strstr(line, "line ") && !strstr(line, "warning: "))
			break;
	}
	fclose(file);
	return line[0] != '\0';
}

static int spawn_gnuplot(const struct command *command, char **arguments, pid_t *child)
{
	posix_spawn_file_actions_t actions;
	int status = posix_spawn_file_actions_init(&actions);

	if (status)
		return status;
	status = posix_spawn_file_actions_addchdir_np(&actions, command->work);
	if (!status)
		status = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (!status)
		status = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	if (!status)
		status = posix_spawn_file_actions_addopen(&actions, 2, "log",
							  O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (!status)
		status = posix_spawnp(child, "gnuplot", &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	return status;
}

static bool run_gnuplot(const struct command *command, const char *picture, char **arguments,
			struct error *error)
{
	char log[3300], line[256];
	pid_t child;
	int status = spawn_gnuplot(command, arguments, &child);

	if (status == ENOENT)
		return error_set(error,
				 "hitm plot: gnuplot is not installed, and it draws the pictures: "
				 "apt-get install gnuplot-nox");
	if (status)
		return error_set(error, "hitm plot: gnuplot cannot be started: %s",
				 strerror(status));
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return error_set(error, "hitm plot: gnuplot is lost: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	snprintf(log, sizeof(log), "%s/log", command->work);
	find_complaint(log, line, sizeof(line));
	return error_set(error, "hitm plot: gnuplot failed on the picture '%s': %s", picture, line);
}

static bool draw(const struct command *command, const struct picture *picture, const char *format,
		 struct error *error)
{
	char set_format[32], prologue[32], drawing[3300], paths[3][4096];
	const char *templates[] = { "plots/style.gp", picture->axes, "plots/canvas.gp" };
	char gnuplot[] = "gnuplot", no_init_files[] = "-d", execute[] = "-e";
	char *arguments[9] = { gnuplot, no_init_files, execute, set_format, prologue };
	size_t count = 5;
	struct stat info;

	snprintf(set_format, sizeof(set_format), "format = '%s'", format);
	snprintf(prologue, sizeof(prologue), "%s.gp", picture->name);
	for (size_t i = 0; i < 3; i++) {
		if (!templates[i])
			continue;
		if (!find_template(templates[i], paths[i], error))
			return false;
		arguments[count++] = paths[i];
	}
	if (!run_gnuplot(command, picture->name, arguments, error))
		return false;
	snprintf(drawing, sizeof(drawing), "%s/%s.%s", command->work, picture->name, format);
	if (stat(drawing, &info) != 0 || info.st_size == 0)
		return error_set(error, "hitm plot: gnuplot drew no %s.%s", picture->name, format);
	return true;
}

static bool put_in_place(const struct command *command, const struct picture *picture,
			 const char *format, struct error *error)
{
	char from[3300], to[3300];

	snprintf(from, sizeof(from), "%s/%s.%s", command->work, picture->name, format);
	snprintf(to, sizeof(to), "%s/%s.%s", command->directory, picture->name, format);
	if (rename(from, to) != 0)
		return error_set(error, "%s: %s", to, strerror(errno));
	if (!command->quiet)
		printf("%s\n", to);
	return true;
}

typedef bool each_picture(const struct command *command, const struct picture *picture,
			  const char *format, struct error *error);

static bool for_each_picture(const struct command *command, each_picture *act, struct error *error)
{
	for (size_t i = 0; i < PICTURE_COUNT; i++)
		for (size_t k = 0; command->drawn[i] && k < FORMAT_COUNT; k++)
			if (!act(command, &pictures[i], formats[k], error))
				return false;
	return true;
}

static int plot(struct command *command, int argc, char **argv, struct error *error)
{
	bool only_help = false;

	if (!parse_options(command, argc, argv, &only_help, error))
		return STATUS_REFUSED;
	if (only_help) {
		fputs(help, stdout);
		return STATUS_DONE;
	}
	if (!read_results(command, argc - optind, argv + optind, error) ||
	    !make_work(command, error) || !write_data(command, error))
		return STATUS_REFUSED;
	if (!for_each_picture(command, draw, error))
		return STATUS_FAILED;
	return for_each_picture(command, put_in_place, error) ? STATUS_DONE : STATUS_REFUSED;
}

int cli_plot(int argc, char **argv)
{
	struct command command = { .wanted = { true, true, true, true, true } };
	struct error error = { "" };
	int status = plot(&command, argc, argv, &error);

	if (error.text[0])
		complain(&error);
	remove_work(&command);
	for (size_t i = 0; i < command.result_count; i++)
		plot_results_free(&command.results[i]);
	plot_matrix_free(&command.matrix);
	return status;
}
