/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fuzz target without libFuzzer, for any compiler: replays files, and then changes them at random.
 * Unlike libFuzzer it learns nothing from a run, so that the same seed means the same inputs on
 * every machine. An input that ends the target, or takes a second, is kept as ./crash-NAME. */
#include "engine/random.h"
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

enum { INPUT_LIMIT = 1 << 16, CHANGES_MAX = 6, MEMORY_LIMIT_KIB = 256 << 10 };

struct text {
	uint8_t *bytes;
	size_t size;
};

struct texts {
	struct text *all;
	size_t count;
};

struct options {
	unsigned long count;
	uint64_t seed;
	struct texts files, words;
};

/* What is being run, for the signal handler. */
static struct {
	struct text input;
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
	struct text *all = realloc(texts->all, (texts->count + 1) * sizeof(*all));
	uint8_t *copy = malloc(size + 1);

	if (!all || !copy)
		give_up("out of memory", "driver");
	memcpy(copy, bytes, size);
	texts->all = all;
	texts->all[texts->count++] = (struct text){ copy, size };
}

static void texts_free(struct texts *texts)
{
	for (size_t k = 0; k < texts->count; k++)
		free(texts->all[k].bytes);
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
	current.input = (struct text){ input, size };
	alarm(2);
	LLVMFuzzerTestOneInput(input, size);
	alarm(0);
	current.input = (struct text){ 0 };
	free(input);
}

/* ---- changes at random ---------------------------------------------------------------------- */

static size_t draw(struct random *random, size_t bound)
{
	return (size_t)random_below(random, bound);
}

/* Puts `size` bytes in place of `gone` at `at`, if there is room. */
static void splice(struct text *text, size_t at, size_t gone, const uint8_t *bytes, size_t size)
{
	if (text->size - gone + size > INPUT_LIMIT)
		return;
	memmove(text->bytes + at + size, text->bytes + at + gone, text->size - at - gone);
	if (size)
		memmove(text->bytes + at, bytes, size);
	text->size = text->size - gone + size;
}

/* A word, a number at the edge of something, or a piece of another file. */
static struct text draw_piece(struct random *random, const struct options *options)
{
	static const char *const edges[] = { "0",
					     "1",
					     "-1",
					     "2147483648",
					     "4294967296",
					     "1e308",
					     "1e400",
					     "18446744073709551616",
					     "0.1",
					     "\n",
					     "{}",
					     "[]",
					     "'",
					     "\"",
					     ": ",
					     "- ",
					     "  ",
					     "\xc2\x80",
					     "\xf0\x9f\x98\x80",
					     "" };
	const struct text *other;
	size_t at;

	if (options->words.count && draw(random, 2))
		return options->words.all[draw(random, options->words.count)];
	if (draw(random, 3)) {
		const char *edge = edges[draw(random, sizeof(edges) / sizeof(*edges))];

		return (struct text){ (uint8_t *)(uintptr_t)edge, strlen(edge) };
	}
	other = &options->files.all[draw(random, options->files.count)];
	at = draw(random, other->size + 1);
	return (struct text){ other->bytes + at, draw(random, (other->size - at) % 256 + 1) };
}

static void change(struct text *text, struct random *random, const struct options *options)
{
	size_t at = draw(random, text->size + 1), left = text->size - at;
	size_t few = left ? draw(random, left < 64 ? left : 64) + 1 : 0;
	uint8_t copy[64];
	struct text piece;

	switch (draw(random, 6)) {
	case 0: /* one byte */
		if (left)
			text->bytes[at] = (uint8_t)draw(random, 256);
		break;
	case 1:
		if (left)
			text->bytes[at] ^= (uint8_t)(1u << draw(random, 8));
		break;
	case 2:
		splice(text, at, few, NULL, 0);
		break;
	case 3: /* twice the same */
		memcpy(copy, text->bytes + at, few);
		splice(text, at, 0, copy, few);
		break;
	default:
		piece = draw_piece(random, options);
		splice(text, at, draw(random, 2) ? 0 : (few < piece.size ? few : piece.size),
		       piece.bytes, piece.size);
	}
	if (draw(random, 64) == 0)
		text->size = draw(random, text->size + 1);
}

static void run_changed(const struct options *options)
{
	struct random random = random_stream(options->seed, "fuzz", 0);
	struct text text = { malloc(INPUT_LIMIT + 1), 0 };

	if (!text.bytes)
		give_up("out of memory", "driver");
	for (unsigned long k = 0; k < options->count; k++) {
		const struct text *from = &options->files.all[draw(&random, options->files.count)];

		text.size = from->size < INPUT_LIMIT ? from->size : INPUT_LIMIT;
		memcpy(text.bytes, from->bytes, text.size);
		for (size_t changes = 1 + draw(&random, CHANGES_MAX); changes; changes--)
			change(&text, &random, options);
		run(text.bytes, text.size);
	}
	free(text.bytes);
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
