/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The races of a directory protocol, each driven into and looked at.
 *
 * A scenario is a short program a core, in which one start is skewed cycle by cycle until the
 * messages have crossed in every order. Over all skews the rows that make the race must have been
 * taken (or the scenario shows nothing), and after each the values must be right. Then the same with
 * a row changed to the wrong handling: at some skew the run must be found wrong, by a value, by a
 * defect, by the watchdog, or because a row that belongs to the race is no longer taken. */
#include "tests/unit/suites.h"
#include "tests/unit/rig.h"
#include <CUnit/CUnit.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS = 6, MUST = 4, PLANTS = 4, SKEWS = 160, LINES = 2, FIELDS = 8 * (LINES + CPUS * CPUS) };

/* Sets of variants; no bit of a group stands for all of it. */
enum {
	MESI = 1 << PROTOCOL_MESI,
	MESIF = 1 << PROTOCOL_MESIF,
	MOESI = 1 << PROTOCOL_MOESI,
	SILENT = 8 << EVICTION_SILENT,
	EXACT = 8 << EVICTION_EXACT,
	AHEAD = 32 << HOME_AHEAD,
	BLOCKING = 32 << HOME_BLOCKING,
	FAR = 128 /* near atomics without it */
};

/* A row of the protocol's table. */
struct row {
	enum { NONE, AT_CACHE, AT_HOME } at;
	uint8_t state, event;
};

#define CACHE(state, event)                            \
	{                                              \
		AT_CACHE, STATE_##state, EVENT_##event \
	}
#define HOME(state, event)                            \
	{                                             \
		AT_HOME, STATE_##state, EVENT_##event \
	}
#define DO(action) (1u << ACTION_##action)

/* The wrong handling of a row: these actions less and those more, and this state next. */
struct plant {
	struct row row;
	uint32_t less, more;
	uint8_t next;
	uint32_t where; /* variants in which it is wrong, of those that have the row */
};

/* Programs, by cpu. Operations on line x: `a` locked add, `w` store, `r` load; A, W, R: on line y.
 * `e` loads lines of the thread's own until what was used before them is evicted; `E` asks for them
 * and does not wait; `1000` waits until cycle 1000, `s` for the skew; `!`: from now on messages from
 * a home take one cycle, and so overtake those under way. */
struct race {
	const char *name;
	uint32_t where;
	const char *program[CPUS];
	struct row must[MUST];
	struct plant plants[PLANTS];
	const char *breaker; /* of cpu 5, a program with which the run must be wrong */
	bool far; /* cpus 3 to 5 are in another socket than the lines' home; else all are near */
	bool smt; /* cpus 3 to 5 are siblings of 0 to 2 */
	/* cycles of each way, or more of them than the least; 0: as the others */
	uint32_t leg, own, read, far_read, clean, acks, memory, serial;
};

static const struct race races[] = {
	{ .name = "R1: a forward to write meets the write-back",
	  .program = { "a 1000 e", "1000 s a 3000 r" },
	  .must = { CACHE(MI_A, FwdGetM), CACHE(II_A, PutAck) },
	  .plants = { { CACHE(MI_A, FwdGetM), .next = STATE_I },
		      { CACHE(MI_A, FwdGetM), DO(sData), .next = STATE_II_A } } },

	/* The first owner's write-back takes so long that the next has come and gone. */
	{ .name = "R1: a write-back of a former owner finds the line at rest",
	  .program = { "1000 s a e", "3000 r", NULL, "a 1000 e" },
	  .far = true,
	  .far_read = 900,
	  .must = { CACHE(MI_A, FwdGetM), HOME(HI, PutOther) },
	  .plants = { { HOME(HI, PutOther), 0, DO(put), .next = STATE_HI } } },

	{ .name = "R1: a write-back of a former owner finds the line with a third",
	  .program = { "1000 s a e 5000 r", "1650 r 3000 e", NULL, "a 1000 e" },
	  .far = true,
	  .far_read = 900,
	  .must = { CACHE(MI_A, FwdGetM), HOME(HE, PutOther) },
	  .plants = { { HOME(HE, PutOther), 0, DO(put), .next = STATE_HE } } },

	{ .name = "R2: a forward to read meets the write-back",
	  .where = MESI | MESIF,
	  .program = { "a 1000 e", "1000 s r", "3000 a" },
	  .must = { CACHE(MI_A, FwdGetS), CACHE(SI_A, PutAck) },
	  .plants = { { CACHE(MI_A, FwdGetS), DO(sWriteBack), .next = STATE_SI_A },
		      { HOME(SD, PutOther), DO(leave), .next = STATE_SD,
			.where = MESI | EXACT | AHEAD },
		      { HOME(BSD, PutOther), DO(leave), .next = STATE_BSD, .where = EXACT } } },

	{ .name = "R2: a forward to read meets word of an exclusive copy's eviction",
	  .where = MESI | MESIF,
	  .program = { "r 1000 e", "1000 s r", "3000 a" },
	  .must = { CACHE(EI_A, FwdGetS), CACHE(SI_A, PutAck) },
	  .plants = { { CACHE(EI_A, FwdGetS), DO(sWriteBack), .next = STATE_SI_A },
		      { CACHE(EI_A, FwdGetS), DO(sData), DO(sPassed), .next = STATE_SI_A } } },

	{ .name = "R3: of two sharers that upgrade one loses its copy",
	  .program = { "r 1150 a 3000 r", "100 r 1000 s a 3000 r", "200 r" },
	  .must = { CACHE(SM_AD, Inv), CACHE(IM_AD, DataAck0) },
	  .plants = { { CACHE(SM_AD, Inv), DO(drop), .next = STATE_SM_AD },
		      { CACHE(SM_AD, Inv), DO(sInvAck), .next = STATE_IM_AD } } },

	{ .name = "R4: an invalidation meets word of the eviction",
	  .where = EXACT,
	  .program = { "r", "100 r 1000 e", "200 r", "1000 s a" },
	  .must = { CACHE(SI_A, Inv), CACHE(II_A, PutAck) },
	  .plants = { { CACHE(SI_A, Inv), DO(sInvAck), .next = STATE_II_A },
		      { CACHE(SI_A, Inv), .next = STATE_SI_A } } },

	{ .name = "R5: acknowledgements come before the data",
	  .program = { "r", "100 r", "200 r", "1000 a" },
	  .own = 200,
	  .clean = 200,
	  .memory = 200,
	  .acks = 1,
	  .must = { CACHE(IM_AD, InvAck), CACHE(IM_AD, DataAck0) },
	  .plants = { { CACHE(IM_AD, InvAck), DO(count), .next = STATE_IM_AD } } },

	{ .name = "R6: an acknowledgement is not the last",
	  .program = { "r", "100 r", "200 r", "300 r", "1000 a" },
	  .own = 1,
	  .clean = 1,
	  .memory = 1,
	  .serial = 40,
	  .must = { CACHE(IM_A, InvAck), CACHE(IM_A, LastInvAck) },
	  .plants = { { CACHE(IM_A, InvAck), 0, DO(done), .next = STATE_M } } },

	{ .name = "R7: the data come before the acknowledgements",
	  .program = { "r", "100 r", "200 r 1000 a", "300 r 2000 a" },
	  .own = 1,
	  .clean = 1,
	  .memory = 1,
	  .acks = 100,
	  .must = { CACHE(SM_AD, DataAckN), CACHE(SM_A, LastInvAck) },
	  .plants = { { CACHE(SM_AD, DataAckN), 0, DO(done), .next = STATE_M },
		      { CACHE(SM_A, InvAck), 0, DO(done), .next = STATE_M } } },

	{ .name = "R8: a forward to write overtakes an exclusive grant",
	  .where = AHEAD,
	  .program = { "1000 r 3000 r", "1000 s a 3000 r" },
	  .memory = 200,
	  .must = { CACHE(IS_D, FwdGetM), CACHE(IS_D, DataExcl) },
	  .plants = { { CACHE(IS_D, FwdGetM), DO(stall), DO(sData) | DO(sPassed),
			.next = STATE_I } } },

	{ .name = "R8: a forward to read overtakes an exclusive grant",
	  .where = AHEAD,
	  .program = { "1000 r 3000 r", "1000 s r 3000 r" },
	  .memory = 200,
	  .must = { CACHE(IS_D, FwdGetS), CACHE(IS_D, DataExcl) },
	  .plants = { { CACHE(IS_D, FwdGetS), DO(stall), DO(sData), .next = STATE_I } } },

	{ .name = "R9: a forward comes to a cache that waits for data to write",
	  .where = AHEAD,
	  .program = { "a", "1000 a", "1000 s a", "1000 s a" },
	  .must = { CACHE(IM_AD, FwdGetM), HOME(MF, GetM) },
	  .plants = { { CACHE(IM_AD, FwdGetM), DO(stall), DO(sData) | DO(sPassed),
			.next = STATE_I } } },

	{ .name = "R9: a forward comes to a cache that waits for acknowledgements",
	  .where = AHEAD,
	  .program = { "r", "100 r", "200 r", "1000 a", "1000 s a" },
	  .own = 1,
	  .clean = 1,
	  .memory = 1,
	  .acks = 100,
	  .must = { CACHE(IM_A, FwdGetM), CACHE(IM_A, LastInvAck) },
	  .plants = { { CACHE(IM_A, FwdGetM), DO(stall), .next = STATE_IM_A } } },

	{ .name = "R9: a forward comes to a cache that upgrades",
	  .where = AHEAD,
	  .program = { "r", "100 r 1000 a", "200 r", "1000 s a" },
	  .acks = 100,
	  .must = { CACHE(SM_AD, FwdGetM), CACHE(SM_A, FwdGetM) },
	  .plants = { { CACHE(SM_AD, FwdGetM), DO(stall), DO(sData) | DO(sPassed) | DO(drop),
			.next = STATE_I },
		      { CACHE(SM_A, FwdGetM), DO(stall), .next = STATE_SM_A } } },

	{ .name = "R10: a line written without a word comes back from an exclusive copy",
	  .program = { "r w 1000 e", "2000 r", "3000 w" },
	  .must = { CACHE(E, Store), HOME(HE, PutOwnerM) },
	  .plants = { { HOME(HE, PutOwnerM), DO(put), .next = STATE_HI },
		      { CACHE(E, Store), .next = STATE_E } } },

	{ .name = "R11: a cache that said nothing of its eviction is invalidated, and again asks "
		  "to write",
	  .where = SILENT,
	  .program = { "r", "100 r 1000 e 1500 a", "200 r", "1350 s a" },
	  .must = { CACHE(I, Inv), CACHE(IM_AD, Inv) },
	  .plants = { { CACHE(I, Inv), DO(sInvAck), .next = STATE_I },
		      { CACHE(IM_AD, Inv), DO(sInvAck), .next = STATE_IM_AD } } },

	{ .name = "R11: a cache that said nothing of its eviction is invalidated, and again asks "
		  "to read",
	  .where = SILENT,
	  .program = { "r", "100 r 1000 e 1500 r 3000 r", "200 r", "1350 s a" },
	  .must = { CACHE(I, Inv), CACHE(IS_D, Inv) },
	  .plants = { { CACHE(IS_D, Inv), DO(sInvAck), .next = STATE_IS_D } } },

	{ .name = "R12: an invalidation overtakes the data of a load",
	  .where = SILENT | AHEAD | MESI | MOESI,
	  .program = { "r", "100 r 1000 e 1500 r 3000 r", "200 r", "1450 s a" },
	  .read = 200,
	  .clean = 200,
	  .must = { CACHE(IS_D, Inv), CACHE(IS_D_I, DataAck0) },
	  .plants = { { CACHE(IS_D, Inv), .next = STATE_IS_D },
		      { CACHE(IS_D_I, DataAck0), DO(once) | DO(drop), DO(done),
			.next = STATE_S } } },

	/* While the request is on its long way the writer has been, and the line is in memory. */
	{ .name = "R13: a load whose copy was invalidated is granted the line alone",
	  .where = SILENT | AHEAD | MESI | MOESI,
	  .program = { "r", "1000 r 2000 e 4000 r", "1500 r", "3700 s E a", "6000 a" },
	  .leg = 100,
	  .own = 1,
	  .read = 1,
	  .clean = 1,
	  .acks = 1,
	  .memory = 25,
	  .must = { CACHE(IS_D, Inv), CACHE(IS_D_I, DataExcl) },
	  .plants = { { CACHE(IS_D_I, DataExcl), DO(done), DO(once) | DO(drop),
			.next = STATE_I } } },

	/* No row says that the requester is left out: home.c does. */
	{ .name = "R14: the last sharer upgrades and waits for nobody",
	  .where = EXACT | MESI | MOESI,
	  .program = { "r 1000 e", "100 r 3000 a" },
	  .must = { CACHE(SM_AD, DataAck0) } },

	{ .name = "R15: the old owner of a line that is read becomes a sharer",
	  .where = MESI | MESIF,
	  .program = { "a 3000 r", "1000 r", "2000 a" },
	  .must = { CACHE(M, FwdGetS), CACHE(S, Inv) },
	  .plants = { { HOME(HM, GetS), DO(sharers), DO(sharer), STATE_SD, MESI | AHEAD },
		      { HOME(HM, GetS), DO(sharers), DO(sharer), STATE_BSD, MESI | BLOCKING },
		      { HOME(HM, GetS), DO(sharers), DO(sharer), STATE_BSD, MESIF } } },

	{ .name = "R16: an acknowledged eviction does not overtake the forward before it",
	  .program = { "a 1000 e", "1000 s a" },
	  .leg = 40,
	  .must = { CACHE(MI_A, FwdGetM), CACHE(II_A, PutAck) },
	  .breaker = "1149 !" },

	{ .name = "R17: requests wait for the write-back of a line that is read",
	  .where = MESI | AHEAD,
	  .program = { "a", "1000 r", "1000 s r", "1000 s a" },
	  .read = 100,
	  .must = { HOME(SD, GetS), HOME(SD, GetM) },
	  .plants = { { HOME(SD, GetS), DO(wait), DO(gShared) | DO(sharer), .next = STATE_SD },
		      { HOME(SD, GetM), DO(wait), DO(inv) | DO(gM) | DO(owner),
			.next = STATE_HM } } },

	{ .name = "R17: requests wait for write-back and word from the reader",
	  .where = MESI | BLOCKING,
	  .program = { "a", "1000 r", "1000 s r", "1000 s a" },
	  .read = 100,
	  .must = { HOME(BSD, GetS), HOME(BSD, GetM) },
	  .plants = { { HOME(BSD, GetS), DO(wait), DO(gShared) | DO(sharer), .next = STATE_BSD },
		      { HOME(BSD, GetM), DO(wait), DO(inv) | DO(gM) | DO(owner),
			.next = STATE_BM } } },

	{ .name = "R18: an eviction comes to a home that waits for a write-back",
	  .where = MESI | AHEAD,
	  .program = { "a 1000 e", "1000 s r", "3000 a" },
	  .must = { HOME(SD, PutOther) },
	  .plants = { { HOME(SD, PutOther), DO(leave), .next = STATE_SD, .where = EXACT },
		      { HOME(SD, PutOther), DO(ack), .next = STATE_SD } } },

	/* An exclusive copy, written without a word, shows that the home knows of no sharer. */
	{ .name = "R19: all sharers have left before the write-back comes",
	  .where = MESI | EXACT | AHEAD,
	  .program = { "3000 r w", NULL, NULL, "a 1040 s e", "1000 r e" },
	  .far = true,
	  .far_read = 600,
	  .read = 1,
	  .memory = 1,
	  .must = { HOME(SD, PutLast), HOME(SD, WriteBackLast), CACHE(E, Store) },
	  .plants = { { HOME(SD, WriteBackLast), .next = STATE_HS },
		      { HOME(SD, WriteBackLast), DO(put), .next = STATE_HI } } },

	{ .name = "R20: the home hears of the new owner only when all acknowledgements are in",
	  .where = BLOCKING,
	  .program = { "r", "100 r", "200 r", "1000 a", "1000 s a" },
	  .own = 1,
	  .clean = 1,
	  .memory = 1,
	  .acks = 100,
	  .must = { CACHE(IM_A, LastInvAck), HOME(BM, GetM) },
	  .plants = { { CACHE(IM_AD, DataAckN), 0, DO(sUnblock), .next = STATE_IM_A } } },

	{ .name = "R21: a forward to write leaves no copy behind",
	  .program = { "a 3000 r", "1000 s a" },
	  .must = { CACHE(M, FwdGetM) },
	  .plants = { { CACHE(M, FwdGetM), DO(drop), .next = STATE_S },
		      { CACHE(M, FwdGetM), DO(drop), .next = STATE_M } } },

	{ .name = "R22: every eviction is acknowledged, stale ones too",
	  .program = { "a 1000 e", "1000 s a" },
	  .must = { HOME(HM, PutOwnerM) },
	  .plants = { { HOME(HM, PutOwnerM), DO(ack), .next = STATE_HI },
		      { HOME(MF, PutOther), DO(ack), .next = STATE_MF },
		      { HOME(BM, PutOther), DO(ack), .next = STATE_BM } } },

	/* The L1 points into the L2, so no message can reach one and not the other. */
	{ .name = "R23: a lost upgrade and an invalidation reach both threads of a core",
	  .smt = true,
	  .program = { "r 1150 a 3000 r", "100 r 1000 s a 3000 r", "200 r", NULL,
		       "300 r 1000 r 1050 r 1100 r 1150 r 1200 r 1250 r 1300 r 3000 r" },
	  .must = { CACHE(SM_AD, Inv), CACHE(S, Inv), CACHE(SM_AD, Load) },
	  .plants = { { CACHE(SM_AD, Inv), DO(drop), .next = STATE_SM_AD },
		      { CACHE(S, Inv), DO(drop), .next = STATE_S } } },

	/* A locked operation reads and writes at one instant; how long it holds the line after that
	 * is in test_coherence.c. */
	{ .name = "R24: a forward comes during a locked operation",
	  .program = { "a 1000 a a a", "1000 s a a a", "1000 a a a" },
	  .must = { CACHE(M, FwdGetM) },
	  .plants = { { CACHE(M, FwdGetM), DO(drop), .next = STATE_M } } },

	/* Copies under way are in no set, and without limit: what can run out is the ways of a set
	 * whose lines are all under way. */
	{ .name = "R27: two lines of one set are evicted across each other",
	  .program = { "a 1000 E A a", "A 1000 s E a A", "3000 a A" },
	  .must = { CACHE(M, Evict), CACHE(MI_A, FwdGetM) },
	  .plants = { { CACHE(MI_A, FwdGetM), DO(sData), .next = STATE_II_A } } },

	{ .name = "R27: a line comes while a burst of stores holds one way and a store upgrades "
		  "the other",
	  .program = { "500 R 1000 E s wwwwwwwwwwwwwwww W", "R a" },
	  .own = 1,
	  .must = { CACHE(M, FwdGetM) } },

	{ .name = "R28: the forwarder has gone without a word",
	  .where = MESIF | SILENT,
	  .program = { "r", "100 r 1000 e", "1000 s r", "4000 r", "5000 a" },
	  .must = { CACHE(I, FwdGetF), HOME(BS, Missed) },
	  .plants = { { CACHE(I, FwdGetF), DO(sMissed), .next = STATE_I },
		      { HOME(BS, Missed), DO(gForward), .next = STATE_BS } } },

	{ .name = "R28: word of the forwarder's eviction meets the request",
	  .where = MESIF | EXACT,
	  .program = { "r", "100 r 1000 e", "1000 s r", "4000 r", "5000 a" },
	  .must = { CACHE(SI_A, FwdGetF), HOME(BS, Missed) },
	  .plants = { { CACHE(SI_A, FwdGetF), DO(sMissed), .next = STATE_SI_A },
		      { HOME(BS, Missed), DO(gForward), .next = STATE_BS } } },

	{ .name = "R28: a forwarder that upgrades is asked for the line",
	  .where = MESIF,
	  .program = { "r", "100 r 1150 a", "1000 s r 4000 r" },
	  .must = { CACHE(FM_AD, FwdGetF), CACHE(SM_AD, DataAckN) },
	  .plants = { { CACHE(FM_AD, FwdGetF), DO(sDataF), .next = STATE_SM_AD },
		      { CACHE(FM_AD, FwdGetF), .next = STATE_FM_AD } } },

	{ .name = "R28: there are no two forwarders",
	  .where = MESIF,
	  .program = { "r", "1000 r", "2000 s r" },
	  .must = { CACHE(F, FwdGetF), CACHE(IS_D, DataF) },
	  .plants = { { CACHE(F, FwdGetF), .next = STATE_F } } },

	{ .name = "R28: a forward to write, with acknowledgements, meets the owner's write-back",
	  .where = MOESI,
	  .program = { "a 1000 e", "100 r", "200 r", "1000 s a 4000 r" },
	  .must = { CACHE(O, Evict), CACHE(MI_A, FwdGetM), CACHE(IM_AD, InvAck) },
	  .plants = { { CACHE(MI_A, FwdGetM), .next = STATE_I },
		      { CACHE(MI_A, FwdGetM), DO(sData), .next = STATE_II_A } } },

	{ .name = "R28: an owner with sharers is evicted, and its data live on",
	  .where = MOESI,
	  .program = { "a 1000 e", "100 r", "200 r", "1000 s r 4000 r", "5000 a" },
	  .must = { HOME(HO, PutOwnerM), CACHE(MI_A, FwdGetS) },
	  .plants = { { HOME(HO, PutOwnerM), DO(put), .next = STATE_HS },
		      { CACHE(MI_A, FwdGetS), DO(sData), .next = STATE_MI_A } } },

	{ .name = "R28: an owner that upgrades loses the line to another writer",
	  .where = MOESI,
	  .program = { "a 1150 a 4000 r", "100 r", "1000 s a 4000 r" },
	  .must = { CACHE(OM_AC, FwdGetM), CACHE(IM_AD, DataAck0) },
	  .plants = { { CACHE(OM_AC, FwdGetM), DO(drop), .next = STATE_OM_AC },
		      { CACHE(OM_AC, FwdGetM), DO(sData), .next = STATE_IM_AD } } },

	/* The lock ends in the cycle in which the second forward comes. */
	{ .name = "R28: a forward to write does not pass one to read that waits for a lock",
	  .where = MOESI | AHEAD,
	  .program = { "a 1000 s a", "1100 r", "1103 a" },
	  .must = { CACHE(M, FwdGetS), CACHE(O, FwdGetM) },
	  .plants = { { CACHE(O, FwdGetM), DO(drop), .next = STATE_O } } },

	{ .name = "Far: a recall meets the write-back",
	  .where = FAR,
	  .program = { "w 1000 e", "1000 s a 3000 r" },
	  .must = { CACHE(MI_A, Recall), CACHE(II_A, PutAck) },
	  .plants = { { CACHE(MI_A, Recall), DO(sWriteBack), .next = STATE_II_A },
		      { CACHE(MI_A, Recall), .next = STATE_I } } },

	{ .name = "Far: a recall overtakes an exclusive grant",
	  .where = FAR | AHEAD,
	  .program = { "1000 w 3000 r", "1000 s a 3000 r" },
	  .memory = 200,
	  .must = { CACHE(IM_AD, Recall), CACHE(M, Recall) },
	  .plants = { { CACHE(IM_AD, Recall), DO(stall), .next = STATE_IM_AD },
		      { CACHE(M, Recall), DO(drop), .next = STATE_S } } },

	{ .name = "Far: the requester gives up a copy of its own",
	  .where = FAR,
	  .program = { "r", "100 r 1000 a 3000 r", "200 r", "1000 s r 3000 r" },
	  .must = { CACHE(SI_R, Inv), CACHE(II_R, Result), HOME(HA, GetS) },
	  .plants = { { CACHE(SI_R, Inv), DO(sInvAck), .next = STATE_II_R },
		      { CACHE(SI_R, Inv), .next = STATE_SI_R },
		      { HOME(HA, GetS), DO(wait), DO(gShared) | DO(sharer), .next = STATE_HA } } },
};

enum { RACES = sizeof(races) / sizeof(races[0]) };

/* ---- programs ------------------------------------------------------------------------------- */

/* A line: a counter, and a word for each cpu. */
struct player {
	const char *program;
	uint32_t skew, ways;
	uint64_t added[LINES], stored[LINES], seen[LINES];
	bool wrong;
};

static struct place counter_of(int line)
{
	return rig_line((uint32_t)line);
}

static struct place word_of(int line, uint32_t cpu)
{
	return rig_place((uint32_t)line, 8 + 8 * cpu, 8);
}

/* A counter never goes back. */
static void see(struct player *me, int line, uint64_t value)
{
	me->wrong |= value < me->seen[line];
	me->seen[line] = value;
}

static void load(struct thread *self, struct player *me, int line)
{
	const struct place counter = counter_of(line), word = word_of(line, self->cpu);

	see(me, line, thread_load(self, &counter));
	me->wrong |= thread_load(self, &word) != me->stored[line];
}

static void evict(struct thread *self, const struct player *me, bool wait)
{
	struct place places[CPUS];
	const struct place *pointers[CPUS];

	for (uint32_t k = 0; k < me->ways; k++) {
		places[k] = rig_line(LINES + self->cpu * CPUS + k);
		pointers[k] = &places[k];
	}
	thread_together(self, pointers, me->ways);
	for (uint32_t k = 0; wait && k < me->ways; k++)
		thread_load(self, &places[k]);
}

static void operate(struct thread *self, struct player *me, char what)
{
	int line = isupper((unsigned char)what) != 0;
	const struct place counter = counter_of(line), word = word_of(line, self->cpu);

	switch (tolower((unsigned char)what)) {
	case 'a':
		see(me, line, thread_rmw(self, &counter, RMW_ADD, 1, 0));
		me->added[line]++;
		break;
	case 'w':
		thread_store(self, &word, ++me->stored[line]);
		break;
	case 'r':
		load(self, me, line);
		break;
	case 'e':
		evict(self, me, what == 'e');
		break;
	case 's':
		thread_work(self, me->skew);
		break;
	case '!':
		thread_fence(self); /* takes its turn */
		self->machine->coherence->fabric->forward = 1;
		break;
	}
}

static void play(struct thread *self, void *argument)
{
	struct player *me = argument;

	for (const char *at = me->program; *at;) {
		char *end;
		unsigned long cycle = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : 0;

		if (!cycle) {
			operate(self, me, *at++);
			continue;
		}
		at = end;
		if (cycle > self->time)
			thread_work(self, (double)(cycle - self->time));
	}
}

/* ---- machines ------------------------------------------------------------------------------- */

static double or_else(uint32_t value, uint32_t otherwise)
{
	return value ? value : otherwise;
}

static struct machine_config config_of(const struct race *race)
{
	struct machine_config config =
		rig_config_of(race->far ? 2 : 1, race->far || race->smt ? 3 : 6, race->smt ? 2 : 1);
	struct fabric_timing *t = &config.timing;
	double leg = or_else(race->leg, 10), way = 2 * leg;

	config.run_ahead = false;
	config.locked_rmw = 5;
	config.fence = 0;
	config.coherence.l1 = (struct cache_geometry){ 1, 1, 1 };
	config.coherence.l2 = (struct cache_geometry){ 1, config.smt + 1, 2 };
	config.coherence.llc_sets = 1;
	config.coherence.llc_ways = 2;
	t->llc = 4 * leg;
	for (int d = DISTANCE_SOCKET; d <= DISTANCE_CROSS; d++) {
		double own = 6 + or_else(race->own, 30);
		double read = way + or_else(d == DISTANCE_CROSS ? race->far_read : race->read, 30);

		t->hand_off[d] = (struct spread){ own, own, own };
		t->dirty[d][0] = t->dirty[d][1] = read;
		t->clean[d] = way + or_else(race->clean, 30);
		t->upgrade[d] = way + or_else(race->acks, 30);
	}
	t->dram_local = t->dram_remote = way + or_else(race->memory, 40);
	t->invalidate_serial = race->serial;
	t->home_occupancy = 0;
	return config;
}

static struct protocol_row *find_row(struct coherence *coherence, const struct row *row)
{
	return row->at == AT_HOME ? &coherence->protocol.home[row->state][row->event]
				  : &coherence->protocol.cache[row->state][row->event];
}

/* False where the variant has no such row. */
static bool plant_in(struct coherence *coherence, const struct plant *plant)
{
	struct protocol_row *row = find_row(coherence, &plant->row);

	if (!row->valid)
		return false;
	row->actions = (row->actions & ~plant->less) | plant->more;
	row->next = plant->next;
	return true;
}

static uint64_t visits_of(const struct visits *visits, const struct row *row)
{
	return row->at == AT_HOME ? visits->home[row->state][row->event]
				  : visits->cache[row->state][row->event];
}

/* ---- runs ----------------------------------------------------------------------------------- */

static bool memory_is_right(struct machine *machine, const struct player players[CPUS])
{
	bool right = true;

	for (int line = 0; line < LINES; line++) {
		uint64_t added = 0;

		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			added += players[cpu].added[line];
			right &=
				rig_value(machine, word_of(line, cpu)) == players[cpu].stored[line];
		}
		right &= rig_value(machine, counter_of(line)) == added;
	}
	return right;
}

/* Runs a scenario at one skew. False where something is wrong. */
static bool run(const struct race *race, const struct machine_config *config, uint32_t skew,
		const struct plant *plant, const char *breaker, struct visits *visits)
{
	struct player players[CPUS] = { 0 };
	struct field_counts counts[FIELDS] = { 0 };
	struct machine *machine = rig_machine(config);
	struct error error = { "" };

	if (plant)
		plant_in(machine->coherence, plant);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		players[cpu].program = cpu == 5 && breaker ? breaker : race->program[cpu];
		players[cpu].skew = skew;
		players[cpu].ways = config->coherence.l2.ways;
		if (players[cpu].program)
			rig_thread(machine, cpu, play, &players[cpu])->counts = counts;
	}
	bool right = machine_run(machine, &error) && machine_rest(machine, &error) &&
		     memory_is_right(machine, players);

	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		right &= !players[cpu].wrong;
	for (size_t k = 0; k < sizeof(*visits) / sizeof(uint64_t); k++)
		((uint64_t *)visits)[k] += ((const uint64_t *)machine->coherence->visits)[k];
	machine_free(machine);
	return right;
}

/* Over all skews, or until one is wrong; *visits: of them all. */
static bool run_skews(const struct race *race, const struct machine_config *config,
		      const struct plant *plant, const char *breaker, struct visits *visits)
{
	memset(visits, 0, sizeof(*visits));
	for (uint32_t skew = 0; skew < SKEWS; skew++)
		if (!run(race, config, skew, plant, breaker, visits))
			return false;
	return true;
}

static bool all_taken(const struct race *race, const struct visits *visits)
{
	bool all = true;

	for (int k = 0; k < MUST && race->must[k].at; k++)
		all &= visits_of(visits, &race->must[k]) > 0;
	return all;
}

static void complain(const struct race *race, const struct machine_config *config, const char *what,
		     const struct row *row)
{
	const struct coherence_config *c = &config->coherence;

	printf("\n  %s, %s %s %s: %s", race->name, protocol_kind_names[c->protocol],
	       eviction_names[c->eviction], home_kind_names[c->home], what);
	if (row)
		printf(": %s %s",
		       row->at == AT_HOME ? home_state_name(row->state)
					  : cache_state_name(row->state),
		       row->at == AT_HOME ? home_event_name(row->event)
					  : cache_event_name(row->event));
	printf("\n");
}

static void expect_right(const struct race *race, const struct machine_config *config)
{
	struct visits visits;
	bool right = run_skews(race, config, NULL, NULL, &visits);

	CU_ASSERT(right);
	if (!right)
		complain(race, config, "goes wrong", NULL);
	CU_ASSERT(all_taken(race, &visits));
	for (int k = 0; k < MUST && race->must[k].at; k++)
		if (!visits_of(&visits, &race->must[k]))
			complain(race, config, "the race did not happen", &race->must[k]);
}

static void expect_wrong(const struct race *race, const struct machine_config *config,
			 const struct plant *plant, const char *breaker)
{
	struct visits visits;
	bool found = !run_skews(race, config, plant, breaker, &visits) || !all_taken(race, &visits);

	CU_ASSERT(found);
	if (!found)
		complain(race, config, "not found wrong", plant ? &plant->row : NULL);
}

/* ---- variants ------------------------------------------------------------------------------- */

static bool in_group(uint32_t set, uint32_t group, uint32_t bit)
{
	return !(set & group) || set & bit;
}

static bool is_in(uint32_t set, const struct coherence_config *config)
{
	return in_group(set, MESI | MESIF | MOESI, 1u << config->protocol) &&
	       in_group(set, SILENT | EXACT, 8u << config->eviction) &&
	       in_group(set, AHEAD | BLOCKING, 32u << config->home) &&
	       (config->atomics == ATOMICS_FAR) == ((set & FAR) != 0);
}

static bool has_row(const struct machine_config *config, const struct row *row)
{
	struct machine *machine = rig_machine(config);
	bool has = find_row(machine->coherence, row)->valid;

	machine_free(machine);
	return has;
}

/* In every variant that has the race. Each planted mistake must be possible in one of them. */
static void expect_race(const struct race *race)
{
	struct machine_config config = config_of(race);
	uint32_t planted[PLANTS] = { 0 };

	for (uint32_t k = 0; k < PROTOCOL_VARIANTS; k++) {
		struct protocol_variant variant = protocol_variant_at(k);

		config.coherence.protocol = variant.protocol;
		config.coherence.eviction = variant.eviction;
		config.coherence.home = variant.home;
		config.coherence.atomics = variant.atomics;
		if (!is_in(race->where, &config.coherence))
			continue;
		expect_right(race, &config);
		for (int p = 0; p < PLANTS && race->plants[p].row.at; p++) {
			if (!is_in(race->plants[p].where | (race->where & FAR),
				   &config.coherence) ||
			    !has_row(&config, &race->plants[p].row))
				continue;
			planted[p]++;
			expect_wrong(race, &config, &race->plants[p], NULL);
		}
		if (race->breaker)
			expect_wrong(race, &config, NULL, race->breaker);
	}
	for (int p = 0; p < PLANTS && race->plants[p].row.at; p++)
		CU_ASSERT(planted[p] > 0);
}

/* The race that has the name of the test that runs. */
static void a_race_is_handled(void)
{
	const char *name = CU_get_current_test()->pName;

	for (int k = 0; k < RACES; k++)
		if (!strcmp(races[k].name, name))
			expect_race(&races[k]);
}

/* ---- what is no race here ------------------------------------------------------------------- */

/* The LLC is not inclusive: it is no more than where the home's data may come from, so when it
 * forgets a line no copy is recalled. Core 1 fills the LLC's one set. */
static void the_llc_recalls_nothing(void)
{
	const struct race race = { .program = { "a R", "1000 e e", "2000 a" } };
	struct machine_config config = config_of(&race);
	struct player players[2] = { { .program = race.program[0], .ways = 2 },
				     { .program = race.program[1], .ways = 2 } };

	config.coherence.l2.ways = 4;
	struct machine *machine = rig_machine(&config);
	const struct coherence *coherence = machine->coherence;

	for (uint32_t k = 0; k < 2; k++)
		rig_thread(machine, k, play, &players[k]);
	rig_run(machine);
	CU_ASSERT(!coherence_line(machine->coherence, rig_line(0).address)->in_llc);
	CU_ASSERT(!coherence_line(machine->coherence, rig_line(1).address)->in_llc);
	for (int line = 0; line < LINES; line++) {
		struct copy *copy = cache_find(machine->coherence, &coherence->cores[0],
					       rig_line((uint32_t)line).address);

		CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
		CU_ASSERT_EQUAL(copy->state, line ? STATE_E : STATE_M);
	}
	machine_free(machine);
}

/* Cores that add to one line without a pause; the most others that were served between two turns of
 * one. */
struct crowd {
	uint32_t served, last[CPUS], most;
};

static void join_crowd(struct thread *self, void *argument)
{
	struct crowd *crowd = argument;
	const struct place counter = rig_line(0);

	for (int k = 0; k < 400; k++) {
		uint32_t turn = (uint32_t)thread_rmw(self, &counter, RMW_ADD, 1, 0);
		uint32_t between = turn - crowd->last[self->cpu] - 1;

		if (k > 0 && k < 300 && between > crowd->most)
			crowd->most = between;
		crowd->last[self->cpu] = turn;
	}
}

static uint32_t most_between(enum discipline discipline, enum home_kind home)
{
	const struct race race = { 0 };
	struct machine_config config = config_of(&race);
	struct crowd crowd = { 0 };

	config.coherence.discipline = discipline;
	config.coherence.home = home;
	struct machine *machine = rig_machine(&config);

	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		rig_thread(machine, cpu, join_crowd, &crowd);
	rig_run(machine);
	machine_free(machine);
	return crowd.most;
}

/* With a blocking home each owner goes on, 5 cycles an operation, while its Unblock and the next
 * forward are on their way, 10 cycles each. */
static void a_home_in_order_is_fair(void)
{
	CU_ASSERT_EQUAL(most_between(DISCIPLINE_FIFO, HOME_AHEAD), CPUS - 1);
	CU_ASSERT(most_between(DISCIPLINE_FIFO, HOME_BLOCKING) <= (CPUS - 1) * (1 + 20 / 5));
	CU_ASSERT(most_between(DISCIPLINE_RANDOM, HOME_AHEAD) > 2 * CPUS);
}

void suite_races(void)
{
	CU_pSuite suite = CU_add_suite("races", NULL, NULL);

	for (int k = 0; k < RACES; k++)
		CU_add_test(suite, races[k].name, a_race_is_handled);
	CU_add_test(suite, "R25: a line that leaves the LLC stays in private caches",
		    the_llc_recalls_nothing);
	CU_add_test(suite, "R26: no request is passed over by a home that serves in order",
		    a_home_in_order_is_fair);
}
