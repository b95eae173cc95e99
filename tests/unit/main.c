// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the unit tests, and as one more suite, "scripts", every tests/<folder>/<name>.sh: to be
 * started in the project's root. A script passes with status 0 and is skipped with status 77.
 */
#include <glob.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CUnit/Basic.h>

#include "tests/unit/suites.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, SCRIPT_SKIPPED = 77, NAME_MAX_LENGTH = 512 };

static const char usage[] =
	"usage: unit [-l] [-v] [PART...]\n"
	"Runs the tests whose name, SUITE/TEST, contains one of the PARTs; all of them without.\n"
	"  -l  list their names instead\n"
	"  -v  print the name of each as it starts\n";

static unsigned int skipped_count;
static const CU_Test *skipped_last;

void test_skip(const char *message)
{
	const CU_Test *test = CU_get_current_test();

	printf("skipped: %s: %s\n", test->pName, message);
	skipped_count += test != skipped_last;
	skipped_last = test;
}

/* The test that runs has the script's path for its name. */
static void a_script_succeeds(void)
{
	char command[NAME_MAX_LENGTH];
	int length = snprintf(command, sizeof(command), "bash %s", CU_get_current_test()->pName);

	CU_ASSERT_FATAL(length > 0 && (size_t)length < sizeof(command));
	fflush(stdout);
	int status = system(command);

	if (WIFEXITED(status) && WEXITSTATUS(status) == SCRIPT_SKIPPED)
		test_skip("the script cannot run here");
	else
		CU_ASSERT_EQUAL(status, 0);
}

static void suite_scripts(void)
{
	glob_t found;

	if (glob("tests/*/*.sh", 0, NULL, &found) == 0) {
		CU_pSuite suite = CU_add_suite("scripts", NULL, NULL);

		for (size_t i = 0; i < found.gl_pathc; i++)
			CU_add_test(suite, found.gl_pathv[i], a_script_succeeds);
	}
	globfree(&found);
}

/* A mistake in the registration itself, such as two tests of one name, ends the program. */
static void suites_register(void)
{
	if (CU_initialize_registry() != CUE_SUCCESS)
		abort();
	CU_set_error_action(CUEA_ABORT);
#define REGISTER_SUITE(name) suite_##name();
	SUITES(REGISTER_SUITE)
#undef REGISTER_SUITE
	suite_scripts();
	CU_set_error_action(CUEA_IGNORE);
}

static bool test_is_wanted(const CU_Suite *suite, const CU_Test *test, char **parts)
{
	char name[NAME_MAX_LENGTH];

	if (!*parts)
		return true;
	snprintf(name, sizeof(name), "%s/%s", suite->pName, test->pName);
	for (; *parts; parts++)
		if (strstr(name, *parts))
			return true;
	return false;
}

/* Leaves only the wanted tests active. Returns how many they are. */
static unsigned int tests_select(char **parts, bool list)
{
	unsigned int wanted = 0;

	for (CU_Suite *suite = CU_get_registry()->pSuite; suite; suite = suite->pNext) {
		CU_BOOL any = CU_FALSE;

		for (CU_Test *test = suite->pTest; test; test = test->pNext) {
			if (!test_is_wanted(suite, test, parts)) {
				CU_set_test_active(test, CU_FALSE);
				continue;
			}
			any = CU_TRUE;
			wanted++;
			if (list)
				printf("%s/%s\n", suite->pName, test->pName);
		}
		CU_set_suite_active(suite, any);
	}
	CU_set_fail_on_inactive(CU_FALSE);
	return wanted;
}

static const int crash_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
static struct sigaction crash_previous[sizeof(crash_signals) / sizeof(crash_signals[0])];

/*
 * Names the test. The handler before this one (a sanitizer's, or none) then sees the signal too:
 * the instruction is executed again, and abort() raises its own again.
 */
static void crash_report(int number)
{
	static const char message[] = "\ncrashed in the test ";
	const CU_Test *test = CU_get_current_test();
	const char *name = test ? test->pName : "(none)";

	for (size_t i = 0; i < sizeof(crash_signals) / sizeof(crash_signals[0]); i++)
		if (crash_signals[i] == number)
			sigaction(number, &crash_previous[i], NULL);
	if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0 ||
	    write(STDERR_FILENO, name, strlen(name)) < 0 || write(STDERR_FILENO, "\n", 1) < 0)
		return;
}

static void crash_watch(void)
{
	struct sigaction action = { .sa_handler = crash_report, .sa_flags = SA_ONSTACK };

	for (size_t i = 0; i < sizeof(crash_signals) / sizeof(crash_signals[0]); i++)
		sigaction(crash_signals[i], &action, &crash_previous[i]);
}

/* Prints the one line that says how it went. Returns the exit status. */
static int tests_conclude(void)
{
	unsigned int run = CU_get_number_of_tests_run();
	unsigned int failed = CU_get_number_of_tests_failed();
	unsigned int suites_failed = CU_get_number_of_suites_failed();
	unsigned int passed = run - failed - skipped_count;

	/* A suite that could not be prepared has run none of its tests: it counts as one. */
	failed += suites_failed;
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped_count);
	return failed ? EXIT_FAILED : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	CU_BasicRunMode mode = CU_BRM_NORMAL;
	bool list = false;
	int option, status = EXIT_SUCCESS;

	while ((option = getopt(argc, argv, "lv")) != -1) {
		list |= option == 'l';
		mode = option == 'v' ? CU_BRM_VERBOSE : mode;
		if (option == '?') {
			fputs(usage, stderr);
			return EXIT_USAGE;
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	suites_register();
	if (!tests_select(argv + optind, list)) {
		fputs("unit: no test has such a name; -l lists them\n", stderr);
		status = EXIT_USAGE;
	} else if (!list) {
		crash_watch();
		CU_basic_set_mode(mode);
		CU_basic_run_tests();
		status = tests_conclude();
	}
	CU_cleanup_registry();
	return status;
}
