/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coherence/protocol.h"
#include <string.h>

#define NAME(name) #name,
static const char *const cache_states[] = { CACHE_STATES(NAME) };
static const char *const cache_events[] = { CACHE_EVENTS(NAME) };
static const char *const home_states[] = { HOME_STATES(NAME) };
static const char *const home_events[] = { HOME_EVENTS(NAME) };
#undef NAME

void protocol_select(struct protocol *protocol, enum s_eviction eviction, enum home_kind home)
{
	enum { EXACT = 1u << EVICTION_EXACT, SILENT = 1u << EVICTION_SILENT, ANY = EXACT | SILENT };
	enum { AHEAD = 1u << HOME_AHEAD, BLOCKING = 1u << HOME_BLOCKING, ALL = AHEAD | BLOCKING };

	memset(protocol, 0, sizeof(*protocol));
#define DO(action) 1u << ACTION_##action
#define CACHE_ROW(state, event, evictions, homes, does, to)           \
	if ((evictions) & (1u << eviction) && (homes) & (1u << home)) \
		protocol->cache[STATE_##state][EVENT_##event] =       \
			(struct protocol_row){ does, STATE_##to, true };
	CACHE_TABLE(CACHE_ROW)
#define HOME_ROW(state, event, homes, does, to)                \
	if ((homes) & (1u << home))                            \
		protocol->home[STATE_##state][EVENT_##event] = \
			(struct protocol_row){ does, STATE_##to, true };
	HOME_TABLE(HOME_ROW)
#undef DO
#undef CACHE_ROW
#undef HOME_ROW
}

const char *cache_state_name(enum cache_state state)
{
	return cache_states[state];
}

const char *cache_event_name(enum cache_event event)
{
	return cache_events[event];
}

const char *home_state_name(enum home_state state)
{
	return home_states[state];
}

const char *home_event_name(enum home_event event)
{
	return home_events[event];
}
