/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coherence/protocol.h"
#include <string.h>

#define NAME(name) #name,
static const char *const cache_states[] = { CACHE_STATES(NAME) };
static const char *const cache_events[] = { CACHE_EVENTS(NAME) };
static const char *const cache_actions[] = { CACHE_ACTIONS(NAME) };
static const char *const home_states[] = { HOME_STATES(NAME) };
static const char *const home_events[] = { HOME_EVENTS(NAME) };
static const char *const home_actions[] = { HOME_ACTIONS(NAME) };
#undef NAME

const char *const protocol_kind_names[] = { "mesi", "mesif", "moesi", NULL };
const char *const eviction_names[] = { "silent", "exact", NULL };
const char *const home_kind_names[] = { "ahead", "blocking", NULL };
const char *const atomics_names[] = { "near", "far", NULL };

enum { VARIANT_SETS };

struct protocol_variant protocol_variant_at(uint32_t k)
{
	return (struct protocol_variant){
		.protocol = k / 8, .eviction = k / 4 % 2, .home = k / 2 % 2, .atomics = k % 2
	};
}

void protocol_select(struct protocol *protocol, const struct protocol_variant *variant)
{
	const uint32_t own =
		1u << ((uint32_t)variant->protocol * 8 + (uint32_t)variant->eviction * 4 +
		       (uint32_t)variant->home * 2 + (uint32_t)variant->atomics);

	memset(protocol, 0, sizeof(*protocol));
#define DO(action)        (1u << ACTION_##action)
#define IN(where, action) ((uint32_t)(where)&own ? DO(action) : 0)
#define CACHE_ROW(state, event, where, does, to)                \
	if ((uint32_t)(where)&own)                              \
		protocol->cache[STATE_##state][EVENT_##event] = \
			(struct protocol_row){ does, STATE_##to, true };
	CACHE_TABLE(CACHE_ROW)
#define HOME_ROW(state, event, where, does, to)                \
	if ((uint32_t)(where)&own)                             \
		protocol->home[STATE_##state][EVENT_##event] = \
			(struct protocol_row){ does, STATE_##to, true };
	HOME_TABLE(HOME_ROW)
#undef DO
#undef IN
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

const char *cache_action_name(enum cache_action action)
{
	return cache_actions[action];
}

const char *home_state_name(enum home_state state)
{
	return home_states[state];
}

const char *home_event_name(enum home_event event)
{
	return home_events[event];
}

const char *home_action_name(enum home_action action)
{
	return home_actions[action];
}
