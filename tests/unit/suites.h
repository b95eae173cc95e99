/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unit tests' suites. A suite NAME is one file, tests/unit/test_NAME.c, and one line in the
 * list below. Its function, void suite_NAME(void), adds the suite and its tests to CUnit's
 * registry.
 */
#ifndef HITM_TESTS_UNIT_SUITES_H
#define HITM_TESTS_UNIT_SUITES_H

#define SUITES(X)       \
	X(config)       \
	X(layout)       \
	X(members)      \
	X(pahole)       \
	X(import)       \
	X(engine)       \
	X(coherence)    \
	X(distance)     \
	X(protocol)     \
	X(machine)      \
	X(tso)          \
	X(litmus)       \
	X(storm)        \
	X(races)        \
	X(closed_forms) \
	X(machine_file) \
	X(probe)        \
	X(loop)         \
	X(models)       \
	X(measure)      \
	X(experiment)   \
	X(native)       \
	X(rwsem)        \
	X(plot)         \
	X(input)        \
	X(native_trace) \
	X(small_traces) \
	X(recognise)    \
	X(host)         \
	X(calibrate)    \
	X(data_src)     \
	X(perf_script)  \
	X(perf_data)    \
	X(captures)     \
	X(mmap_case)    \
	X(code)         \
	X(record)       \
	X(c2c)          \
	X(replay)       \
	X(export)       \
	X(replay_cli)   \
	X(cli)

#define DECLARE_SUITE(name) void suite_##name(void);
SUITES(DECLARE_SUITE)
#undef DECLARE_SUITE

/*
 * Counts the test that runs as skipped rather than passed, and prints MESSAGE: what it would have
 * needed. To be called before anything is asserted; the test then returns.
 */
void test_skip(const char *message);

#endif
