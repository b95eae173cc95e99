/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of perf_mem_data_src. They are built with the kernel's own header, or were printed by perf
 * beside their meaning; captures lie beside the project where they are at hand. */
#include "tests/unit/suites.h"
#include "trace/data_src.h"
#include <CUnit/CUnit.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LVL_NUM_L2_MHB = 5, LVL_NUM_MEMORY_CACHE = 6, LVL_NUM_UNCACHED = 8 };

static void expect_source(uint64_t bits, enum trace_source expected)
{
	enum trace_source got = data_src_decode(bits).source;

	CU_ASSERT_EQUAL(got, expected);
	if (got != expected)
		printf("\n   0x%llx: got %s, want %s\n", (unsigned long long)bits,
		       trace_source_names[got], trace_source_names[expected]);
}

/* ---- operations ---- */

static void op_bits_say_what_was_done(void)
{
	struct data_src load = data_src_decode(PERF_MEM_S(OP, LOAD));
	struct data_src store = data_src_decode(PERF_MEM_S(OP, STORE));
	struct data_src prefetch = data_src_decode(PERF_MEM_S(OP, PFETCH));
	struct data_src execute = data_src_decode(PERF_MEM_S(OP, EXEC));

	CU_ASSERT(load.load && !load.store && !load.prefetch && !load.execute);
	CU_ASSERT(!store.load && store.store && !store.prefetch && !store.execute);
	CU_ASSERT(!prefetch.load && !prefetch.store && prefetch.prefetch);
	CU_ASSERT(!execute.load && !execute.store && execute.execute);
}

static void op_not_available_says_nothing(void)
{
	struct data_src none = data_src_decode(PERF_MEM_S(OP, NA));

	CU_ASSERT(!none.load && !none.store && !none.prefetch && !none.execute);
}

static void only_the_locked_bit_means_locked(void)
{
	CU_ASSERT(data_src_decode(PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LOCK, LOCKED)).locked);
	CU_ASSERT(!data_src_decode(PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LOCK, NA)).locked);
}

/* ---- sources, with and without numbered levels ---- */

static void levels_by_bits_alone(void)
{
	static const struct {
		uint64_t lvl;
		enum trace_source source;
	} cases[] = {
		{ PERF_MEM_LVL_L1, SOURCE_L1 },
		{ PERF_MEM_LVL_LFB, SOURCE_FILL_BUFFER },
		{ PERF_MEM_LVL_L2, SOURCE_L2 },
		{ PERF_MEM_LVL_L3, SOURCE_LLC },
		{ PERF_MEM_LVL_LOC_RAM, SOURCE_DRAM_LOCAL },
		{ PERF_MEM_LVL_REM_RAM1, SOURCE_DRAM_REMOTE },
		{ PERF_MEM_LVL_REM_RAM2, SOURCE_DRAM_REMOTE },
		{ PERF_MEM_LVL_REM_CCE1, SOURCE_CLEAN_REMOTE },
		{ PERF_MEM_LVL_REM_CCE2, SOURCE_CLEAN_REMOTE },
		{ PERF_MEM_LVL_IO, SOURCE_UNCACHED },
		{ PERF_MEM_LVL_UNC, SOURCE_UNCACHED },
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++)
		expect_source((cases[k].lvl | PERF_MEM_LVL_HIT) << PERF_MEM_LVL_SHIFT,
			      cases[k].source);
	expect_source(PERF_MEM_S(LVL, NA), SOURCE_UNKNOWN);
	expect_source(0, SOURCE_UNKNOWN);
}

static void levels_by_number(void)
{
	static const struct {
		uint64_t number;
		enum trace_source near, far;
	} cases[] = {
		{ PERF_MEM_LVLNUM_L1, SOURCE_L1, SOURCE_L1 },
		{ PERF_MEM_LVLNUM_L2, SOURCE_L2, SOURCE_CLEAN_REMOTE },
		{ PERF_MEM_LVLNUM_L3, SOURCE_LLC, SOURCE_CLEAN_REMOTE },
		{ PERF_MEM_LVLNUM_L4, SOURCE_LLC, SOURCE_CLEAN_REMOTE },
		{ LVL_NUM_L2_MHB, SOURCE_L2, SOURCE_L2 },
		{ LVL_NUM_MEMORY_CACHE, SOURCE_DRAM_LOCAL, SOURCE_DRAM_REMOTE },
		{ LVL_NUM_UNCACHED, SOURCE_UNCACHED, SOURCE_UNCACHED },
		{ PERF_MEM_LVLNUM_CXL, SOURCE_DRAM_LOCAL, SOURCE_DRAM_REMOTE },
		{ PERF_MEM_LVLNUM_IO, SOURCE_UNCACHED, SOURCE_UNCACHED },
		{ PERF_MEM_LVLNUM_ANY_CACHE, SOURCE_LLC, SOURCE_CLEAN_REMOTE },
		{ PERF_MEM_LVLNUM_LFB, SOURCE_FILL_BUFFER, SOURCE_FILL_BUFFER },
		{ PERF_MEM_LVLNUM_RAM, SOURCE_DRAM_LOCAL, SOURCE_DRAM_REMOTE },
		{ PERF_MEM_LVLNUM_PMEM, SOURCE_DRAM_LOCAL, SOURCE_DRAM_REMOTE },
		{ PERF_MEM_LVLNUM_NA, SOURCE_UNKNOWN, SOURCE_UNKNOWN },
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		uint64_t bits = cases[k].number << PERF_MEM_LVLNUM_SHIFT | PERF_MEM_S(LVL, HIT);

		expect_source(bits, cases[k].near);
		expect_source(bits | PERF_MEM_S(REMOTE, REMOTE), cases[k].far);
	}
}

static void a_miss_names_no_source(void)
{
	uint64_t miss = PERF_MEM_S(LVL, MISS) | PERF_MEM_S(LVL, L1);

	expect_source(miss, SOURCE_UNKNOWN);
	expect_source(miss | PERF_MEM_S(LVLNUM, L1), SOURCE_UNKNOWN);
}

static void hitm_beats_the_level(void)
{
	uint64_t hitm = PERF_MEM_S(SNOOP, HITM) | PERF_MEM_S(LVL, HIT);

	expect_source(hitm | PERF_MEM_S(LVL, L3) | PERF_MEM_S(LVLNUM, L3), SOURCE_HITM_LOCAL);
	expect_source(hitm | PERF_MEM_S(LVL, REM_CCE1), SOURCE_HITM_REMOTE);
	expect_source(hitm | PERF_MEM_S(LVLNUM, L3) | PERF_MEM_S(REMOTE, REMOTE),
		      SOURCE_HITM_REMOTE);
}

static void hops_tell_near_from_far(void)
{
	static const enum trace_source hitm[] = { SOURCE_HITM_LOCAL, SOURCE_HITM_REMOTE,
						  SOURCE_HITM_REMOTE, SOURCE_HITM_REMOTE };
	static const enum trace_source clean[] = { SOURCE_PEER_LOCAL, SOURCE_CLEAN_REMOTE,
						   SOURCE_CLEAN_REMOTE, SOURCE_CLEAN_REMOTE };
	uint64_t cache = PERF_MEM_S(LVLNUM, ANY_CACHE) | PERF_MEM_S(REMOTE, REMOTE);

	for (uint64_t hops = PERF_MEM_HOPS_0; hops <= PERF_MEM_HOPS_3; hops++) {
		expect_source(cache | hops << PERF_MEM_HOPS_SHIFT | PERF_MEM_S(SNOOP, HITM),
			      hitm[hops - 1]);
		expect_source(cache | hops << PERF_MEM_HOPS_SHIFT, clean[hops - 1]);
	}
}

static void peer_is_another_core_whatever_the_level(void)
{
	uint64_t peer = PERF_MEM_S(SNOOPX, PEER) | PERF_MEM_S(LVL, HIT);

	expect_source(peer | PERF_MEM_S(LVLNUM, L2), SOURCE_PEER_LOCAL);
	expect_source(peer | PERF_MEM_S(REMOTE, REMOTE), SOURCE_PEER_REMOTE);
	expect_source(peer | PERF_MEM_S(SNOOP, HITM), SOURCE_HITM_LOCAL);
}

static void forwarded_data_stays_of_its_level(void)
{
	expect_source(PERF_MEM_S(SNOOPX, FWD) | PERF_MEM_S(LVLNUM, L3), SOURCE_LLC);
}

/* perf prints it as "L3 or Remote Cache (1 hop) hit". */
static void amd_l3_or_neighbour_is_the_last_level(void)
{
	struct data_src word = data_src_decode(0x51088842);

	CU_ASSERT(word.load && !word.locked);
	CU_ASSERT_EQUAL(word.source, SOURCE_LLC);
	expect_source(0x51088842 | PERF_MEM_S(SNOOP, HITM), SOURCE_HITM_LOCAL);
}

static void breakpoint_word_is_all_unknown(void)
{
	struct data_src word = data_src_decode(0x1e05080021);

	CU_ASSERT(!word.load && !word.store && !word.locked);
	CU_ASSERT_EQUAL(word.source, SOURCE_UNKNOWN);
}

static void bits_of_later_layouts_change_nothing(void)
{
	static const uint64_t word = 0x288800142; /* "OP LOAD|LVL L1 hit|SNP HitM" */

	expect_source(word, SOURCE_HITM_LOCAL);
	expect_source(word | 1ULL << 46 | 1ULL << 63, SOURCE_HITM_LOCAL);
}

/* ---- words that perf printed ---- */

static bool after(const char *words, const char *key, const char *value)
{
	const char *at = strstr(words, key);

	return at && !strncmp(at + strlen(key), value, strlen(value));
}

/* Returns whether the line has the words with which to compare. */
static bool expect_as_printed(const char *line)
{
	const char *words = strstr(line, "|OP "), *hex = words;
	struct data_src got;

	if (!words || !strstr(words, "|LCK "))
		return false;
	while (hex > line && hex[-1] == ' ')
		hex--;
	while (hex > line && strchr("0123456789abcdef", hex[-1]))
		hex--;
	got = data_src_decode(strtoull(hex, NULL, 16));
	CU_ASSERT_EQUAL(got.load, after(words, "|OP ", "LOAD"));
	CU_ASSERT_EQUAL(got.store, after(words, "|OP ", "STORE"));
	CU_ASSERT_EQUAL(got.locked, after(words, "|LCK ", "Yes"));
	CU_ASSERT_EQUAL(got.source == SOURCE_HITM_LOCAL || got.source == SOURCE_HITM_REMOTE,
			after(words, "|SNP ", "HitM"));
	CU_ASSERT_EQUAL(got.source == SOURCE_FILL_BUFFER,
			after(words, "|LVL ", "LFB") && !after(words, "|SNP ", "HitM"));
	return true;
}

static void words_that_perf_printed_agree(void)
{
	static const char *const names[] = {
		"local/pagectr-4fields.ns-wide.script.txt",
		"perf-script/amd-ibs-6.x-F-data_src.script.txt",
		"perf-script/arm-spe-5.19-OP.script.txt",
		"perf-script/arm-spe-proposed-simd-affinity.script.txt",
		"perf-script/ivb-pebs-loads-freq.default.script.txt",
		"perf-script/skx-pebs-loads-weight_struct.default.script.txt",
	};
	const char *shared = getenv("HITM_SHARED");
	int compared = 0;

	for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
		char path[512], line[1024];
		FILE *file;

		snprintf(path, sizeof(path), "%s/data/captures/%s", shared ? shared : "../shared",
			 names[k]);
		file = fopen(path, "r");
		if (!file) {
			test_skip("the captures of perf, in HITM_SHARED");
			return;
		}
		while (fgets(line, sizeof(line), file))
			compared += expect_as_printed(line);
		fclose(file);
	}
	CU_ASSERT(compared > 1600);
}

void suite_data_src(void)
{
	CU_pSuite suite = CU_add_suite("data_src", NULL, NULL);

	CU_ADD_TEST(suite, op_bits_say_what_was_done);
	CU_ADD_TEST(suite, op_not_available_says_nothing);
	CU_ADD_TEST(suite, only_the_locked_bit_means_locked);
	CU_ADD_TEST(suite, levels_by_bits_alone);
	CU_ADD_TEST(suite, levels_by_number);
	CU_ADD_TEST(suite, a_miss_names_no_source);
	CU_ADD_TEST(suite, hitm_beats_the_level);
	CU_ADD_TEST(suite, hops_tell_near_from_far);
	CU_ADD_TEST(suite, peer_is_another_core_whatever_the_level);
	CU_ADD_TEST(suite, forwarded_data_stays_of_its_level);
	CU_ADD_TEST(suite, amd_l3_or_neighbour_is_the_last_level);
	CU_ADD_TEST(suite, breakpoint_word_is_all_unknown);
	CU_ADD_TEST(suite, bits_of_later_layouts_change_nothing);
	CU_ADD_TEST(suite, words_that_perf_printed_agree);
}
