/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/bout.h"
#include <math.h>
#include <string.h>

enum { TOKEN_ROUNDS = 25, TOKEN_WARM_ROUNDS = 5 };
static const double grace_s = 5;

/* ---- the token ------------------------------------------------------------------------------ */

/* The thread takes the token when it is its turn and passes it on, so many times. */
static bool pass(struct crewman *self, struct bout *bout, uint32_t times)
{
	uint64_t mine = self->index, next = (mine + 1) % bout->threads;

	for (uint32_t k = 0; k < times; k++) {
		while (__atomic_load_n(&bout->word, __ATOMIC_RELAXED) != mine)
			if (!crew_spin(self))
				return false;
		__atomic_exchange_n(&bout->word, next, __ATOMIC_SEQ_CST);
	}
	return true;
}

/* ns from hand to hand. */
static double token_ns(struct crewman *self, struct bout *bout)
{
	const struct host_clock *clock = bout->bench->clock;
	uint64_t start;

	if (!pass(self, bout, TOKEN_WARM_ROUNDS))
		return NAN;
	start = host_ticks(clock);
	pass(self, bout, TOKEN_ROUNDS);
	return host_ns(clock, host_ticks(clock) - start) / TOKEN_ROUNDS / bout->threads;
}

/* ---- batches -------------------------------------------------------------------------------- */

static bool near(double value, double wanted)
{
	return fabs(value - wanted) <= BOUT_TOLERANCE * wanted;
}

double bout_mode(const double *values, uint32_t count, double *share)
{
	double about[BOUT_BATCHES_MOST];
	uint32_t most = 0, best = 0, among = 0;

	for (uint32_t k = 0; k < count; k++) {
		uint32_t found = 0;

		for (uint32_t i = 0; i < count; i++)
			found += near(values[i], values[k]);
		best = found > most ? k : best;
		most = found > most ? found : most;
	}
	for (uint32_t i = 0; most && i < count && among < BOUT_BATCHES_MOST; i++)
		if (near(values[i], values[best]))
			about[among++] = values[i];
	*share = count ? (double)most / count : 0;
	return sample_of(about, among).median;
}

/* By one thread, between batches: keeps the account, and says whether to go on. */
static void account(struct bout *bout, uint64_t end)
{
	uint32_t batch = bout->batches++;
	bool good = !bout->judge || bout->judge(bout->argument, batch);

	bout->token[batch] = fmax(bout->before, bout->after);
	if (bout->token_ns > 0)
		good = good && near(bout->before, bout->token_ns) &&
		       near(bout->after, bout->token_ns);
	else
		good = good && near(bout->before, bout->after);
	bout->good[batch] = good;
	bout->accepted += good;
	bout->more = bout->accepted < bout->bench->batches && bout->batches < BOUT_BATCHES_MOST &&
		     host_monotonic_ns() < end;
}

static void bout_body(struct crewman *self, void *argument)
{
	struct bout *bout = argument;
	uint64_t end = host_monotonic_ns() + (uint64_t)(bout->bench->seconds * 1e9);
	bool leads = self->index == 0;

	while (crew_meet(self)) {
		double before = token_ns(self, bout), after;

		if (!crew_meet(self))
			return;
		bout->batch(self, bout->argument, bout->batches);
		if (!crew_meet(self))
			return;
		after = token_ns(self, bout);
		if (!crew_meet(self))
			return;
		if (leads) {
			bout->before = before;
			bout->after = after;
			account(bout, end);
		}
		if (!crew_meet(self) || !bout->more)
			return;
	}
}

/* Where no token was asked for, what it mostly took decides. */
static void settle(struct bout *bout)
{
	double tokens[BOUT_BATCHES_MOST], share;
	uint32_t count = 0;

	for (uint32_t k = 0; k < bout->batches; k++)
		if (bout->good[k])
			tokens[count++] = bout->token[k];
	bout->token_ns = bout_mode(tokens, count, &share);
	bout->accepted = 0;
	for (uint32_t k = 0; k < bout->batches; k++) {
		bout->good[k] = bout->good[k] && near(bout->token[k], bout->token_ns);
		bout->accepted += bout->good[k];
	}
}

bool bout_run(struct bout *bout, struct error *error)
{
	bout->batches = bout->accepted = 0;
	bout->word = 0;
	if (!crew_run(bout->bench->host, bout->order, bout->threads, bout->bench->seconds + grace_s,
		      bout_body, bout, error))
		return false;
	if (!(bout->token_ns > 0))
		settle(bout);
	return true;
}

struct sample bout_sample(const struct bout *bout, const double *values)
{
	double kept[BOUT_BATCHES_MOST];
	uint32_t count = 0;

	for (uint32_t k = 0; k < bout->batches; k++)
		if (bout->good[k])
			kept[count++] = values[k];
	return sample_of(kept, count);
}
