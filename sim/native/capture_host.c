/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/capture.h"
#include <dirent.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, TEXT_SIZE = 8192, CAP_SYS_ADMIN_BIT = 21, CAP_PERFMON_BIT = 38 };

static const char devices[] = "/sys/bus/event_source/devices";

/* The start of a small file, without the end of its last line. */
static bool read_text(const char *root, const char *path, char text[TEXT_SIZE])
{
	char whole[PATH_SIZE];
	FILE *file;
	size_t length;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	file = fopen(whole, "re");
	if (!file)
		return false;
	length = fread(text, 1, TEXT_SIZE - 1, file);
	fclose(file);
	text[length] = '\0';
	if (length && text[length - 1] == '\n')
		text[length - 1] = '\0';
	return true;
}

static bool device_has(const char *root, const char *device, const char *what)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s%s/%s/%s", root, devices, device, what);
	return !access(path, F_OK);
}

/* IBS follows tasks since Linux 6.2. */
static bool release_at_least(const char *release, unsigned major, unsigned minor)
{
	unsigned has_major = 0, has_minor = 0;

	return sscanf(release, "%u.%u", &has_major, &has_minor) == 2 &&
	       (has_major > major || (has_major == major && has_minor >= minor));
}

static enum capture_means device_means(const char *root, const char *device)
{
	/* POWER has mem-loads too, without a threshold: its records are not known here. */
	if (device_has(root, device, "events/mem-loads") &&
	    device_has(root, device, "format/ldlat"))
		return CAPTURE_PEBS;
	if (!strcmp(device, "ibs_op"))
		return CAPTURE_IBS;
	return strncmp(device, "arm_spe_", 8) ? CAPTURE_NOTHING : CAPTURE_SPE;
}

/* PMUs of one kind, in the order of their names. */
static void find_pmus(const char *root, struct capture_host *host)
{
	char path[PATH_SIZE];
	struct dirent **found;
	int count;

	snprintf(path, sizeof(path), "%s%s", root, devices);
	count = scandir(path, &found, NULL, alphasort);
	for (int k = 0; k < count; k++) {
		const char *name = found[k]->d_name;
		size_t length = strlen(name);
		enum capture_means means = device_means(root, name);
		struct capture_pmu *pmu = &host->pmus[host->pmu_count];

		if (means != CAPTURE_NOTHING && length < sizeof(pmu->name) &&
		    (!host->pmu_count || means == host->means) && host->pmu_count < CAPTURE_PMUS) {
			host->means = means;
			host->pmu_count++;
			memcpy(pmu->name, name, length + 1);
			pmu->aux = device_has(root, name, "events/mem-loads-aux");
		}
		free(found[k]);
	}
	if (count >= 0)
		free(found);
}

static bool has_rights(const char *status)
{
	const char *line = strstr(status, "\nCapEff:");
	uint64_t effective = line ? strtoull(line + strlen("\nCapEff:"), NULL, 16) : 0;

	return effective & ((uint64_t)1 << CAP_SYS_ADMIN_BIT | (uint64_t)1 << CAP_PERFMON_BIT);
}

bool capture_user_only(const struct capture_host *host)
{
	return !host->privileged && host->paranoid >= 2;
}

bool capture_host_read(const char *root, struct capture_host *host, struct error *error)
{
	char text[TEXT_SIZE];

	*host = (struct capture_host){ .means = CAPTURE_NOTHING };
	if (!read_text(root, "/proc/sys/kernel/perf_event_paranoid", text))
		return error_set(error,
				 "%s/proc/sys/kernel/perf_event_paranoid: %m; the kernel has no "
				 "perf events, or a container hides them",
				 root);
	host->paranoid = atoi(text);
	host->privileged = read_text(root, "/proc/self/status", text) && has_rights(text);
	/* 3 is Debian's and Ubuntu's. */
	if (!host->privileged && host->paranoid >= 3)
		return error_set(error,
				 "kernel.perf_event_paranoid is %d, which leaves perf to root: run "
				 "as root, or let root do `sysctl kernel.perf_event_paranoid=2`",
				 host->paranoid);
	find_pmus(root, host);
	if (host->means == CAPTURE_IBS) {
		host->per_task = read_text(root, "/proc/sys/kernel/osrelease", text) &&
				 release_at_least(text, 6, 2);
		host->user_alone = device_has(root, "ibs_op", "format/swfilt");
	}
	return true;
}

bool capture_allowed(struct error *error)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY,
					.exclude_kernel = 1,
					.exclude_hv = 1 };
	long event = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (event < 0)
		return error_set(error,
				 "perf_event_open: %m; a container's filter, or a security module, "
				 "does not let this process have perf events");
	close((int)event);
	return true;
}
