/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a litmus test may end on x86, by exhaustion.
 *
 * The abstract machine is that of Owens, Sarkar and Sewell, "A better x86 memory model: x86-TSO"
 * (TPHOLs 2009), section 3: a memory, and for each thread a FIFO store buffer from which its own
 * loads are served, the youngest matching store first. Any store that is the oldest of its buffer
 * may reach memory at any time. A locked operation, and an mfence, waits until the thread's buffer
 * is empty; the former then reads and writes memory in one step. Every interleaving is visited. It
 * knows nothing of caches: what the simulator does is compared with it. */
#ifndef CHECK_TSO_H
#define CHECK_TSO_H

#include "check/litmus.h"

enum {
	TSO_SC = 0,                    /* a buffer without room: sequential consistency */
	TSO_BUFFER = LITMUS_STEPS_MAX, /* one that no program fills */
	TSO_STATES_MAX = 4 << 20,      /* of the abstract machine */
	TSO_BYTES_MAX = 512 << 20      /* that they may take */
};

enum tso_verdict {
	TSO_ALLOWED,   /* exists, ~exists: a final state meets the condition */
	TSO_FORBIDDEN, /* none does */
	TSO_REQUIRED,  /* forall: every final state meets it */
	TSO_VIOLATED   /* some do not */
};

struct tso_result {
	enum tso_verdict verdict;
	/* Final states that the filter leaves, told apart by the test's names: `count` rows of
	 * `width` values in the order of the names, sorted, no two alike. */
	uint32_t width;
	size_t count;
	uint64_t *outcomes;
	size_t matching; /* of these, meet the condition */
	size_t explored; /* states of the abstract machine */
};

/* Explores a test with store buffers of so many entries (a store waits for room). On success the
 * result is to be freed with tso_free. False with *error set where the states are more than
 * `states_max` (TSO_STATES_MAX, or less) or take more than TSO_BYTES_MAX. */
bool tso_explore(const struct litmus *litmus, uint32_t buffer, size_t states_max,
		 struct tso_result *result, struct error *error);
void tso_free(struct tso_result *result);

/* Is this among the outcomes? `values` has `width` entries. Returns its row, or SIZE_MAX. */
size_t tso_find(const struct tso_result *result, const uint64_t *values);

/* "Allowed", "Forbidden", "Required", "Violated". */
const char *tso_verdict_name(enum tso_verdict verdict);

#endif
