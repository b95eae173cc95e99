/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/host.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LINE_SIZE = 512 };
/* A switch costs some microseconds: so many take a thousandth of the time. A kernel's own threads make
 * a hundred or two a second on a host with nothing else to do. */
static const double switches_a_ms = 0.3;
static const double clock_tolerance = 0.02;

/* Of all CPUs since the start; 0 where the kernel does not count it. */
static double stolen_ms(void)
{
	FILE *file = fopen("/proc/stat", "r");
	unsigned long long ticks = 0;
	char line[LINE_SIZE] = "";
	long hz = sysconf(_SC_CLK_TCK);

	if (file) {
		if (!fgets(line, sizeof(line), file) ||
		    sscanf(line, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
			ticks = 0;
		fclose(file);
	}
	return hz > 0 ? (double)ticks * 1e3 / (double)hz : 0;
}

/* Tasks of the whole machine that run or want to, but for the one that asks. */
static uint32_t others_runnable(void)
{
	FILE *file = fopen("/proc/loadavg", "r");
	unsigned runnable = 1;

	if (file) {
		if (fscanf(file, "%*f %*f %*f %u/", &runnable) != 1)
			runnable = 1;
		fclose(file);
	}
	return runnable ? runnable - 1 : 0;
}

static long switches(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) ? 0 : usage.ru_nivcsw;
}

void host_noise_begin(struct host_noise *noise, const struct host_clock *clock)
{
	noise->runnable = others_runnable();
	noise->clock_before = host_core_clock(clock);
	noise->switches = switches();
	noise->stolen_ms = stolen_ms();
	noise->ms = (double)host_monotonic_ns() * 1e-6;
}

static void say(char *text, size_t size, const char *format, double amount)
{
	size_t used = strlen(text);

	if (used + 2 < size)
		used += (size_t)snprintf(text + used, size - used, "%s", used ? ", " : "");
	snprintf(text + used, size - used, format, amount);
}

bool host_noise_end(struct host_noise *noise, const struct host_clock *clock, uint32_t idle_cpus,
		    char *text, size_t size)
{
	uint32_t runnable = others_runnable();

	noise->ms = (double)host_monotonic_ns() * 1e-6 - noise->ms;
	noise->stolen_ms = stolen_ms() - noise->stolen_ms;
	noise->switches = switches() - noise->switches;
	noise->clock_change = host_core_clock(clock) / noise->clock_before - 1;
	noise->runnable = runnable > noise->runnable ? runnable : noise->runnable;
	*text = '\0';
	if (noise->stolen_ms > 0)
		say(text, size, "%.0f ms stolen by the hypervisor", noise->stolen_ms);
	if (noise->switches > 1 && (double)noise->switches > noise->ms * switches_a_ms)
		say(text, size, "%.0f involuntary switches", (double)noise->switches);
	if (fabs(noise->clock_change) > clock_tolerance)
		say(text, size, "the core's clock changed by %+.1f %%", noise->clock_change * 100);
	if (noise->runnable > idle_cpus)
		say(text, size, "%.0f other tasks runnable", noise->runnable);
	return *text;
}
