/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fuzz target without libFuzzer, for any compiler: replays files, and then changes them at random.
 * Unlike libFuzzer it learns nothing from a run, so that the same seed means the same inputs on
 * every machine. An input that ends the target, or takes a second, is kept as ./crash-NAME. */
#include "check/mangle.h"
#include "tests/fuzz/fuzz.h"
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
	"usage: NAME [-n COUNT] [-d DICTIONARY] [-s SEED] [-k CRASH] FILE|DIRECTORY...\n"
	"Runs the target on every file, and then COUNT times on one changed at random, with words "
	"of\n"
	"a dictionary in libFuzzer's format. What ends the target is kept in the file CRASH.\n";

enum { INPUT_LIMIT = 1 << 16, MEMORY_LIMIT_KIB = 256 << 10 };

struct texts {
	struct mangle_text *all;
	size_t count;
};

struct options {
	unsigned long count;
	uint64_t seed;
	struct texts files, words;
};

/* What is being run, for the signal handler. */
static struct {
	struct mangle_text input;
	const char *keep;
} current;

static void give_up(const char *what, const char *name)
{
	fprintf(stderr, "%s: %s\n", name, what);
	exit(2);
}

/* ---- files ---------------------------------------------------------------------------------- */

static void texts_add(struct texts *texts, const uint8_t *bytes, size_t size)
{
	struct mangle_text *all = realloc(texts->all, (texts->count + 1) * sizeof(*all));
	uint8_t *copy = malloc(size + 1);

	if (!all || !copy)
		give_up("out of memory", "driver");
	memcpy(copy, bytes, size);
	texts->all = all;
	texts->all[texts->count].bytes = copy;
	texts->all[texts->count++].size = size;
}

static void texts_free(struct texts *texts)
{
	for (size_t k = 0; k < texts->count; k++)
		free((void *)(uintptr_t)texts->all[k].bytes);
	free(texts->all);
}

static void read_file(struct texts *texts, const char *path)
{
	static uint8_t bytes[1 << 21];
	FILE *file = fopen(path, "r");

	if (!file)
		give_up("cannot be read", path);
	texts_add(texts, bytes, fread(bytes, 1, sizeof(bytes), file));
	fclose(file);
}

/* The files of a directory in the order of their names: the same inputs everywhere. */
static void read_path(struct texts *texts, const char *path)
{
	struct dirent **entries;
	struct stat status;
	char name[4096];
	int count;

	if (stat(path, &status))
		give_up("not there", path);
	if (!S_ISDIR(status.st_mode)) {
		read_file(texts, path);
		return;
	}
	count = scandir(path, &entries, NULL, alphasort);
	for (int k = 0; k < count; k++) {
		snprintf(name, sizeof(name), "%s/%s", path, entries[k]->d_name);
		if (entries[k]->d_name[0] != '.')
			read_file(texts, name);
		free(entries[k]);
	}
	if (count >= 0)
		free(entries);
}

/* One "word" a line. */
static void read_dictionary(struct texts *words, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[256];

	if (!file)
		give_up("cannot be read", path);
	while (fgets(line, sizeof(line), file)) {
		char *end = strrchr(line, '"');

		if (line[0] == '"' && end > line + 1)
			texts_add(words, (uint8_t *)line + 1, (size_t)(end - line - 1));
	}
	fclose(file);
}

/* ---- one run -------------------------------------------------------------------------------- */

/* Also where a sanitizer has found something: fuzz.c has it abort. */
static void keep_input(int number)
{
	FILE *file = current.input.bytes ? fopen(current.keep, "w") : NULL;

	signal(number, SIG_DFL);
	if (file) {
		fwrite(current.input.bytes, 1, current.input.size, file);
		fclose(file);
		fprintf(stderr, "the input is kept in %s\n", current.keep);
	}
	raise(number);
}

static void run(const uint8_t *bytes, size_t size)
{
	/* Of its very size, so that a read beyond it is seen. */
	uint8_t *input = malloc(size ? size : 1);

	if (!input)
		give_up("out of memory", "driver");
	memcpy(input, bytes, size);
	current.input = (struct mangle_text){ input, size };
	alarm(2);
	LLVMFuzzerTestOneInput(input, size);
	alarm(0);
	current.input = (struct mangle_text){ 0 };
	free(input);
}

/* ---- changes at random ---------------------------------------------------------------------- */

static void run_changed(const struct options *options)
{
	struct random random = random_stream(options->seed, "fuzz", 0);
	struct mangle_stock stock = { options->files.all, options->words.all, options->files.count,
				      options->words.count };
	uint8_t *bytes = malloc(INPUT_LIMIT);

	if (!bytes)
		give_up("out of memory", "driver");
	for (unsigned long k = 0; k < options->count; k++)
		run(bytes, mangle(&stock, &random, bytes, INPUT_LIMIT));
	free(bytes);
}

/* ---- the command ---------------------------------------------------------------------------- */

/* Of the processor's time: what else runs does not matter. */
static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void watch(const char *keep)
{
	static const int signals[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM };

	current.keep = keep;
	for (size_t k = 0; k < sizeof(signals) / sizeof(*signals); k++)
		if (k == 0 || signals[k] == SIGALRM || signal(signals[k], SIG_DFL) == SIG_DFL)
			signal(signals[k], keep_input);
}

static void read_options(struct options *options, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "n:d:s:k:")) != -1) {
		if (option == 'n')
			options->count = strtoul(optarg, NULL, 10);
		else if (option == 'd')
			read_dictionary(&options->words, optarg);
		else if (option == 's')
			options->seed = strtoull(optarg, NULL, 10);
		else if (option == 'k')
			current.keep = optarg;
		else
			give_up("unknown option", argv[0]);
	}
	for (int k = optind; k < argc; k++)
		read_path(&options->files, argv[k]);
	if (!options->files.count) {
		fputs(usage, stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct options options = { .seed = 1 };
	struct rusage used;
	double start;

	current.keep = "crash";
	read_options(&options, argc, argv);
	watch(current.keep);
	start = seconds();
	for (size_t k = 0; k < options.files.count; k++)
		run(options.files.all[k].bytes, options.files.all[k].size);
	run_changed(&options);
	getrusage(RUSAGE_SELF, &used);
	printf("%zu files and %lu changed, %.0f executions a CPU second, at most %ld MiB\n",
	       options.files.count, options.count,
	       (double)(options.files.count + options.count) / (seconds() - start),
	       used.ru_maxrss >> 10);
	texts_free(&options.files);
	texts_free(&options.words);
	return used.ru_maxrss > MEMORY_LIMIT_KIB;
}
