/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_BENCH_CAPTURES_H
#define TESTS_BENCH_CAPTURES_H

/* Prints how fast captures are read and replayed, and what memory that takes. They are made in a
 * directory, and removed. Call it while this process is small: others start as its copies. Ends the
 * process where something cannot be done. */
void captures_measure(const char *directory);

#endif
