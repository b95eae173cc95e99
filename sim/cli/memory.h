/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jansson leaves out of a value what it has no memory for, and says so to whoever asks at each of a
 * hundred calls. The command asks once, in the end: until then a reserve helps out. */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include "config/error.h"

/* To be called before any JSON is made. */
void memory_watch(void);
/* Was there memory for all JSON made so far? Else *error is set. */
bool memory_sufficed(struct error *error);
/* Frees the reserve. */
void memory_release_reserve(void);

#endif
