/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The transition table of protocol.def as C: states, events, actions, and the row for each pair. */
#ifndef COHERENCE_PROTOCOL_H
#define COHERENCE_PROTOCOL_H

#include "coherence/protocol.def"
#include <stdbool.h>
#include <stdint.h>

#define NAME_STATE(name)  STATE_##name,
#define NAME_EVENT(name)  EVENT_##name,
#define NAME_ACTION(name) ACTION_##name,
enum cache_state { CACHE_STATES(NAME_STATE) CACHE_STATE_COUNT };
enum cache_event { CACHE_EVENTS(NAME_EVENT) CACHE_EVENT_COUNT };
enum cache_action { CACHE_ACTIONS(NAME_ACTION) CACHE_ACTION_COUNT };
enum home_state { HOME_STATES(NAME_STATE) HOME_STATE_COUNT };
enum home_event { HOME_EVENTS(NAME_EVENT) HOME_EVENT_COUNT };
enum home_action { HOME_ACTIONS(NAME_ACTION) HOME_ACTION_COUNT };
#undef NAME_STATE
#undef NAME_EVENT
#undef NAME_ACTION

enum protocol_kind { PROTOCOL_MESI, PROTOCOL_MESIF, PROTOCOL_MOESI };
enum s_eviction { EVICTION_SILENT, EVICTION_EXACT };
enum home_kind { HOME_AHEAD, HOME_BLOCKING };
enum atomics { ATOMICS_NEAR, ATOMICS_FAR };

/* Which of the table's rows a machine has. */
struct protocol_variant {
	enum protocol_kind protocol;
	enum s_eviction eviction;
	enum home_kind home;
	enum atomics atomics;
};

enum { PROTOCOL_VARIANTS = 3 * 2 * 2 * 2 };

/* One row: what to do, a bit an action, and the state that follows. */
struct protocol_row {
	uint32_t actions;
	uint8_t next;
	bool valid; /* an invalid row is an event that must never reach the state */
};

#define DOES(row, action) (((row)->actions >> ACTION_##action) & 1u)

/* The rows in force for one machine. */
struct protocol {
	struct protocol_row cache[CACHE_STATE_COUNT][CACHE_EVENT_COUNT];
	struct protocol_row home[HOME_STATE_COUNT][HOME_EVENT_COUNT];
};

/* Fills in the rows of protocol.def that belong to the variant. */
void protocol_select(struct protocol *protocol, const struct protocol_variant *variant);

/* The k-th of all variants, 0 .. PROTOCOL_VARIANTS - 1: MESI first, then MESIF, MOESI. */
struct protocol_variant protocol_variant_at(uint32_t k);

const char *cache_state_name(enum cache_state state);
const char *cache_event_name(enum cache_event event);
const char *cache_action_name(enum cache_action action);
const char *home_state_name(enum home_state state);
const char *home_event_name(enum home_event event);
const char *home_action_name(enum home_action action);

/* As machine files spell them: "mesi", "mesif", "moesi"; "silent", "exact"; "ahead", "blocking";
 * "near", "far". */
extern const char *const protocol_kind_names[],
	*const eviction_names[], *const home_kind_names[], *const atomics_names[];

#define STATE_BIT(name) (1u << STATE_##name)

/* May the cache's own threads read, or write, the line in this state? */
static inline bool cache_readable(enum cache_state state)
{
	return (1u << state) & (STATE_BIT(S) | STATE_BIT(SM_AD) | STATE_BIT(SM_A) | STATE_BIT(E) |
				STATE_BIT(M) | STATE_BIT(F) | STATE_BIT(FM_AD) | STATE_BIT(O) |
				STATE_BIT(OM_AC) | STATE_BIT(SI_R));
}

static inline bool cache_writable(enum cache_state state)
{
	return state == STATE_E || state == STATE_M;
}

/* A state in which nothing is under way. */
static inline bool cache_stable(enum cache_state state)
{
	return (1u << state) & (STATE_BIT(I) | STATE_BIT(S) | STATE_BIT(E) | STATE_BIT(M) |
				STATE_BIT(F) | STATE_BIT(O));
}

#undef STATE_BIT

#endif
