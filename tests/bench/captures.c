/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/bench/captures.h"
#include "tests/bench/traces.h"
#include "trace/trace.h"
#include "workload/simulation.h"
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 5, REPLAYED = 10 * 1000 * 1000 };

struct capture {
	const char *name;
	bool (*make)(FILE *out, uint32_t records);
	uint32_t records;
};

/* What is done with a capture, in a process of its own, and what that costs. */
typedef void job(const char *path, uint32_t records);
struct cost {
	double seconds; /* of CPU, the kernel's included */
	double megabytes;
};

static void give_up(const char *path, const char *why)
{
	fprintf(stderr, "bench: %s: %s\n", path, why);
	exit(1);
}

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static struct cost cost_of(job *work, const char *path, uint32_t records)
{
	struct rusage usage;
	pid_t child = fork();
	int status;

	if (!child) {
		work(path, records);
		_exit(0);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) != child || status) {
		unlink(path);
		give_up(path, "cannot be measured");
	}
	return (struct cost){ seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
			      (double)usage.ru_maxrss / 1024 };
}

/* ---- jobs ----------------------------------------------------------------------------------- */

static void read_capture(const char *path, uint32_t records)
{
	struct error error = { "" };
	struct trace *trace = trace_open(path, NULL, &error);
	struct trace_record record;

	if (!trace)
		give_up(path, error.text);
	while (trace_next(trace, &record, &error) == STEP_RECORD)
		continue;
	if (error.text[0] || trace_summary(trace)->used != records)
		give_up(path, error.text[0] ? error.text : "not every record is used");
	trace_close(trace);
}

static void count_lines(const char *path, uint32_t records)
{
	int null = open("/dev/null", O_WRONLY);

	(void)records;
	if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
		give_up(path, "no /dev/null");
	execlp("wc", "wc", "-l", path, (char *)NULL);
	give_up("wc", "cannot be run");
}

static void replay_capture(const char *path, uint32_t records)
{
	static const char text[] = "workload: {model: replay}\n";
	struct error error = { "" };
	struct setting setting = { document_parse("bench", text, strlen(text), &error),
				   document_load("configs/machines/skx-2s-18c.yaml", &error) };
	struct run_options options = { .seed = 1, .layout_directory = "configs/layouts" };
	struct simulation simulation;

	(void)records;
	if (!setting.experiment || !setting.machine ||
	    !setting_override_text(&setting, "workload.trace", path, "bench", &error) ||
	    !simulation_run(&simulation, &setting, &options, &error))
		give_up(path, error.text);
	simulation_free(&simulation);
	setting_free(&setting);
}

/* ---- the table ------------------------------------------------------------------------------ */

/* Returns the file's size in MB. */
static double make(const struct capture *capture, const char *path)
{
	FILE *out = fopen(path, "wb");
	struct stat about;
	bool good = out && capture->make(out, capture->records);

	if (out)
		good &= !fclose(out);
	if (!good || stat(path, &about)) {
		unlink(path);
		give_up(path, "cannot be written");
	}
	return (double)about.st_size * 1e-6;
}

static void keep_best(struct cost *best, struct cost cost)
{
	if (cost.seconds < best->seconds)
		*best = cost;
}

/* In turns, so that what else the host does at some time is the same to both. */
static void measure_reading(const struct capture *capture, const char *path)
{
	double megabytes = make(capture, path);
	struct cost reading = { .seconds = INFINITY }, counting = reading;

	for (int k = 0; k < ROUNDS; k++) {
		keep_best(&reading, cost_of(read_capture, path, capture->records));
		keep_best(&counting, cost_of(count_lines, path, capture->records));
	}
	printf("%-20s %10.1f %9.0f %9.0f %11.1f %8.1f\n", capture->name, megabytes,
	       megabytes / reading.seconds, reading.seconds * 1e9 / capture->records,
	       reading.seconds / counting.seconds, reading.megabytes);
	fflush(stdout);
}

static void measure_replay(const char *path)
{
	struct cost cost = cost_of(replay_capture, path, REPLAYED);

	printf("\n%-20s %10s %9s %9s %8s\n", "replay", "M records", "threads", "s", "peak MB");
	printf("%-20s %10.1f %9d %9.1f %8.1f\n", "trace-binary", REPLAYED * 1e-6, TRACES_CPUS,
	       cost.seconds, cost.megabytes);
	fflush(stdout);
}

void captures_measure(const char *directory)
{
	static const struct capture captures[] = {
		{ "perf-script", traces_perf_script, 440 * 1000 },
		{ "perf-data", traces_perf_data, 1250 * 1000 },
		{ "trace", traces_text, 2000 * 1000 },
		{ "trace-binary", traces_binary, REPLAYED },
	};
	char path[4096];

	snprintf(path, sizeof(path), "%s/bench.capture", directory);
	printf("%-20s %10s %9s %9s %11s %8s\n", "capture", "MB", "MB/s", "ns/record", "x of wc -l",
	       "peak MB");
	for (size_t k = 0; k < sizeof(captures) / sizeof(*captures); k++)
		measure_reading(&captures[k], path);
	measure_replay(path);
	unlink(path);
	printf("\n");
}
