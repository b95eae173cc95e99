/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How perf captures memory accesses on a host: by what its processors offer for it, or by hardware
 * breakpoints on the fields of an object. Nothing is run here: what comes out is a command. */
#ifndef NATIVE_CAPTURE_H
#define NATIVE_CAPTURE_H

#include "config/error.h"
#include <stdint.h>

/* ---- the host ------------------------------------------------------------------------------- */

/* What samples accesses with their data addresses. */
enum capture_means {
	CAPTURE_NOTHING, /* but breakpoints, which every host has */
	CAPTURE_PEBS,    /* Intel: events mem-loads and mem-stores */
	CAPTURE_IBS,     /* AMD: ibs_op */
	CAPTURE_SPE      /* Arm: arm_spe_N */
};

enum { CAPTURE_PMUS = 4, CAPTURE_PMU_NAME = 64 };

struct capture_host {
	enum capture_means means;
	struct capture_pmu {
		char name[CAPTURE_PMU_NAME];
		bool aux;     /* PEBS: loads need the event mem-loads-aux beside them */
	} pmus[CAPTURE_PMUS]; /* several where cores differ */
	uint32_t pmu_count;
	int paranoid;    /* kernel.perf_event_paranoid */
	bool privileged; /* CAP_PERFMON or CAP_SYS_ADMIN */
	bool per_task;   /* IBS: can follow a command; else all CPUs are sampled */
	bool user_alone; /* IBS: can leave the kernel's accesses out */
};

/* Reads /sys and /proc under `root` ("" for this host). False with *error set where perf can do
 * nothing for this user. */
bool capture_host_read(const char *root, struct capture_host *host, struct error *error);

/* Does this host let its processes have perf events at all? Containers filter the system call. False
 * with *error set. */
bool capture_allowed(struct error *error);

/* May the kernel's accesses not be captured? */
bool capture_user_only(const struct capture_host *host);

/* ---- what to capture ------------------------------------------------------------------------ */

/* What one breakpoint watches: 1, 2, 4 or 8 bytes at a multiple of as many. */
struct capture_place {
	const char *name; /* "counter.usage" */
	uint64_t address;
	uint8_t size;
};

enum { CAPTURE_SLOTS = 4 /* breakpoints at a time, of x86 and of most other processors */ };

struct capture_request {
	const char *out; /* the file that perf writes; of several runs FILE.1, FILE.2 ... */
	uint64_t period; /* accesses a sample; 0: what suits the host */
	uint64_t ldlat;  /* PEBS: cycles under which loads are not sampled, at least 1 */
	uint64_t pid;    /* a process to attach to; 0: `command` */
	char **command;  /* ends with NULL */
	const struct capture_place *places; /* none: sample by the host's means */
	uint32_t place_count;
	bool pairs; /* two breakpoints a place always, so that stores can be told from loads */
};

/* ---- the commands --------------------------------------------------------------------------- */

/* Texts, ended by NULL, each allocated. */
struct words {
	char **all;
	uint32_t count;
};
/* False: out of memory; what is there stays. */
bool words_add(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
void words_free(struct words *words);

struct capture_run {
	char *out;
	struct words command; /* perf's */
	struct words decode; /* perf's, for what only perf can read: prints it; empty: not needed */
	struct words why;    /* a line each */
};

struct capture_plan {
	struct capture_run *runs;
	uint32_t count;
};

/* More places than breakpoints at a time take several runs. False with *error set where the host
 * cannot do it for this user; to be freed in any case. */
bool capture_plan(struct capture_plan *plan, const struct capture_host *host,
		  const struct capture_request *request, struct error *error);
void capture_plan_free(struct capture_plan *plan);

#endif
