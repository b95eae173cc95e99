/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms against sorted arrays; true and false sharing on traces small enough to classify by
 * hand, and on random ones against a second classifier; sums that must agree whatever ran. The
 * tests read configs and are run in the root of the project. */
#include "measure/results.h"
#include "tests/unit/suites.h"
#include "tests/unit/rig.h"
#include "workload/simulation.h"
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- histograms ----------------------------------------------------------------------------- */

static int by_value(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Nearest rank: the smallest value that at least the share does not exceed; a bucket's upper edge
 * is at most 1/64 above any value in it. */
static void check_percentiles(uint64_t *values, uint32_t count)
{
	static const uint32_t per_mille[] = { 0, 250, 500, 900, 950, 990, 1000 };
	struct histogram *histogram = calloc(1, sizeof(*histogram));

	CU_ASSERT_FATAL(histogram != NULL);
	for (uint32_t k = 0; k < count; k++)
		histogram_add(histogram, values[k]);
	qsort(values, count, sizeof(*values), by_value);
	for (size_t k = 0; k < sizeof(per_mille) / sizeof(per_mille[0]); k++) {
		uint64_t rank = ((uint64_t)per_mille[k] * count + 999) / 1000;
		uint64_t exact = values[rank ? rank - 1 : 0];
		uint64_t got = histogram_percentile(histogram, per_mille[k] / 1000.0);

		CU_ASSERT(got >= exact && got - exact <= exact / 64);
	}
	CU_ASSERT_EQUAL(histogram->count, count);
	CU_ASSERT_EQUAL(histogram->max, values[count - 1]);
	free(histogram);
}

static void percentiles_are_those_of_a_sorted_array_within_a_64th(void)
{
	enum { MOST = 3000 };
	static const uint32_t counts[] = { 1, 2, 3, 10, 100, 1000, MOST };
	struct random random = random_stream(1, "test.histogram", 0);
	static uint64_t values[MOST];

	for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); n++)
		for (int kind = 0; kind < 4; kind++) {
			for (uint32_t k = 0; k < counts[n]; k++)
				values[k] =
					kind == 0   ? random_below(&random, 64)
					: kind == 1 ? random_below(&random, 100000)
					: kind == 2
						? (uint64_t)random_exponential(&random, 5000)
						: random_next(&random) >> random_below(&random, 64);
			check_percentiles(values, counts[n]);
		}
}

static void the_edges_of_a_histogram_hold(void)
{
	uint64_t values[] = { 0, 63, 64, 65, 127, 128, 129, UINT64_MAX / 2, UINT64_MAX - 1 };

	for (uint32_t k = 1; k <= sizeof(values) / sizeof(values[0]); k++)
		check_percentiles(values, k);
}

static void small_values_are_exact_and_the_mean_always(void)
{
	struct histogram *histogram = calloc(1, sizeof(*histogram));

	CU_ASSERT_FATAL(histogram != NULL);
	CU_ASSERT_EQUAL(histogram_percentile(histogram, 0.5), 0);
	CU_ASSERT_EQUAL(histogram_mean(histogram), 0);
	for (uint64_t value = 1; value <= 60; value++)
		histogram_add(histogram, value);
	CU_ASSERT_EQUAL(histogram_percentile(histogram, 0.5), 30);
	CU_ASSERT_EQUAL(histogram_percentile(histogram, 0.95), 57);
	histogram_add(histogram, 1000000);
	CU_ASSERT_EQUAL(histogram_mean(histogram), (60 * 61 / 2 + 1000000) / 61.0);
	free(histogram);
}

/* ---- traces --------------------------------------------------------------------------------- */

/* Threads take steps in turn, RIG_GAP apart; every stall is booked. */
enum { WORDS = 8, CORES = RIG_SOCKETS * RIG_CORES, PAIRS_MAX = 64 };

static void note_stall(void *context, struct thread *thread, const struct stall *stall)
{
	(void)thread;
	sharing_stalled(context, stall);
}

/* Ends what is open and returns the pairs. */
static const struct pair *conclude(struct sharing *sharing, uint32_t *count)
{
	for (uint32_t core = 0; core < CORES; core++)
		sharing_finish(sharing, core);
	return sharing_pairs(sharing, count);
}

static struct sharing *observe(struct machine *machine)
{
	struct sharing *sharing = sharing_new(machine);

	CU_ASSERT_FATAL(sharing != NULL);
	machine->meter = (struct meter){ .context = sharing,
					 .stalled = note_stall,
					 .touched = sharing_touched };
	machine->coherence->observer = (struct observer){ .context = sharing,
							  .gained = sharing_gained,
							  .lost = sharing_lost };
	return sharing;
}

/* A word of 4 bytes of line 0, as a field of its own number. */
static struct place word(uint32_t k)
{
	struct place place = rig_place(0, 4 * k, 4);

	place.field = (uint16_t)(1 + k);
	return place;
}

/* A trace in letters: "0r3 1a3" is core 0 reads word 3, core 1 adds to it. Capital words lie on
 * lines of their own, one letter apart: "0rB". (A is not to be used: its field is word 7's.) */
static uint32_t trace_read(const char *text, struct rig_step *steps)
{
	uint32_t count = 0;

	for (; *text; text += text[3] ? 4 : 3) {
		struct place place = text[2] >= 'A' ? rig_line((uint32_t)(text[2] - 'A') + 1)
						    : word((uint32_t)(text[2] - '0'));

		steps[count++] =
			(struct rig_step){ .cpu = (uint32_t)(text[0] - '0'),
					   .operation = text[1] == 'r' ? RIG_LOAD : RIG_ADD,
					   .place = place,
					   .operand = 1 };
	}
	return count;
}

/* Runs a trace and writes each stall of line 0 as victim<culprit:verdict, by victim, then culprit,
 * "x2" where there were two. */
static void classify(const struct machine_config *config, const char *trace, char *out, size_t size)
{
	static const char *const names[VERDICT_COUNT] = { "cold", "capacity", "true", "false" };
	struct machine *machine = rig_machine(config);
	struct sharing *sharing = observe(machine);
	struct rig_step steps[64];
	uint32_t count;

	rig_serial(machine, steps, trace_read(trace, steps));
	const struct pair *pairs = conclude(sharing, &count);

	*out = '\0';
	for (uint16_t victim = 1; victim <= WORDS; victim++)
		for (uint16_t culprit = 0; culprit <= WORDS; culprit++)
			for (uint32_t k = 0; k < count; k++) {
				size_t at = strlen(out);
				char from[2] = { (char)(culprit ? '0' + culprit - 1 : '-'), 0 };

				if (pairs[k].victim != victim || pairs[k].culprit != culprit)
					continue;
				snprintf(out + at, size - at, "%s%d<%s:%s", at ? " " : "",
					 victim - 1, from, names[pairs[k].verdict]);
				if (pairs[k].count > 1)
					snprintf(out + strlen(out), size - strlen(out), "x%d",
						 (int)pairs[k].count);
			}
	sharing_free(sharing);
	machine_free(machine);
}

struct trace {
	const char *steps, *expected;
};

static void check_traces(const struct machine_config *config, const struct trace *traces)
{
	for (; traces->steps; traces++) {
		char got[512];

		classify(config, traces->steps, got, sizeof(got));
		CU_ASSERT_STRING_EQUAL(got, traces->expected);
		if (strcmp(got, traces->expected))
			printf("\n  %s\n   got: %s\n  want: %s\n", traces->steps, got,
			       traces->expected);
	}
}

static void the_first_miss_of_a_core_is_cold(void)
{
	static const struct trace traces[] = {
		{ "0r0", "0<-:cold" },
		{ "0r0 0r1 0a2", "0<-:cold" },
		/* also where another core has written the word */
		{ "0a0 1r0 2r1", "0<-:coldx2 1<-:cold" },
		{ NULL, NULL },
	};
	const struct machine_config config = rig_config();

	check_traces(&config, traces);
}

/* Core 1 has read word 0, core 0 takes the line back, core 1 misses. The additions of core 0 are
 * upgrades: core 1 was the reader. */
static void a_miss_for_a_word_that_another_core_wrote_is_true_sharing(void)
{
	static const struct trace traces[] = {
		{ "0a0 1r0 0a0 1r0", "0<-:coldx2 0<0:truex2" },
		{ "0a0 1a0 0a0 1a0", "0<-:coldx2 0<0:truex2" },
		{ NULL, NULL },
	};
	const struct machine_config config = rig_config();

	check_traces(&config, traces);
}

static void a_miss_for_the_neighbour_of_a_written_word_is_false_sharing(void)
{
	static const struct trace traces[] = {
		{ "0a0 1a1 0a0 1a1", "0<-:cold 0<1:false 1<-:cold 1<0:false" },
		{ "0a0 1r1 0a0 1r1", "0<-:cold 0<1:false 1<-:cold 1<0:false" },
		/* what the core wrote itself is no news to it */
		{ "1a1 0a0 1a1 0a0 1r1", "0<-:cold 0<1:false 1<-:cold 1<0:falsex2" },
		{ NULL, NULL },
	};
	const struct machine_config config = rig_config();

	check_traces(&config, traces);
}

/* The miss for word 1 brings word 0 too, which is read before the copy is lost: the transfer was
 * needed. */
static void a_changed_word_read_later_in_the_lifetime_makes_the_miss_true(void)
{
	static const struct trace traces[] = {
		{ "0a0 1a1 0a0 1a1 1r0", "0<-:cold 0<1:false 1<-:cold 1<0:true" },
		{ "0a0 1a1 0a0 1a1 1r2 1a0", "0<-:cold 0<1:false 1<-:cold 1<0:true" },
		/* once the copy is lost it is too late */
		{ "0a0 1a1 0a0 1a1 0a2 1r0",
		  "0<-:cold 0<1:false 0<2:true 1<-:cold 1<0:false 2<1:false" },
		{ NULL, NULL },
	};
	const struct machine_config config = rig_config();

	check_traces(&config, traces);
}

/* Core 1 misses for word 1 twice, and only the second time reads word 0, which was written before
 * the first: it has not seen that value yet, since a false miss is not essential. */
static void what_was_missed_in_a_false_miss_is_still_news(void)
{
	static const struct trace traces[] = {
		{ "1a1 0a0 1a1 0a2 1a1 1r0", "0<-:cold 1<-:cold 1<0:false 1<2:true 2<1:false" },
		/* but what came with an essential miss, or a cold one, is not */
		{ "0a0 1a1 0a2 1a1 1r0", "0<-:cold 1<-:cold 1<2:false 2<1:false" },
		{ "1a1 0a0 1r0 0a2 1a1 1r0", "0<-:cold 0<0:true 1<-:cold 1<2:false 2<0:false" },
		{ NULL, NULL },
	};
	const struct machine_config config = rig_config();

	check_traces(&config, traces);
}

/* Every core that reads was served by the last who wrote; that one's next write is an upgrade, and
 * it is the reader's word that counts. */
static void an_upgrade_is_true_sharing_if_the_reader_read_that_word(void)
{
	static const struct trace traces[] = {
		{ "0a0 1r0 0a0", "0<-:coldx2 0<0:true" },
		{ "0a0 1r1 0a0", "0<-:cold 0<1:false 1<-:cold" },
		/* of several, the last */
		{ "0a0 1r0 2r1 0a0", "0<-:coldx2 0<1:false 1<-:cold" },
		{ NULL, NULL },
	};
	const struct machine_config config = rig_config();

	check_traces(&config, traces);
}

/* It reads word 0 itself, in the copy that it still has, before it writes: that is not what the
 * upgrade is for. */
static void an_upgrade_is_not_blamed_on_the_writer_that_looked_before(void)
{
	static const struct trace traces[] = {
		{ "0a0 1r1 0r0 0a0", "0<-:cold 0<1:false 1<-:cold" },
		{ "0a0 1r1 0r2 0a0", "0<-:cold 0<1:false 1<-:cold" },
		{ NULL, NULL },
	};
	const struct machine_config config = rig_config();

	check_traces(&config, traces);
}

/* Core 1 gave itself a copy that it may only read: where nobody else has read since the last write,
 * its own read is what the upgrade is for. Who read before that write has nothing to do with it. */
static void an_upgrade_of_the_only_reader_is_for_its_own_read(void)
{
	static const struct trace traces[] = {
		{ "0a0 1r0 1a0", "0<-:coldx2 0<0:true" },
		{ "0a0 1r1 1a2", "0<-:cold 1<-:cold 2<1:false" },
		{ "2r3 0a0 1r1 1a1", "0<-:cold 1<-:cold 1<1:true 3<-:cold" },
		{ NULL, NULL },
	};
	const struct machine_config config = rig_config();

	check_traces(&config, traces);
}

/* The L2 has 2 sets of 3 lines. B, D and F, the second, fourth and sixth after line 0, are of its
 * set; C and E of the other. */
static void a_miss_on_a_line_that_had_to_make_room_is_capacity(void)
{
	static const struct trace traces[] = {
		{ "0r0 0rB 0rD 0rF 0r0", "0<-:cold 0<-:capacity" },
		{ "0r0 0rB 0rD 0rC 0rE 0r0", "0<-:cold" },
		{ NULL, NULL },
	};
	struct machine_config config = rig_config();

	rig_shrink(&config);
	check_traces(&config, traces);
}

static void a_wait_for_the_sibling_is_true_sharing_with_the_own_field(void)
{
	struct machine_config config = rig_config();
	struct machine *machine = rig_machine(&config);
	struct sharing *sharing = observe(machine);
	struct stall stall = { .copy = NULL };
	uint32_t count;

	/* cpu 0 has the line in its L1; the wait is made by hand */
	struct rig_step step = { .cpu = 0, .operation = RIG_ADD, .place = word(2) };

	rig_serial(machine, &step, 1);
	stall.copy =
		cache_find(machine->coherence, &machine->coherence->cores[0], rig_line(0).address);
	CU_ASSERT_FATAL(stall.copy != NULL);
	stall.origin = (struct origin){ .field = 3, .offset = 8, .size = 4 };
	stall.local = true;
	stall.cycles = 7;
	sharing_stalled(sharing, &stall);
	const struct pair *pairs = sharing_pairs(sharing, &count);

	CU_ASSERT_EQUAL_FATAL(count, 2);
	CU_ASSERT_EQUAL(pairs[1].cycles, 7);
	CU_ASSERT_EQUAL(pairs[1].victim, 3);
	CU_ASSERT_EQUAL(pairs[1].culprit, 3);
	CU_ASSERT_EQUAL(pairs[1].verdict, VERDICT_TRUE);
	sharing_free(sharing);
	machine_free(machine);
}

/* A word is 4 bytes: fields that share one cannot be told apart, halves of a wide one can. */
static void sharing_is_judged_by_words_of_four_bytes(void)
{
	static const struct {
		uint32_t written, written_size, read, read_size;
		enum verdict verdict;
	} cases[] = {
		{ 0, 8, 0, 8, VERDICT_TRUE },  { 0, 4, 0, 8, VERDICT_TRUE },
		{ 4, 4, 0, 8, VERDICT_TRUE },  { 0, 8, 4, 4, VERDICT_TRUE },
		{ 0, 4, 4, 4, VERDICT_FALSE }, { 4, 4, 0, 4, VERDICT_FALSE },
		{ 0, 8, 8, 8, VERDICT_FALSE }, { 0, 1, 2, 2, VERDICT_TRUE },
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct place written =
			rig_place(0, cases[k].written, (uint8_t)cases[k].written_size);
		struct place read = rig_place(0, cases[k].read, (uint8_t)cases[k].read_size);

		written.field = 1;
		read.field = 2;

		struct rig_step steps[] = {
			{ .cpu = 1, .operation = RIG_LOAD, .place = read },
			{ .cpu = 0, .operation = RIG_ADD, .place = written, .operand = 1 },
			{ .cpu = 1, .operation = RIG_LOAD, .place = read },
		};
		struct machine_config config = rig_config();
		struct machine *machine = rig_machine(&config);
		struct sharing *sharing = observe(machine);
		uint32_t count, found = 0;

		rig_serial(machine, steps, 3);
		const struct pair *pairs = conclude(sharing, &count);

		for (uint32_t p = 0; p < count; p++)
			found += pairs[p].verdict == cases[k].verdict &&
				 pairs[p].culprit == written.field;
		CU_ASSERT_EQUAL(found, 1);
		sharing_free(sharing);
		machine_free(machine);
	}
}

/* ---- a second classifier -------------------------------------------------------------------- */

/* One line, serial accesses, no evictions: by the definition itself, with the whole trace at hand.
 * A miss is true sharing if, before the core loses the copy, it touches a word that another core
 * wrote after the core's last essential miss; a cold miss is essential, and so is a true one. */
enum { TRACE = 60 };

struct oracle {
	struct rig_step steps[TRACE];
	int64_t last_write[WORDS]; /* step */
	int64_t essential[CORES], missed[CORES];
	bool held[CORES], seen[CORES], open[CORES];
	uint16_t victim[CORES], culprit[CORES], lost_to[CORES];
	uint32_t count[VERDICT_COUNT][WORDS + 1][WORDS + 1];
};

static void oracle_close(struct oracle *oracle, uint32_t core, enum verdict verdict)
{
	if (!oracle->open[core])
		return;
	oracle->count[verdict][oracle->victim[core]][oracle->culprit[core]]++;
	oracle->open[core] = false;
	if (verdict == VERDICT_TRUE)
		oracle->essential[core] = oracle->missed[core];
}

static void oracle_miss(struct oracle *oracle, uint32_t core, uint16_t field, int64_t step)
{
	oracle->held[core] = true;
	oracle->missed[core] = step;
	if (!oracle->seen[core]) {
		oracle->seen[core] = true;
		oracle->essential[core] = step;
		oracle->count[VERDICT_COLD][field][0]++;
		return;
	}
	oracle->open[core] = true;
	oracle->victim[core] = field;
	oracle->culprit[core] = oracle->lost_to[core];
}

/* Who wrote a word last is in the steps. */
static bool oracle_news(const struct oracle *oracle, uint32_t core, uint32_t k)
{
	int64_t wrote = oracle->last_write[k];

	return wrote >= 0 && wrote > oracle->essential[core] && oracle->steps[wrote].cpu != core;
}

static void oracle_run(struct oracle *oracle)
{
	for (int k = 0; k < WORDS; k++)
		oracle->last_write[k] = -1;
	for (int64_t step = 0; step < TRACE; step++) {
		const struct rig_step *now = &oracle->steps[step];
		uint32_t core = now->cpu, k = now->place.field - 1u;

		if (!oracle->held[core])
			oracle_miss(oracle, core, now->place.field, step);
		if (oracle_news(oracle, core, k))
			oracle_close(oracle, core, VERDICT_TRUE);
		if (now->operation == RIG_LOAD)
			continue;
		oracle->last_write[k] = step;
		for (uint32_t other = 0; other < CORES; other++)
			if (other != core && oracle->held[other]) {
				oracle_close(oracle, other, VERDICT_FALSE);
				oracle->held[other] = false;
				oracle->lost_to[other] = now->place.field;
			}
	}
	for (uint32_t core = 0; core < CORES; core++)
		oracle_close(oracle, core, VERDICT_FALSE);
}

/* Upgrades are not in the oracle. They are left out on both sides by a trace in which nobody writes
 * a copy that others share: a core that writes when it may only read gives way to a read. */
static void random_trace(struct random *random, struct oracle *oracle)
{
	bool held[CORES] = { false };
	int owner = -1; /* may write without asking */

	for (int k = 0; k < TRACE; k++) {
		uint32_t core = (uint32_t)random_below(random, 4) * 2;
		bool write = random_below(random, 2) && (owner == (int)core || !held[core]);

		if (write)
			memset(held, 0, sizeof(held));
		owner = write ? (int)core : held[core] && owner == (int)core ? owner : -1;
		held[core] = true;
		oracle->steps[k] =
			(struct rig_step){ .cpu = core,
					   .operation = write ? RIG_ADD : RIG_LOAD,
					   .place = word((uint32_t)random_below(random, WORDS)),
					   .operand = 1 };
	}
}

static uint32_t differences(const struct oracle *oracle, const struct pair *pairs, uint32_t count)
{
	uint32_t wrong = 0;

	for (int v = 0; v < VERDICT_COUNT; v++)
		for (uint16_t victim = 0; victim <= WORDS; victim++)
			for (uint16_t culprit = 0; culprit <= WORDS; culprit++) {
				uint64_t got = 0;

				for (uint32_t k = 0; k < count; k++)
					if (pairs[k].verdict == v && pairs[k].victim == victim &&
					    pairs[k].culprit == culprit)
						got = pairs[k].count;
				wrong += got != oracle->count[v][victim][culprit];
			}
	return wrong;
}

static void random_traces_are_classified_as_by_the_definition(void)
{
	enum { TRACES = 300 };
	struct random random = random_stream(1, "test.sharing", 0);
	uint64_t sum[VERDICT_COUNT] = { 0 };

	for (int k = 0; k < TRACES; k++) {
		struct oracle oracle = { .held = { false } };
		struct machine_config config = rig_config();
		struct machine *machine = rig_machine(&config);
		struct sharing *sharing = observe(machine);
		uint32_t count;

		random_trace(&random, &oracle);
		oracle_run(&oracle);
		rig_serial(machine, oracle.steps, TRACE);
		const struct pair *pairs = conclude(sharing, &count);

		CU_ASSERT_EQUAL(differences(&oracle, pairs, count), 0);
		for (uint32_t p = 0; p < count; p++)
			sum[pairs[p].verdict] += pairs[p].count;
		sharing_free(sharing);
		machine_free(machine);
	}
	CU_ASSERT(sum[VERDICT_TRUE] > 1000 && sum[VERDICT_FALSE] > 1000);
}

/* ---- every stall ----------------------------------------------------------------------------- */

struct tally {
	struct sharing *sharing;
	uint64_t cycles, queued, count;
};

static void tally_stall(void *context, struct thread *thread, const struct stall *stall)
{
	struct tally *tally = context;

	(void)thread;
	tally->cycles += stall->cycles;
	tally->queued += stall->queued;
	tally->count++;
	sharing_stalled(tally->sharing, stall);
}

static void tally_touch(void *context, uint32_t core, struct copy *copy,
			const struct origin *origin)
{
	sharing_touched(((struct tally *)context)->sharing, core, copy, origin);
}

static void pairs_hold_every_stall_of_a_storm(void)
{
	for (uint32_t variant = 0; variant < RIG_VARIANTS; variant++) {
		struct machine_config config = rig_config();
		struct tally tally = { .cycles = 0 };
		uint64_t cycles = 0, queued = 0, stalls = 0, waits = 0;
		uint32_t count;

		rig_variant(&config, variant);
		if (variant % 2)
			rig_shrink(&config);
		struct machine *machine = rig_machine(&config);

		tally.sharing = observe(machine);
		machine->meter = (struct meter){ .context = &tally,
						 .stalled = tally_stall,
						 .touched = tally_touch };
		struct storm *storm = rig_storm(machine, 12, 6, 500, 1);

		rig_run(machine);
		const struct pair *pairs = conclude(tally.sharing, &count);

		for (uint32_t k = 0; k < count; k++) {
			cycles += pairs[k].cycles;
			queued += pairs[k].queued;
			stalls += pairs[k].count;
		}
		for (uint32_t k = 0; k < machine->thread_count; k++)
			waits += machine->threads[k]->wait_cycles;
		CU_ASSERT(tally.count > 1000 && tally.queued > 0);
		CU_ASSERT_EQUAL(cycles, tally.cycles);
		CU_ASSERT_EQUAL(queued, tally.queued);
		CU_ASSERT_EQUAL(stalls, tally.count);
		CU_ASSERT_EQUAL(waits, tally.cycles);
		storm_free(storm);
		sharing_free(tally.sharing);
		machine_free(machine);
	}
}

/* ---- sums ----------------------------------------------------------------------------------- */

static char directory[] = "/tmp/hitm-measure-XXXXXX";

static int directory_make(void)
{
	return mkdtemp(directory) ? 0 : -1;
}

static int directory_remove(void)
{
	return rmdir(directory);
}

static void layout_write(const char *name, const char *fields)
{
	char path[100];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.yaml", directory, name);
	file = fopen(path, "w");
	CU_ASSERT_FATAL(file != NULL);
	fprintf(file,
		"layout: %s\nstruct: cell\nsize: 256 B\nalign: 64 B\nsource: test\nfields:\n%s",
		name, fields);
	fclose(file);
}

static void layout_remove(const char *name)
{
	char path[100];

	snprintf(path, sizeof(path), "%s/%s.yaml", directory, name);
	unlink(path);
}

struct override {
	const char *path, *value;
};

static struct simulation run(const char *text, const char *machine, const struct override *set,
			     struct run_options options)
{
	struct error error = { "" };
	struct setting setting = { document_parse("t.yaml", text, strlen(text), &error),
				   document_load(machine, &error) };
	struct simulation simulation = { .build = NULL };
	bool done = setting.experiment && setting.machine;

	for (; done && set && set->path; set++)
		done = setting_override_text(&setting, set->path, set->value, "test", &error);
	done = done && simulation_run(&simulation, &setting, &options, &error);
	if (!done)
		printf("\n  %s\n", error.text);
	CU_ASSERT_FATAL(done);
	setting_free(&setting);
	return simulation;
}

/* Everything that is said of stalls adds up: per pair, per field, per part and per thread. */
static void check_sums(const struct simulation *simulation)
{
	static const enum part part_of[VERDICT_COUNT] = { PART_COLD, PART_CAPACITY, PART_TRUE,
							  PART_FALSE };
	const struct measure *measure = simulation->measure;
	uint64_t parts[PART_COUNT] = { 0 }, pairs = 0, stalls = 0, waits = 0, fields = 0,
		 misses = 0, sum = 0, span = 0;
	uint32_t count;
	const struct pair *pair = sharing_pairs(measure->sharing, &count);

	for (uint32_t k = 0; k < count; k++) {
		CU_ASSERT(pair[k].queued <= pair[k].cycles);
		parts[part_of[pair[k].verdict]] += pair[k].cycles - pair[k].queued;
		parts[PART_QUEUE] += pair[k].queued;
		pairs += pair[k].cycles;
		stalls += pair[k].count;
	}
	for (int k = 0; k < VERDICT_COUNT; k++)
		CU_ASSERT_EQUAL(parts[part_of[k]], measure->parts[part_of[k]]);
	CU_ASSERT_EQUAL(parts[PART_QUEUE], measure->parts[PART_QUEUE]);
	for (uint32_t k = 0; k < measure->field_count; k++) {
		fields += measure->fields[k].stall;
		misses += measure->fields[k].misses;
	}
	for (uint32_t k = 0; k < measure->machine->thread_count; k++) {
		waits += measure->windows[k].wait;
		span += measure->windows[k].end - measure->windows[k].begin;
	}
	for (int k = 0; k < PART_COUNT; k++)
		sum += measure->parts[k];
	CU_ASSERT_EQUAL(fields, pairs);
	CU_ASSERT_EQUAL(waits, pairs);
	CU_ASSERT_EQUAL(misses, stalls);
	CU_ASSERT_EQUAL(sum, measure->total);
	CU_ASSERT_EQUAL(span, measure->total);
}

enum { FIELDS = 12 };

/* Twelve fields of 8 bytes over two and a half lines. */
static void cell_write(const char *name)
{
	char fields[FIELDS * 40] = "";

	for (int k = 0; k < FIELDS; k++)
		snprintf(fields + strlen(fields), sizeof(fields) - strlen(fields),
			 "  f%d: {offset: %d, size: 8}\n", k, 8 * k + (k > 6) * 32 + (k > 9) * 32);
	layout_write(name, fields);
}

static void add_steps(struct random *random, char *text, size_t size)
{
	static const char *const operations[] = { "read", "read",    "read", "write",
						  "add",  "cmpxchg", "xchg" };
	uint32_t steps = 2 + (uint32_t)random_below(random, 6);

	for (uint32_t k = 0; k < steps; k++) {
		size_t at = strlen(text);

		snprintf(text + at, size - at, "{%s: [%c.f%u, %c.f%u]}, ",
			 operations[random_below(random, 7)], "xyz"[random_below(random, 3)],
			 (unsigned)random_below(random, FIELDS), "xyz"[random_below(random, 3)],
			 (unsigned)random_below(random, FIELDS));
	}
	snprintf(text + strlen(text), size - strlen(text), "{work: %u cycles, jitter: 0.5}",
		 (unsigned)random_below(random, 1000));
}

/* Two groups of threads on two shared objects and one of each thread's own. */
static void random_workload(struct random *random, char *text, size_t size)
{
	snprintf(text, size,
		 "layouts: {cell: cell}\n"
		 "measure: {warmup: 5 us, duration: 60 us}\n"
		 "workload:\n"
		 "  model: loop\n"
		 "  objects: {x: {struct: cell}, y: {struct: cell, count: 5}, "
		 "z: {struct: cell, per_thread: true}}\n"
		 "  groups:\n"
		 "    a: {threads: %u, each: [",
		 1 + (unsigned)random_below(random, 5));
	add_steps(random, text, size);
	snprintf(text + strlen(text), size - strlen(text), "]}\n    b: {threads: %u, each: [",
		 2 + (unsigned)random_below(random, 11));
	add_steps(random, text, size);
	snprintf(text + strlen(text), size - strlen(text), "]}\n");
}

static const struct override small_caches[] = {
	{ "machine.core.l1", "{size: 256 B, ways: 2, latency: 4 cycles}" },
	{ "machine.core.l2", "{size: 768 B, ways: 3, latency: 14 cycles}" },
	{ "machine.s_eviction", "exact" },
	{ NULL, NULL },
};

static void parts_pairs_and_fields_add_up_on_random_workloads(void)
{
	enum { WORKLOADS = 40 };
	struct random random = random_stream(1, "test.sums", 0);
	uint64_t parts[PART_COUNT] = { 0 };

	cell_write("cell");
	for (uint32_t k = 0; k < WORKLOADS; k++) {
		char text[4096];

		random_workload(&random, text, sizeof(text));
		struct simulation simulation =
			run(text, "configs/machines/skx-2s-18c.yaml", k % 2 ? small_caches : NULL,
			    (struct run_options){ .seed = k + 1,
						  .paranoid = true,
						  .take_turns = k % 3 == 0,
						  .ideal_layout = k % 5 == 0,
						  .ideal_atomics = k % 7 == 0,
						  .layout_directory = directory });

		check_sums(&simulation);
		for (int p = 0; p < PART_COUNT; p++)
			parts[p] += simulation.measure->parts[p];
		simulation_free(&simulation);
	}
	layout_remove("cell");
	for (int p = 0; p < PART_COUNT; p++)
		CU_ASSERT(p == PART_COLD || p == PART_IDLE || parts[p] > 0);
}

/* The store's line comes from memory after 80 cycles, long before the work is done. */
static void work_then_add(struct thread *self, void *argument)
{
	const struct place stored = rig_line(0), added = rig_line(1);

	(void)argument;
	thread_store(self, &stored, 1);
	thread_work(self, 1000);
	thread_rmw(self, &added, RMW_ADD, 1, 0);
}

static void a_store_that_came_during_work_is_not_waited_for_after_it(void)
{
	for (int ahead = 0; ahead < 2; ahead++) {
		struct machine_config config = rig_config();

		config.run_ahead = ahead;
		struct machine *machine = rig_machine(&config);
		struct thread *thread = rig_thread(machine, 0, work_then_add, NULL);

		rig_run(machine);
		CU_ASSERT_EQUAL(thread->time, 1 + 1000 + 80 + 18);
		CU_ASSERT_EQUAL(thread->wait_cycles, 80);
		machine_free(machine);
	}
}

/* The base variant of memcg-2022, by itself. */
static struct simulation run_memcg(const char *settings, bool ideal_layout)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "layouts: {mem_cgroup: mem_cgroup-6.0-rc1}\n"
		 "measure: {warmup: 100 us, duration: 200 us}\n"
		 "workload: {model: netperf_sendfile, levels: 3, work: 2 us, truesize_scale: 3, "
		 "protect: {level: 1, min: 1 MiB, low: 2 MiB}, %s}\n",
		 settings);
	return run(text, "configs/machines/skx-2s-18c.yaml", NULL,
		   (struct run_options){ .seed = 1,
					 .ideal_layout = ideal_layout,
					 .layout_directory = "configs/layouts" });
}

static void parts_pairs_and_fields_add_up_on_netperf(void)
{
	struct simulation simulation = run_memcg("pairs: 36", false);

	check_sums(&simulation);
	CU_ASSERT(simulation.measure->parts[PART_IDLE] > 0);
	CU_ASSERT(simulation.measure->parts[PART_FALSE] > 0);
	simulation_free(&simulation);
}

/* ---- layouts -------------------------------------------------------------------------------- */

static void an_ideal_layout_has_no_false_sharing(void)
{
	struct random random = random_stream(2, "test.ideal", 0);
	struct simulation simulation = run_memcg("pairs: 18", true);

	CU_ASSERT_EQUAL(simulation.measure->parts[PART_FALSE], 0);
	CU_ASSERT(simulation.measure->parts[PART_TRUE] > 0);
	simulation_free(&simulation);
	cell_write("cell");
	for (uint32_t k = 0; k < 10; k++) {
		const struct pair *pairs;
		char text[4096];
		uint32_t count;

		random_workload(&random, text, sizeof(text));
		simulation = run(text, "configs/machines/skx-2s-18c.yaml", NULL,
				 (struct run_options){ .seed = 1,
						       .ideal_layout = true,
						       .layout_directory = directory });
		pairs = sharing_pairs(simulation.measure->sharing, &count);
		for (uint32_t p = 0; p < count; p++)
			CU_ASSERT_NOT_EQUAL(pairs[p].verdict, VERDICT_FALSE);
		simulation_free(&simulation);
	}
	layout_remove("cell");
}

/* All that is reported, by name. */
static json_t *results_of(const char *layout)
{
	char text[512];
	json_t *results;

	snprintf(text, sizeof(text),
		 "layouts: {cell: %s}\n"
		 "measure: {warmup: 5 us, duration: 50 us}\n"
		 "workload:\n"
		 "  model: loop\n"
		 "  objects: {x: {struct: cell}}\n"
		 "  groups:\n"
		 "    a: {threads: 9, each: [{read: [x.limit, x.flags]}, {add: x.packets}, "
		 "{work: 200 cycles, jitter: 0.5}]}\n"
		 "    b: {threads: 11, each: [{write: x.bytes}, {read: x.limit}, "
		 "{work: 300 cycles, jitter: 0.5}]}\n",
		 layout);
	struct simulation simulation =
		run(text, "configs/machines/skx-2s-18c.yaml", NULL,
		    (struct run_options){ .seed = 1, .layout_directory = directory });

	results = results_variant(simulation.measure, &simulation.build->memory,
				  (const char *const[]){ "a", "b", NULL });
	simulation_free(&simulation);
	CU_ASSERT_FATAL(results != NULL);
	return results;
}

static void check_same_results(const char *fields, bool same)
{
	json_t *base, *changed;

	layout_write("base", "  packets: {offset: 0, size: 8}\n"
			     "  unused: {offset: 8, size: 4}\n"
			     "  limit: {offset: 16, size: 8}\n"
			     "  flags: {offset: 64, size: 4}\n"
			     "  bytes: {offset: 72, size: 8}\n");
	layout_write("changed", fields);
	base = results_of("base");
	changed = results_of("changed");
	CU_ASSERT_EQUAL(json_equal(base, changed), same);
	json_decref(base);
	json_decref(changed);
	layout_remove("base");
	layout_remove("changed");
}

static void renaming_a_field_that_nobody_touches_changes_nothing(void)
{
	check_same_results("  packets: {offset: 0, size: 8}\n"
			   "  spare: {offset: 8, size: 4}\n"
			   "  limit: {offset: 16, size: 8}\n"
			   "  flags: {offset: 64, size: 4}\n"
			   "  bytes: {offset: 72, size: 8}\n",
			   true);
}

static void moving_a_field_that_nobody_touches_changes_nothing(void)
{
	static const char *const others = "  packets: {offset: 0, size: 8}\n"
					  "  limit: {offset: 16, size: 8}\n"
					  "  flags: {offset: 64, size: 4}\n"
					  "  bytes: {offset: 72, size: 8}\n";
	static const uint32_t offsets[] = { 12, 32, 68, 128, 252 };

	for (size_t k = 0; k < sizeof(offsets) / sizeof(offsets[0]); k++) {
		char fields[300];

		snprintf(fields, sizeof(fields), "%s  unused: {offset: %u, size: 4}\n", others,
			 offsets[k]);
		check_same_results(fields, true);
	}
	check_same_results(others, true);
}

static void moving_a_field_that_is_touched_changes_something(void)
{
	check_same_results("  packets: {offset: 0, size: 8}\n"
			   "  unused: {offset: 8, size: 4}\n"
			   "  limit: {offset: 128, size: 8}\n"
			   "  flags: {offset: 64, size: 4}\n"
			   "  bytes: {offset: 72, size: 8}\n",
			   false);
}

void suite_measure(void)
{
	CU_pSuite suite = CU_add_suite("measure", directory_make, directory_remove);

	CU_ADD_TEST(suite, percentiles_are_those_of_a_sorted_array_within_a_64th);
	CU_ADD_TEST(suite, the_edges_of_a_histogram_hold);
	CU_ADD_TEST(suite, small_values_are_exact_and_the_mean_always);
	CU_ADD_TEST(suite, the_first_miss_of_a_core_is_cold);
	CU_ADD_TEST(suite, a_miss_for_a_word_that_another_core_wrote_is_true_sharing);
	CU_ADD_TEST(suite, a_miss_for_the_neighbour_of_a_written_word_is_false_sharing);
	CU_ADD_TEST(suite, a_changed_word_read_later_in_the_lifetime_makes_the_miss_true);
	CU_ADD_TEST(suite, what_was_missed_in_a_false_miss_is_still_news);
	CU_ADD_TEST(suite, an_upgrade_is_true_sharing_if_the_reader_read_that_word);
	CU_ADD_TEST(suite, an_upgrade_is_not_blamed_on_the_writer_that_looked_before);
	CU_ADD_TEST(suite, an_upgrade_of_the_only_reader_is_for_its_own_read);
	CU_ADD_TEST(suite, a_miss_on_a_line_that_had_to_make_room_is_capacity);
	CU_ADD_TEST(suite, a_wait_for_the_sibling_is_true_sharing_with_the_own_field);
	CU_ADD_TEST(suite, sharing_is_judged_by_words_of_four_bytes);
	CU_ADD_TEST(suite, random_traces_are_classified_as_by_the_definition);
	CU_ADD_TEST(suite, pairs_hold_every_stall_of_a_storm);
	CU_ADD_TEST(suite, parts_pairs_and_fields_add_up_on_random_workloads);
	CU_ADD_TEST(suite, a_store_that_came_during_work_is_not_waited_for_after_it);
	CU_ADD_TEST(suite, parts_pairs_and_fields_add_up_on_netperf);
	CU_ADD_TEST(suite, an_ideal_layout_has_no_false_sharing);
	CU_ADD_TEST(suite, renaming_a_field_that_nobody_touches_changes_nothing);
	CU_ADD_TEST(suite, moving_a_field_that_nobody_touches_changes_nothing);
	CU_ADD_TEST(suite, moving_a_field_that_is_touched_changes_something);
}
