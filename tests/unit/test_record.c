/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hitm record: the commands that it finds right for hosts made up as trees of /proc and /sys, where it
 * finds objects, and captures on this host, held against what the program counted itself. Commands
 * are those of perf's manuals and of tools/perf/arch/ARCH/util/mem-events.c. */
#include "tests/unit/scratch.h"
#include "tests/unit/suites.h"
#include "trace/trace.h"
#include <CUnit/CUnit.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_SIZE = 65536, PATH_SIZE = 4096, STATUS_FAILED = 1, STATUS_REFUSED = 2 };

#define ROOT              "root"
#define PMU               ROOT "/sys/bus/event_source/devices/"
#define CONTENTS          " -d --phys-data -W -T --sample-cpu -- true"
#define CONTENTS_OF_USERS " -d -W -T --sample-cpu -- true"

/* ---- helpers -------------------------------------------------------------------------------- */

/* A file with the directories above it. */
static void tree_write(const char *name, const char *text)
{
	char command[512];

	snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s')\"", path_of(name));
	CU_ASSERT_EQUAL_FATAL(system(command), 0);
	file_write(name, text);
}

enum rights { USER, ROOT_USER };

/* A host without a PMU; what the processor has is written into it afterwards. */
static void host_write(const char *release, const char *paranoid, enum rights rights)
{
	char command[512];

	snprintf(command, sizeof(command), "rm -rf '%s'", path_of(ROOT));
	CU_ASSERT_EQUAL_FATAL(system(command), 0);
	tree_write(ROOT "/proc/sys/kernel/osrelease", release);
	tree_write(ROOT "/proc/sys/kernel/perf_event_paranoid", paranoid);
	tree_write(ROOT "/proc/self/status",
		   rights == USER ? "Name:\thitm\nCapEff:\t0000000000000000\nSeccomp:\t0\n"
				  : "Name:\thitm\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n");
	tree_write(PMU "software/type", "1");
	tree_write(PMU "breakpoint/type", "5");
}

static void pebs_write(const char *pmu, bool aux)
{
	char name[256];

	snprintf(name, sizeof(name), PMU "%s/events/mem-loads", pmu);
	tree_write(name, "event=0xcd,umask=0x1,ldlat=3");
	snprintf(name, sizeof(name), PMU "%s/format/ldlat", pmu);
	tree_write(name, "config1:0-15");
	if (aux) {
		snprintf(name, sizeof(name), PMU "%s/events/mem-loads-aux", pmu);
		tree_write(name, "event=0x03,umask=0x82");
	}
}

/* The commands, without the lines that say why; `expected` ends each with a newline. */
static void expect_commands(const char *arguments, const char *expected)
{
	char got[TEXT_SIZE] = "";
	int status = hitm_run("", arguments);
	char *rest = NULL, text[TEXT_SIZE];

	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_STRING_EQUAL(file_text("err"), "");
	snprintf(text, sizeof(text), "%s", file_text("out"));
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (*line != '#')
			strcat(strcat(got, line), "\n");
	CU_ASSERT_STRING_EQUAL(got, expected);
	if (strcmp(got, expected) != 0)
		printf("\n  hitm %s\n   got: %s  want: %s", arguments, got, expected);
}

/* One line on standard error, which has this in it, and nothing on standard output. */
static void expect_refusal(const char *variables, const char *arguments, const char *part)
{
	int status = hitm_run(variables, arguments);
	const char *error = file_text("err"), *end = strchr(error, '\n');
	bool right = status == STATUS_REFUSED && end && !end[1] && strstr(error, part);

	CU_ASSERT(right);
	if (!right)
		printf("\n  hitm %s\n  status %d\n   got: %s  want: ...%s...\n", arguments, status,
		       error, part);
	CU_ASSERT_STRING_EQUAL(file_text("out"), "");
}

static bool says(const char *part)
{
	return strstr(file_text("out"), part);
}

/* A layout with four words, seven odd bytes, and a field of two words and a half. */
static void layout_write(void)
{
	file_write("test.yaml", "layout: test\nstruct: test\nsize: 64 B\nalign: 8 B\nsource: test\n"
				"fields:\n"
				"  a: {offset: 0, size: 8}\n"
				"  b: {offset: 8, size: 8}\n"
				"  c: {offset: 16, size: 8}\n"
				"  d: {offset: 24, size: 8}\n"
				"  odd: {offset: 33, size: 7}\n"
				"  long: {offset: 40, size: 20}\n");
}

#define OBJECT       "record --root " ROOT " -O x=./test.yaml@0x7f0040 "
#define EVERY_ACCESS " -c 1 -d -T --sample-cpu -- true\n"

/* ---- hosts ---------------------------------------------------------------------------------- */

static void an_intel_host_samples_loads_and_stores(void)
{
	host_write("6.1.0-40-amd64", "2", ROOT_USER);
	pebs_write("cpu", false);
	expect_commands("record --root " ROOT " true",
			"perf record -o perf.data -e cpu/mem-loads,ldlat=3/P -e cpu/mem-stores/P"
			" -c 1009" CONTENTS "\n");
	CU_ASSERT(says("loads under 3 cycles are not sampled"));
	expect_commands(
		"record --root " ROOT " -l 30 -c 97 -o a true",
		"perf record -o a -e cpu/mem-loads,ldlat=30/P -e cpu/mem-stores/P -c 97" CONTENTS
		"\n");
	CU_ASSERT(says("loads under 30 cycles are not sampled"));
}

static void loads_are_sampled_with_their_auxiliary_event_where_there_is_one(void)
{
	host_write("6.8.0", "2", ROOT_USER);
	pebs_write("cpu", true);
	expect_commands("record --root " ROOT " true",
			"perf record -o perf.data"
			" -e '{cpu/mem-loads-aux/,cpu/mem-loads,ldlat=3/}:P' -e cpu/mem-stores/P"
			" -c 1009" CONTENTS "\n");
}

static void each_kind_of_core_is_sampled(void)
{
	host_write("6.8.0", "2", ROOT_USER);
	pebs_write("cpu_core", true);
	pebs_write("cpu_atom", false);
	expect_commands("record --root " ROOT " true",
			"perf record -o perf.data"
			" -e cpu_atom/mem-loads,ldlat=3/P -e cpu_atom/mem-stores/P"
			" -e '{cpu_core/mem-loads-aux/,cpu_core/mem-loads,ldlat=3/}:P'"
			" -e cpu_core/mem-stores/P -c 1009" CONTENTS "\n");
}

static void users_sample_user_space_alone(void)
{
	host_write("6.1.0", "2", USER);
	pebs_write("cpu", true);
	expect_commands("record --root " ROOT " true",
			"perf record -o perf.data"
			" -e '{cpu/mem-loads-aux/,cpu/mem-loads,ldlat=3/}:Pu' -e cpu/mem-stores/Pu"
			" -c 1009" CONTENTS_OF_USERS "\n");
	host_write("6.1.0", "1", USER);
	pebs_write("cpu", false);
	expect_commands("record --root " ROOT " true",
			"perf record -o perf.data -e cpu/mem-loads,ldlat=3/P -e cpu/mem-stores/P"
			" -c 1009" CONTENTS "\n");
}

static void an_amd_host_samples_operations(void)
{
	host_write("6.8.0", "2", ROOT_USER);
	tree_write(PMU "ibs_op/type", "11");
	tree_write(PMU "ibs_fetch/type", "10");
	expect_commands("record --root " ROOT " true",
			"perf record -o perf.data -e ibs_op// -c 100000" CONTENTS "\n");
	expect_refusal("", "record --root " ROOT " -c 1009 true", "IBS takes multiples of 16");
}

/* IBS became a PMU of tasks in Linux 6.2. */
static void old_amd_kernels_sample_all_cpus(void)
{
	host_write("6.1.0-40-amd64", "2", ROOT_USER);
	tree_write(PMU "ibs_op/type", "11");
	expect_commands("record --root " ROOT " true",
			"perf record -o perf.data -e ibs_op// -a -c 100000" CONTENTS "\n");
	host_write("6.1.0-40-amd64", "1", USER);
	tree_write(PMU "ibs_op/type", "11");
	expect_refusal("", "record --root " ROOT " true", "samples whole CPUs alone");
}

/* ... and learned in 6.14 to leave the kernel out. */
static void users_sample_by_ibs_where_it_can_leave_the_kernel_out(void)
{
	host_write("6.8.0", "2", USER);
	tree_write(PMU "ibs_op/type", "11");
	expect_refusal("", "record --root " ROOT " true", "cannot leave the kernel's own accesses");
	host_write("6.14.0", "2", USER);
	tree_write(PMU "ibs_op/type", "11");
	tree_write(PMU "ibs_op/format/swfilt", "config2:0");
	expect_commands("record --root " ROOT " true",
			"perf record -o perf.data -e ibs_op/swfilt=1/u -c 100000" CONTENTS_OF_USERS
			"\n");
}

static void an_arm_host_samples_by_spe_and_has_perf_decode_it(void)
{
	host_write("6.8.0", "2", ROOT_USER);
	tree_write(PMU "arm_spe_0/type", "9");
	expect_commands(
		"record --root " ROOT " true",
		"perf record -o perf.data"
		" -e arm_spe_0/ts_enable=1,pa_enable=1,load_filter=1,store_filter=1/" CONTENTS
		"\nperf script --itrace=M -G --ns -F comm,pid,tid,cpu,time,period,event,addr,"
		"phys_addr,data_src,weight,ip,sym,symoff,dso -i perf.data >perf.data.txt\n");
	host_write("6.8.0", "2", USER);
	tree_write(PMU "arm_spe_0/type", "9");
	expect_commands(
		"record --root " ROOT " -o 'a b' true",
		"perf record -o 'a b'"
		" -e arm_spe_0/ts_enable=1,load_filter=1,store_filter=1/u" CONTENTS_OF_USERS
		"\nperf script --itrace=M -G --ns -F comm,pid,tid,cpu,time,period,event,addr,"
		"data_src,weight,ip,sym,symoff,dso -i 'a b' >'a b'.txt\n");
}

static void a_host_without_a_pmu_is_told_of_breakpoints(void)
{
	host_write("6.1.0", "2", ROOT_USER);
	expect_refusal("", "record --root " ROOT " true", "--object NAME=STRUCT@SYMBOL");
	/* A virtual machine's PMU, without PEBS; and POWER's events, of another form. */
	tree_write(PMU "cpu/format/ldlat", "config1:0-15");
	expect_refusal("", "record --root " ROOT " true", "--object NAME=STRUCT@SYMBOL");
	host_write("6.1.0", "2", ROOT_USER);
	tree_write(PMU "cpu/events/mem-loads", "event=0x101");
	expect_refusal("", "record --root " ROOT " true", "--object NAME=STRUCT@SYMBOL");
}

static void a_paranoid_host_is_refused(void)
{
	host_write("6.1.0", "3", USER);
	pebs_write("cpu", false);
	expect_refusal("", "record --root " ROOT " true", "perf_event_paranoid is 3");
	host_write("6.1.0", "4", ROOT_USER);
	pebs_write("cpu", false);
	CU_ASSERT_EQUAL(hitm_run("", "record --root " ROOT " true"), 0);
}

static void a_kernel_without_perf_events_is_refused(void)
{
	tree_write("none/proc/self/status", "CapEff:\t000001ffffffffff\n");
	expect_refusal("", "record --root none true", "has no perf events");
}

static void a_missing_perf_is_named_with_its_package(void)
{
	expect_refusal("PATH=/nonexistent", "record /bin/true", "apt-get install linux-perf");
}

/* As containers do: perf_event_open is not permitted. In a child of the test. */
static bool filter_perf_events(void)
{
	struct sock_filter refuse[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(refuse) / sizeof(*refuse), .filter = refuse };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void a_container_that_filters_perf_events_is_told(void)
{
	enum { NO_FILTER = 100 };
	int status = 0;
	pid_t child;

	if (access("/proc/sys/kernel/perf_event_paranoid", R_OK)) {
		test_skip("this kernel has no perf events");
		return;
	}
	file_write("perf", "#!/bin/sh\nexit 0\n");
	CU_ASSERT_EQUAL(chmod(path_of("perf"), 0755), 0);
	layout_write();
	fflush(NULL);
	child = fork();
	if (!child)
		_exit(filter_perf_events() ? hitm_run("PATH=\"$PWD:$PATH\"",
						      "record -O x=./test.yaml@0x7f0040 -F a true")
					   : NO_FILTER);
	if (waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	    WEXITSTATUS(status) == NO_FILTER) {
		test_skip("no system calls can be filtered here");
		return;
	}
	CU_ASSERT_EQUAL(WEXITSTATUS(status), STATUS_REFUSED);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(file_text("err"), "does not let this process have perf events"));
}

/* ---- breakpoints ---------------------------------------------------------------------------- */

static void two_fields_are_watched_by_pairs(void)
{
	host_write("6.1.0", "2", USER);
	layout_write();
	expect_commands(OBJECT "-F a,c true",
			"perf record -o perf.data -e mem:0x7f0040/8:w:u -e mem:0x7f0040/8:rw:u"
			" -e mem:0x7f0050/8:w:u -e mem:0x7f0050/8:rw:u" EVERY_ACCESS);
	CU_ASSERT(says("x.a is 8 bytes at 0x7f0040"));
	CU_ASSERT(says("x.c is 8 bytes at 0x7f0050"));
}

static void three_or_four_fields_are_watched_by_one_breakpoint_each(void)
{
	host_write("6.1.0", "2", USER);
	layout_write();
	expect_commands(OBJECT "-F d,b,a true",
			"perf record -o perf.data -e mem:0x7f0058/8:rw:u -e mem:0x7f0048/8:rw:u"
			" -e mem:0x7f0040/8:rw:u" EVERY_ACCESS);
	CU_ASSERT(says("does not tell loads from stores"));
	expect_commands(OBJECT "-F a,b,c,d true",
			"perf record -o perf.data -e mem:0x7f0040/8:rw:u -e mem:0x7f0048/8:rw:u"
			" -e mem:0x7f0050/8:rw:u -e mem:0x7f0058/8:rw:u" EVERY_ACCESS);
}

static void pairs_that_are_asked_for_take_more_runs(void)
{
	host_write("6.1.0", "2", USER);
	layout_write();
	expect_commands(
		OBJECT "-P -o p -F a,b,c true",
		"perf record -o p.1 -e mem:0x7f0040/8:w:u -e mem:0x7f0040/8:rw:u"
		" -e mem:0x7f0048/8:w:u -e mem:0x7f0048/8:rw:u" EVERY_ACCESS
		"perf record -o p.2 -e mem:0x7f0050/8:w:u -e mem:0x7f0050/8:rw:u" EVERY_ACCESS);
}

/* 33 to 39 is a byte, two and four; 40 to 59 is eight, eight and four. */
static void a_field_that_no_breakpoint_covers_takes_several(void)
{
	host_write("6.1.0", "2", USER);
	layout_write();
	expect_commands(OBJECT "-F odd,long true",
			"perf record -o perf.data.1 -e mem:0x7f0061/1:rw:u -e mem:0x7f0062/2:rw:u"
			" -e mem:0x7f0064/4:rw:u -e mem:0x7f0068/8:rw:u" EVERY_ACCESS
			"perf record -o perf.data.2 -e mem:0x7f0070/8:rw:u -e "
			"mem:0x7f0078/4:rw:u" EVERY_ACCESS);
	CU_ASSERT(says("x.odd is 1 byte at 0x7f0061"));
	CU_ASSERT(says("x.odd+3 is 4 bytes at 0x7f0064"));
}

static void all_fields_are_watched_where_none_is_named(void)
{
	host_write("6.1.0", "2", USER);
	layout_write();
	CU_ASSERT_EQUAL(hitm_run("", OBJECT "true"), 0);
	CU_ASSERT(says("# run 3 of 3\n"));
	CU_ASSERT(says("x.long+16 is 4 bytes at 0x7f0078"));
}

static void several_objects_are_watched_at_once(void)
{
	host_write("6.1.0", "2", USER);
	layout_write();
	expect_commands(OBJECT "-O y=./test.yaml@0x7f1000 -F a true",
			"perf record -o perf.data -e mem:0x7f0040/8:w:u -e mem:0x7f0040/8:rw:u"
			" -e mem:0x7f1000/8:w:u -e mem:0x7f1000/8:rw:u" EVERY_ACCESS);
	CU_ASSERT(says("y.a is 8 bytes at 0x7f1000"));
}

static void the_kernels_objects_are_watched_by_the_privileged(void)
{
	static const char arguments[] =
		"record --root " ROOT " -O x=./test.yaml@0xffff888000001000 -F a true";

	layout_write();
	host_write("6.1.0", "2", ROOT_USER);
	expect_commands(arguments, "perf record -o perf.data -e mem:0xffff888000001000/8:w:k"
				   " -e mem:0xffff888000001000/8:rw:k" EVERY_ACCESS);
	host_write("6.1.0", "2", USER);
	expect_refusal("", arguments, "x.a is the kernel's");
}

static void what_is_no_object_is_refused(void)
{
	host_write("6.1.0", "2", USER);
	layout_write();
	expect_refusal("", "record --root " ROOT " -O x=./test.yaml true",
		       "expected NAME=STRUCT@SYMBOL");
	expect_refusal("", "record --root " ROOT " -O =./test.yaml@0x40 true",
		       "expected NAME=STRUCT@SYMBOL");
	expect_refusal("", "record --root " ROOT " -O x@0x40 true", "expected NAME=STRUCT@SYMBOL");
	expect_refusal("", "record --root " ROOT " -O x=./test.yaml@0x true", "'0x' is no address");
	expect_refusal("", "record --root " ROOT " -O x=./test.yaml@0x4g true",
		       "'0x4g' is no address");
	expect_refusal("", "record --root " ROOT " -O x=./test.yaml@0xffffffffffffffff0 true",
		       "is no address");
	expect_refusal("", "record --root " ROOT " -O x=./test.yaml@0xffffffffffffffc1 true",
		       "is no address");
	expect_refusal("", "record --root " ROOT " -O x=./none.yaml@0x40 true", "none.yaml");
	expect_refusal("", OBJECT "-F a,z true", "struct ./test.yaml has no field 'z'");
	expect_refusal("", OBJECT "-F a, true", "has no field ''");
}

/* ---- options -------------------------------------------------------------------------------- */

static void what_does_not_go_together_is_refused(void)
{
	host_write("6.1.0", "2", USER);
	layout_write();
	expect_refusal("", "record", "a COMMAND or --pid was expected");
	expect_refusal("", "record -p 1 true", "a COMMAND or --pid was expected");
	expect_refusal("", "record -r --root x true", "nothing can be run there");
	expect_refusal("", "record -F a true", "--fields is of an --object");
	expect_refusal("", "record -P true", "--pairs is of an --object");
	expect_refusal("", OBJECT "-c 7 true", "--period is for samples");
	expect_refusal("", "record -c 0 true", "--period '0', expected a whole number");
	expect_refusal("", "record -t json true", "--to 'json', expected trace, ");
	expect_refusal("", "record --nothing true", "unknown option --nothing");
	expect_refusal("", "record --root " ROOT " no-such-program-here",
		       "no program 'no-such-program-here'");
}

static void a_command_is_printed_for_a_shell(void)
{
	host_write("6.1.0", "2", ROOT_USER);
	pebs_write("cpu", false);
	expect_commands("record --root " ROOT " -- true -x 'a b' \"it's\" '' 'x$y'",
			"perf record -o perf.data -e cpu/mem-loads,ldlat=3/P -e cpu/mem-stores/P"
			" -c 1009" CONTENTS " -x 'a b' 'it'\\''s' '' 'x$y'\n");
}

static void a_process_is_attached_to(void)
{
	host_write("6.1.0", "2", USER);
	layout_write();
	expect_commands(OBJECT "-F a -p 4711",
			"perf record -o perf.data -e mem:0x7f0040/8:w:u -e mem:0x7f0040/8:rw:u"
			" -c 1 -d -T --sample-cpu -p 4711\n");
}

/* ---- symbols -------------------------------------------------------------------------------- */

/* What is looked for in this very process. */
struct record_test {
	long a, b;
};
struct record_test record_test_object = { 1, 2 };
_Thread_local struct record_test record_test_apart = { 1, 2 };

static const char *pages_path(void)
{
	static char path[PATH_SIZE / 2];
	const char *command = getenv("HITM");
	char *absolute = realpath(command ? command : "build/hitm", NULL), *slash;

	CU_ASSERT_PTR_NOT_NULL_FATAL(absolute);
	slash = strrchr(absolute, '/');
	snprintf(path, sizeof(path), "%.*s/tests/pages", (int)(slash - absolute), absolute);
	free(absolute);
	return path;
}

static void record_pages(char *arguments, size_t size, const char *options, const char *rounds)
{
	snprintf(arguments, size, "record %s -- '%s' %s", options, pages_path(), rounds);
}

/* nm, a tool of its own, is the witness. */
static void a_symbol_has_the_address_in_the_program(void)
{
	char arguments[PATH_SIZE + 256], expected[64], command[PATH_SIZE + 64];
	uint64_t address = 0;
	FILE *nm;

	snprintf(command, sizeof(command), "nm '%s' | grep ' counter$'", pages_path());
	nm = popen(command, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(nm);
	CU_ASSERT_EQUAL(fscanf(nm, "%" SCNx64, &address), 1);
	pclose(nm);
	record_pages(arguments, sizeof(arguments),
		     "--root " ROOT " -O c=pages_counter@counter -F max", "");
	host_write("6.1.0", "2", USER);
	CU_ASSERT_EQUAL(hitm_run("", arguments), 0);
	snprintf(expected, sizeof(expected), "c.max is 8 bytes at 0x%" PRIx64 "\n", address + 32);
	CU_ASSERT(says(expected));
}

/* This test program, as a process 42 of the host that is made up. */
static void process_write(void)
{
	char command[PATH_SIZE], exe[PATH_SIZE / 2];
	ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	CU_ASSERT_FATAL(length > 0);
	exe[length] = '\0';
	host_write("6.1.0", "2", USER);
	snprintf(command, sizeof(command),
		 "cd '%s/proc' && mkdir 42 && cat /proc/%d/maps >42/maps && ln -s '%s' 42/exe",
		 path_of(ROOT), (int)getpid(), exe);
	CU_ASSERT_EQUAL_FATAL(system(command), 0);
}

/* No layout has this name: it is the struct in the test program's own debug information, and the
 * program is loaded wherever the kernel chose. */
static void a_running_program_is_found_where_it_is_loaded(void)
{
	char expected[64];

	process_write();
	CU_ASSERT_EQUAL(hitm_run("", "record --root " ROOT
				     " -O x=record_test@record_test_object -F b -p 42"),
			0);
	snprintf(expected, sizeof(expected), "x.b is 8 bytes at %p\n",
		 (void *)&record_test_object.b);
	CU_ASSERT(says(expected));
}

static void a_program_that_is_not_loaded_is_refused(void)
{
	process_write();
	tree_write(ROOT "/proc/42/maps", "00400000-00401000 r--p 00000000 08:01 7   /bin/other\n");
	expect_refusal("", "record --root " ROOT " -O x=record_test@record_test_object -p 42",
		       "is not loaded there");
	expect_refusal("", "record --root " ROOT " -O x=record_test@record_test_object -p 43",
		       "/proc/43/exe");
}

static void objects_of_threads_and_of_one_name_are_refused(void)
{
	char arguments[PATH_SIZE];
	char *hitm = realpath(getenv("HITM") ? getenv("HITM") : "build/hitm", NULL);

	process_write();
	expect_refusal("", "record --root " ROOT " -O x=record_test@record_test_apart -p 42",
		       "'record_test_apart' is thread-local");
	layout_write();
	/* Each subcommand has its text of help. */
	snprintf(arguments, sizeof(arguments), "record --root " ROOT " -O x=./test.yaml@help '%s'",
		 hitm);
	expect_refusal("", arguments, "objects are named 'help'");
	free(hitm);
}

static void a_movable_program_has_no_addresses_yet(void)
{
	char arguments[PATH_SIZE], exe[PATH_SIZE];
	ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) / 2);

	CU_ASSERT_FATAL(length > 0);
	host_write("6.1.0", "2", USER);
	snprintf(arguments, sizeof(arguments),
		 "record --root " ROOT " -O x=record_test@record_test_object '%.*s'", (int)length,
		 exe);
	expect_refusal("", arguments, "Link it with -no-pie; or start it, and give --pid");
}

static void what_is_no_object_of_the_program_is_refused(void)
{
	static const struct {
		const char *options, *part;
	} cases[] = {
		{ "-O x=pages_counter@nothing", "no object 'nothing' in its symbols" },
		{ "-O x=pages_counter@main", "no object 'main' in its symbols" },
		{ "-O x=pages_counter-apart@counter", "'counter' has 128 bytes" },
		{ "-O x=nothing@counter", "'nothing' is no layout, and no struct of" },
	};
	char arguments[PATH_SIZE + 256], options[256];

	host_write("6.1.0", "2", USER);
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		snprintf(options, sizeof(options), "--root " ROOT " %s", cases[k].options);
		record_pages(arguments, sizeof(arguments), options, "");
		expect_refusal("", arguments, cases[k].part);
	}
	file_write("script", "#!/bin/sh\n");
	CU_ASSERT_EQUAL(chmod(path_of("script"), 0755), 0);
	expect_refusal("", "record --root " ROOT " -O x=pages_counter@counter ./script",
		       "no ELF program");
}

/* ---- captures ------------------------------------------------------------------------------- */

/* Can a breakpoint be set here? Containers and some hypervisors have none. */
static bool have_breakpoints(void)
{
	static long watched;
	struct perf_event_attr attr = { .type = PERF_TYPE_BREAKPOINT,
					.size = sizeof(attr),
					.bp_type = HW_BREAKPOINT_RW,
					.bp_addr = (uintptr_t)&watched,
					.bp_len = HW_BREAKPOINT_LEN_8,
					.sample_period = 1,
					.exclude_kernel = 1,
					.exclude_hv = 1 };
	uint64_t count = 0;
	int event = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (event < 0)
		return false;
	*(volatile long *)&watched = 1;
	if (read(event, &count, sizeof(count)) != sizeof(count))
		count = 0;
	close(event);
	return count && system("command -v perf >/dev/null") == 0;
}

struct counts {
	unsigned long loads, stores, atomics;
};

/* FIELD LOADS STORES ATOMICS of the last run, of one field. */
static bool own_counts(const char *field, struct counts *counts)
{
	char text[TEXT_SIZE], *rest = NULL;

	snprintf(text, sizeof(text), "%s", file_text("out"));
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		size_t length = strlen(field);

		if (!strncmp(line, field, length) &&
		    sscanf(line + length, " %lu %lu %lu", &counts->loads, &counts->stores,
			   &counts->atomics) == 3)
			return true;
	}
	return false;
}

/* Records in a capture at an address, as perf itself prints them. */
static unsigned long count_records(const char *file, uint64_t address)
{
	char command[PATH_SIZE];
	unsigned long count = 0;
	FILE *script;

	snprintf(command, sizeof(command),
		 "perf script -i '%s' -F addr 2>/dev/null | grep -cw '%" PRIx64 "'", path_of(file),
		 address);
	script = popen(command, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(script);
	CU_ASSERT_EQUAL(fscanf(script, "%lu", &count), 1);
	pclose(script);
	return count;
}

static uint64_t address_of(const char *field)
{
	char said[64];
	const char *at;

	snprintf(said, sizeof(said), "c.%s is 8 bytes at ", field);
	at = strstr(file_text("out"), said);
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	return strtoull(at + strlen(said), NULL, 16);
}

/* Accesses of a kind (letters of the native form) to a field in a trace. */
static unsigned long count_accesses(const char *file, const char *field, const char *letters)
{
	FILE *trace = fopen(path_of(file), "r");
	char line[1024], name[256], letter[8];
	unsigned long count = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	while (fgets(line, sizeof(line), trace))
		count += *line != '#' &&
			 sscanf(line, "%*s %*s %*s %7s %*s %*s %*s %255s", letter, name) == 2 &&
			 !strncmp(name, "c.", 2) && !strcmp(name + 2, field) &&
			 strstr(letters, letter);
	fclose(trace);
	return count;
}

/* Of the writes only x86 shows which were atomic. */
static void expect_trace(const char *file, const char *field, const struct counts *own)
{
	CU_ASSERT_EQUAL(count_accesses(file, field, "R"), own->loads);
	CU_ASSERT_EQUAL(count_accesses(file, field, "WA"), own->stores + own->atomics);
#if defined(__x86_64__)
	CU_ASSERT_EQUAL(count_accesses(file, field, "A"), own->atomics);
#endif
}

/* Two fields a run; a load is seen by one breakpoint, a store or an atomic operation by both. */
static void a_capture_has_every_access_that_the_program_made(void)
{
	static const char *const fields[][2] = { { "usage", "max" },
						 { "min", "low" },
						 { "min_usage", "low_usage" },
						 { "watermark", "failcnt" },
						 { "high", "children_low_usage" } };
	char arguments[PATH_SIZE + 256], options[128];

	if (!have_breakpoints()) {
		test_skip("neither perf nor breakpoints here");
		return;
	}
	for (size_t k = 0; k < sizeof(fields) / sizeof(*fields); k++) {
		snprintf(options, sizeof(options),
			 "-r -o p.data -O c=pages_counter@counter -F %s,%s", fields[k][0],
			 fields[k][1]);
		record_pages(arguments, sizeof(arguments), options, "30");
		CU_ASSERT_EQUAL(hitm_run("", arguments), 0);
		for (int f = 0; f < 2; f++) {
			struct counts own = { 0 };

			CU_ASSERT_TRUE_FATAL(own_counts(fields[k][f], &own));
			CU_ASSERT_EQUAL(count_records("p.data", address_of(fields[k][f])),
					own.loads + 2 * (own.stores + own.atomics));
			expect_trace("p.data.trace", fields[k][f], &own);
		}
	}
}

static void a_trace_declares_what_was_watched(void)
{
	char arguments[PATH_SIZE + 256], expected[128];
	uint64_t address;

	if (!have_breakpoints()) {
		test_skip("neither perf nor breakpoints here");
		return;
	}
	record_pages(arguments, sizeof(arguments),
		     "-r -o p.data -O c=pages_counter@counter -F usage", "2");
	CU_ASSERT_EQUAL(hitm_run("", arguments), 0);
	address = address_of("usage");
	snprintf(expected, sizeof(expected), "# object c pages_counter 0x%" PRIx64 "\n", address);
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("p.data.trace"), expected));
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("p.data.trace"), "# kind complete\n"));
}

/* Of a line of counts: the accesses that the trace has, by kind, are the program's own. A field that
 * was not watched has none. Text of perf does not tell atomic operations from stores. */
static void expect_shipped(const char *line, const uint64_t ops[TRACE_OPS], bool atomics)
{
	uint64_t seen = 0;
	struct counts own;

	for (int op = 0; op < TRACE_OPS; op++)
		seen += ops[op];
	CU_ASSERT_EQUAL(sscanf(line, "%*s %lu %lu %lu", &own.loads, &own.stores, &own.atomics), 3);
	if (!seen)
		return;
	CU_ASSERT_EQUAL(seen, own.loads + own.stores + own.atomics);
	if (ops[TRACE_ACCESS])
		return;
	CU_ASSERT_EQUAL(ops[TRACE_LOAD], own.loads);
	CU_ASSERT_EQUAL(ops[TRACE_STORE], own.stores + (atomics ? 0 : own.atomics));
	CU_ASSERT_EQUAL(ops[TRACE_ATOMIC], atomics ? own.atomics : 0);
}

enum { SHIPPED_COUNTER = 0x4040c0, SHIPPED_FIELDS = 13 };

static void check_shipped(const char *name, const char *suffix, uint64_t records)
{
	uint64_t ops[SHIPPED_FIELDS][TRACE_OPS] = { 0 }, read = 0;
	struct error error = { "" };
	struct trace_record record;
	char path[64], line[128];
	struct trace *trace;
	FILE *counts;

	snprintf(path, sizeof(path), "traces/%s.%s", name, suffix);
	trace = trace_open(path, NULL, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	for (; trace_next(trace, &record, &error) == STEP_RECORD; read++) {
		uint64_t field = (record.address - SHIPPED_COUNTER) / 8;

		CU_ASSERT_TRUE_FATAL(field < SHIPPED_FIELDS && record.op < TRACE_OPS);
		ops[field][record.op]++;
	}
	CU_ASSERT_STRING_EQUAL(error.text, "");
	CU_ASSERT_EQUAL(read, records);
	trace_close(trace);
	snprintf(path, sizeof(path), "traces/%s.counts.txt", name);
	counts = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(counts);
	for (int field = 0; field < SHIPPED_FIELDS; field++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(fgets(line, sizeof(line), counts));
		expect_shipped(line, ops[field], !strcmp(suffix, "trace"));
	}
	fclose(counts);
}

/* How many there are was counted by grep; of the two records of a write one is left out. */
static void shipped_captures_have_what_the_program_counted(void)
{
	check_shipped("pages-pairs", "trace", 144);
	check_shipped("pages-pairs", "perf.txt", 144);
	check_shipped("pages-four", "trace", 254);
	check_shipped("pages-four", "perf.txt", 254);
}

static void the_status_of_a_captured_command_is_told(void)
{
	char arguments[PATH_SIZE + 256];

	if (!have_breakpoints()) {
		test_skip("neither perf nor breakpoints here");
		return;
	}
	record_pages(arguments, sizeof(arguments),
		     "-r -o p.data -O c=pages_counter@counter -F usage", "0");
	CU_ASSERT_EQUAL(hitm_run("", arguments), STATUS_FAILED);
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("err"), "p.data: captured; the command ended with "
							"status 2"));
}

/* perf has made its file, and may not open the events. */
static void a_capture_that_fails_is_told(void)
{
	if (access("/proc/sys/kernel/perf_event_paranoid", R_OK)) {
		test_skip("this kernel has no perf events");
		return;
	}
	file_write("perf", "#!/bin/sh\n: >\"$3\"\nexit 255\n");
	CU_ASSERT_EQUAL(chmod(path_of("perf"), 0755), 0);
	layout_write();
	CU_ASSERT_EQUAL(
		hitm_run("PATH=\"$PWD:$PATH\"", "record -r -O x=./test.yaml@0x7f0040 -F a true"),
		STATUS_REFUSED);
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("err"), "perf has captured nothing"));
	CU_ASSERT_EQUAL(symlink("/dev/null", path_of("device")), 0);
	CU_ASSERT_EQUAL(hitm_run("PATH=\"$PWD:$PATH\"",
				 "record -r -o device -O x=./test.yaml@0x7f0040 -F a true"),
			STATUS_REFUSED);
	CU_ASSERT_PTR_NOT_NULL(strstr(file_text("err"), "device: not a file"));
	CU_ASSERT_EQUAL(access(path_of("device"), F_OK), 0);
}

void suite_record(void)
{
	CU_pSuite suite = CU_add_suite("record", scratch_make, scratch_remove);

	CU_ADD_TEST(suite, an_intel_host_samples_loads_and_stores);
	CU_ADD_TEST(suite, loads_are_sampled_with_their_auxiliary_event_where_there_is_one);
	CU_ADD_TEST(suite, each_kind_of_core_is_sampled);
	CU_ADD_TEST(suite, users_sample_user_space_alone);
	CU_ADD_TEST(suite, an_amd_host_samples_operations);
	CU_ADD_TEST(suite, old_amd_kernels_sample_all_cpus);
	CU_ADD_TEST(suite, users_sample_by_ibs_where_it_can_leave_the_kernel_out);
	CU_ADD_TEST(suite, an_arm_host_samples_by_spe_and_has_perf_decode_it);
	CU_ADD_TEST(suite, a_host_without_a_pmu_is_told_of_breakpoints);
	CU_ADD_TEST(suite, a_paranoid_host_is_refused);
	CU_ADD_TEST(suite, a_kernel_without_perf_events_is_refused);
	CU_ADD_TEST(suite, a_missing_perf_is_named_with_its_package);
	CU_ADD_TEST(suite, a_container_that_filters_perf_events_is_told);
	CU_ADD_TEST(suite, two_fields_are_watched_by_pairs);
	CU_ADD_TEST(suite, three_or_four_fields_are_watched_by_one_breakpoint_each);
	CU_ADD_TEST(suite, pairs_that_are_asked_for_take_more_runs);
	CU_ADD_TEST(suite, a_field_that_no_breakpoint_covers_takes_several);
	CU_ADD_TEST(suite, all_fields_are_watched_where_none_is_named);
	CU_ADD_TEST(suite, several_objects_are_watched_at_once);
	CU_ADD_TEST(suite, the_kernels_objects_are_watched_by_the_privileged);
	CU_ADD_TEST(suite, what_is_no_object_is_refused);
	CU_ADD_TEST(suite, what_does_not_go_together_is_refused);
	CU_ADD_TEST(suite, a_command_is_printed_for_a_shell);
	CU_ADD_TEST(suite, a_process_is_attached_to);
	CU_ADD_TEST(suite, a_symbol_has_the_address_in_the_program);
	CU_ADD_TEST(suite, a_running_program_is_found_where_it_is_loaded);
	CU_ADD_TEST(suite, a_program_that_is_not_loaded_is_refused);
	CU_ADD_TEST(suite, objects_of_threads_and_of_one_name_are_refused);
	CU_ADD_TEST(suite, a_movable_program_has_no_addresses_yet);
	CU_ADD_TEST(suite, what_is_no_object_of_the_program_is_refused);
	CU_ADD_TEST(suite, a_capture_has_every_access_that_the_program_made);
	CU_ADD_TEST(suite, a_trace_declares_what_was_watched);
	CU_ADD_TEST(suite, shipped_captures_have_what_the_program_counted);
	CU_ADD_TEST(suite, the_status_of_a_captured_command_is_told);
	CU_ADD_TEST(suite, a_capture_that_fails_is_told);
}
