/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every body of a thread, by name. The files of models/ are compiled twice, for simulated threads
 * and for real ones; this list is how one finds the other. */
#ifndef MODELS_BODIES_H
#define MODELS_BODIES_H

#include "models/charge.h"
#include "models/loop.h"
#include "models/micro.h"
#include "models/mmap_lock.h"
#include "models/netperf.h"

#define MODEL_BODIES(X)    \
	X(netperf_send)    \
	X(netperf_receive) \
	X(loop_repeat)     \
	X(charge_repeat)   \
	X(micro_repeat)    \
	X(mmap_repeat)

#endif
