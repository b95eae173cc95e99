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

enum s_eviction { EVICTION_SILENT, EVICTION_EXACT };
enum home_kind { HOME_AHEAD, HOME_BLOCKING };

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
void protocol_select(struct protocol *protocol, enum s_eviction eviction, enum home_kind home);

const char *cache_state_name(enum cache_state state);
const char *cache_event_name(enum cache_event event);
const char *home_state_name(enum home_state state);
const char *home_event_name(enum home_event event);

/* May the cache's own threads read, or write, the line in this state? */
static inline bool cache_readable(enum cache_state state)
{
	return (1u << state) & (1u << STATE_S | 1u << STATE_SM_AD | 1u << STATE_SM_A |
				1u << STATE_E | 1u << STATE_M);
}

static inline bool cache_writable(enum cache_state state)
{
	return state == STATE_E || state == STATE_M;
}

/* A state in which nothing is under way. */
static inline bool cache_stable(enum cache_state state)
{
	return (1u << state) & (1u << STATE_I | 1u << STATE_S | 1u << STATE_E | 1u << STATE_M);
}

#endif
