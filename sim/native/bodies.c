/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiled and linked together with models/, all for real threads; the table is the only name of
 * theirs that others see (Makefile: the models once more). */
#include "models/bodies.h"
#include "native/bodies.h"

#define BODY(name) name,
__attribute__((visibility("default"))) native_body *const native_bodies[] = { MODEL_BODIES(BODY) };
