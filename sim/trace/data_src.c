/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/data_src.h"

/* union perf_mem_data_src: where each member starts, and how many bits it has. */
#define OP(bits)      ((unsigned)(bits)&0x1f)
#define LVL(bits)     ((unsigned)((bits) >> 5) & 0x3fff)
#define SNOOP(bits)   ((unsigned)((bits) >> 19) & 0x1f)
#define LOCK(bits)    ((unsigned)((bits) >> 24) & 0x3)
#define LVL_NUM(bits) ((unsigned)((bits) >> 33) & 0xf)
#define REMOTE(bits)  ((unsigned)((bits) >> 37) & 0x1)
#define SNOOPX(bits)  ((unsigned)((bits) >> 38) & 0x3)
#define HOPS(bits)    ((unsigned)((bits) >> 43) & 0x7)

enum { OP_LOAD = 0x2, OP_STORE = 0x4, OP_PREFETCH = 0x8, OP_EXECUTE = 0x10 };
enum { SNOOP_HITM = 0x10, SNOOPX_PEER = 0x2, LOCKED = 0x2, HOPS_SAME_NODE = 1, HOPS_NODE = 2 };

enum {
	LVL_MISS = 0x4,
	LVL_L1 = 0x8,
	LVL_LFB = 0x10,
	LVL_L2 = 0x20,
	LVL_L3 = 0x40,
	LVL_LOCAL_RAM = 0x80,
	LVL_REMOTE_RAM = 0x300,
	LVL_REMOTE_CACHE = 0xc00,
	LVL_UNCACHED = 0x3000 /* and I/O */
};

/* Level by number, as it is near and far. Zero is what kernels before 4.14 wrote: none. */
static const struct {
	uint8_t near, far;
} levels[16] = {
	[0x1] = { SOURCE_L1, SOURCE_L1 },
	[0x2] = { SOURCE_L2, SOURCE_CLEAN_REMOTE },
	[0x3] = { SOURCE_LLC, SOURCE_CLEAN_REMOTE },
	[0x4] = { SOURCE_LLC, SOURCE_CLEAN_REMOTE },
	[0x5] = { SOURCE_L2, SOURCE_L2 },                  /* miss handling buffer of L2 */
	[0x6] = { SOURCE_DRAM_LOCAL, SOURCE_DRAM_REMOTE }, /* cache of the memory's side */
	[0x8] = { SOURCE_UNCACHED, SOURCE_UNCACHED },
	[0x9] = { SOURCE_DRAM_LOCAL, SOURCE_DRAM_REMOTE }, /* CXL */
	[0xa] = { SOURCE_UNCACHED, SOURCE_UNCACHED },      /* I/O */
	[0xb] = { SOURCE_LLC, SOURCE_CLEAN_REMOTE },       /* any cache */
	[0xc] = { SOURCE_FILL_BUFFER, SOURCE_FILL_BUFFER },
	[0xd] = { SOURCE_DRAM_LOCAL, SOURCE_DRAM_REMOTE },
	[0xe] = { SOURCE_DRAM_LOCAL, SOURCE_DRAM_REMOTE }, /* persistent memory */
};

/* From beyond this node? Hops say it best. AMD names L3 and remote cache together where it cannot
 * tell its own L3 from a neighbour's in the same node. */
static bool is_far(uint64_t bits)
{
	unsigned lvl = LVL(bits);

	if (HOPS(bits))
		return HOPS(bits) >= HOPS_NODE;
	if (REMOTE(bits) || lvl & LVL_REMOTE_RAM)
		return true;
	return lvl & LVL_REMOTE_CACHE && !(lvl & LVL_L3);
}

/* The level of the layout before levels had numbers. A miss says where the data was not. */
static enum trace_source level_by_bits(unsigned lvl, bool far)
{
	if (lvl & LVL_UNCACHED)
		return SOURCE_UNCACHED;
	if (lvl & (LVL_LOCAL_RAM | LVL_REMOTE_RAM))
		return far ? SOURCE_DRAM_REMOTE : SOURCE_DRAM_LOCAL;
	if (lvl & LVL_MISS)
		return SOURCE_UNKNOWN;
	if (lvl & (LVL_L3 | LVL_REMOTE_CACHE))
		return far ? SOURCE_CLEAN_REMOTE : SOURCE_LLC;
	if (lvl & LVL_L2)
		return SOURCE_L2;
	if (lvl & LVL_LFB)
		return SOURCE_FILL_BUFFER;
	return lvl & LVL_L1 ? SOURCE_L1 : SOURCE_UNKNOWN;
}

static enum trace_source level(uint64_t bits, bool far)
{
	enum trace_source by_number = far ? levels[LVL_NUM(bits)].far : levels[LVL_NUM(bits)].near;

	if (by_number == SOURCE_UNKNOWN)
		return level_by_bits(LVL(bits), far);
	if (LVL(bits) & LVL_MISS && by_number < SOURCE_DRAM_LOCAL)
		return SOURCE_UNKNOWN;
	if (by_number == SOURCE_LLC && HOPS(bits) == HOPS_SAME_NODE)
		return SOURCE_PEER_LOCAL;
	return by_number;
}

struct data_src data_src_decode(uint64_t bits)
{
	bool far = is_far(bits);
	struct data_src decoded = {
		.load = OP(bits) & OP_LOAD,
		.store = OP(bits) & OP_STORE,
		.prefetch = OP(bits) & OP_PREFETCH,
		.execute = OP(bits) & OP_EXECUTE,
		.locked = LOCK(bits) & LOCKED,
	};

	if (SNOOP(bits) & SNOOP_HITM)
		decoded.source = far ? SOURCE_HITM_REMOTE : SOURCE_HITM_LOCAL;
	else if (SNOOPX(bits) & SNOOPX_PEER)
		decoded.source = far ? SOURCE_PEER_REMOTE : SOURCE_PEER_LOCAL;
	else
		decoded.source = level(bits, far);
	return decoded;
}
