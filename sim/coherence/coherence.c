/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What homes and caches share: lines by address, messages, memory, and the order of events. */
#include "coherence/coherence.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_MESSAGES = 32, CHUNK_COPIES = 32, CHUNK_LINES = 64, TABLE_START = 1024 };

struct chunk {
	struct chunk *next;
};

/* Memory that lives as long as the coherence system. NULL only outside a run. */
static void *chunk_new(struct coherence *coherence, size_t size)
{
	struct chunk *chunk = calloc(1, sizeof(*chunk) + size);

	if (!chunk) {
		error_set(&coherence->defect, "out of memory");
		if (coherence->client.give_up)
			coherence->client.give_up(coherence->client.context);
		return NULL;
	}
	chunk->next = coherence->chunks;
	coherence->chunks = chunk;
	return chunk + 1;
}

static bool core_new(struct coherence *coherence, uint32_t number)
{
	const struct coherence_config *config = &coherence->config;
	size_t l1 = (size_t)config->l1.sets * config->l1.ways;
	size_t l2 = (size_t)config->l2.sets * config->l2.ways;
	struct core *core = &coherence->cores[number];

	core->number = number;
	core->socket = fabric_socket(coherence->fabric, number);
	core->l1_tag = calloc(l1, sizeof(*core->l1_tag));
	core->l1 = calloc(l1, sizeof(*core->l1));
	core->l2 = calloc(l2, sizeof(*core->l2));
	if (config->migratory)
		core->wrote = calloc(WROTE_LINES, sizeof(*core->wrote));
	return core->l1_tag && core->l1 && core->l2 && (core->wrote || !config->migratory);
}

struct coherence *coherence_new(const struct coherence_config *config, struct fabric *fabric,
				const struct client *client)
{
	struct coherence *coherence = calloc(1, sizeof(*coherence));
	uint32_t sockets = fabric->topology.sockets;
	bool complete;

	if (!coherence) {
		fabric_free(fabric);
		return NULL;
	}
	coherence->config = *config;
	coherence->fabric = fabric;
	coherence->client = *client;
	coherence->line_shift = (uint32_t)__builtin_ctz(config->line);
	coherence->l1_mask = config->l1.sets - 1;
	coherence->l2_mask = config->l2.sets - 1;
	coherence->random = random_stream(config->seed, "home.discipline", 0);
	coherence->table_size = TABLE_START;
	coherence->table = calloc(TABLE_START, sizeof(*coherence->table));
	coherence->queue = queue_new();
	coherence->cores = calloc(fabric->cores, sizeof(*coherence->cores));
	coherence->home_count = calloc(sockets, sizeof(*coherence->home_count));
	coherence->llc = calloc((size_t)sockets * config->llc_sets * config->llc_ways,
				sizeof(struct line *));
	complete = coherence->table && coherence->queue && coherence->cores &&
		   coherence->home_count && coherence->llc;
	for (uint32_t k = 0; complete && k < fabric->cores; k++)
		complete = core_new(coherence, k);
	if (complete && config->paranoid) {
		coherence->visits = chunk_new(coherence, sizeof(*coherence->visits));
		complete = coherence->visits;
	}
	if (!complete) {
		coherence_free(coherence);
		return NULL;
	}
	if (config->protocol == PROTOCOL_MESIF)
		for (int d = 0; d < DISTANCES; d++)
			if (fabric->share[d] && fabric->share[d] < fabric->lookahead)
				fabric->lookahead = fabric->share[d];
	protocol_select(&coherence->protocol,
			&(struct protocol_variant){ config->protocol, config->eviction,
						    config->home, config->atomics });
	return coherence;
}

void coherence_free(struct coherence *coherence)
{
	if (!coherence)
		return;
	for (uint32_t k = 0; coherence->cores && k < coherence->fabric->cores; k++) {
		free(coherence->cores[k].l1_tag);
		free(coherence->cores[k].l1);
		free(coherence->cores[k].l2);
		free(coherence->cores[k].wrote);
	}
	for (struct chunk *chunk = coherence->chunks, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(coherence->cores);
	free(coherence->llc);
	free(coherence->home_count);
	free(coherence->table);
	queue_free(coherence->queue);
	fabric_free(coherence->fabric);
	free(coherence);
}

/* ---- lines ---------------------------------------------------------------------------------- */

static size_t table_slot(const struct coherence *coherence, uint64_t address)
{
	uint64_t h = (address >> coherence->line_shift) * 0x9e3779b97f4a7c15u;

	return (h >> 20) & (coherence->table_size - 1);
}

static void table_grow(struct coherence *coherence)
{
	struct line **old = coherence->table;
	size_t size = coherence->table_size;
	struct line **table = calloc(size * 2, sizeof(*table));

	if (!table)
		return; /* a crowded table is slow, not wrong */
	coherence->table = table;
	coherence->table_size = size * 2;
	for (size_t k = 0; k < size; k++)
		for (struct line *line = old[k], *next; line; line = next) {
			size_t slot = table_slot(coherence, line->address);

			next = line->next;
			line->next = table[slot];
			table[slot] = line;
		}
	free(old);
}

static struct line *line_new(struct coherence *coherence, uint64_t address)
{
	struct line *line = chunk_new(coherence, sizeof(*line));
	size_t slot;

	if (!line)
		return NULL;
	if (coherence->line_count >= coherence->table_size)
		table_grow(coherence);
	slot = table_slot(coherence, address);
	line->address = address;
	line->owner = line->first = line->last = NOBODY;
	coherence->line_count++;
	line->waiting_tail = &line->waiting;
	line->state = STATE_HI;
	line->next = coherence->table[slot];
	coherence->table[slot] = line;
	return line;
}

struct line *coherence_line(struct coherence *coherence, uint64_t address)
{
	address &= ~(uint64_t)(coherence->config.line - 1);
	for (struct line *line = coherence->table[table_slot(coherence, address)]; line;
	     line = line->next)
		if (line->address == address)
			return line;
	return line_new(coherence, address);
}

void coherence_set_home(struct coherence *coherence, uint64_t address, uint32_t socket)
{
	struct line *line = coherence_line(coherence, address);

	if (line)
		line->socket = (uint8_t)socket;
}

void coherence_poke(struct coherence *coherence, uint64_t address, const void *data, size_t size)
{
	const uint8_t *from = data;

	for (size_t k = 0; k < size; k++) {
		struct line *line = coherence_line(coherence, address + k);

		if (!line)
			return;
		line->memory[address + k - line->address] = from[k];
		line->golden[address + k - line->address] = from[k];
	}
}

void coherence_peek(struct coherence *coherence, uint64_t address, void *data, size_t size)
{
	uint8_t *to = data;

	for (size_t k = 0; k < size; k++) {
		struct line *line = coherence_line(coherence, address + k);
		const uint8_t *from = line ? line->memory : NULL;

		if (!line)
			return;
		if (line->owner != NOBODY) {
			struct copy *copy = cache_find(coherence, &coherence->cores[line->owner],
						       line->address);
			from = copy ? copy->data : from;
		}
		to[k] = from[address + k - line->address];
	}
}

/* ---- messages ------------------------------------------------------------------------------- */

struct message *message_new(struct coherence *coherence)
{
	if (!coherence->pool) {
		struct message *fresh = chunk_new(coherence, CHUNK_MESSAGES * sizeof(*fresh));

		for (int k = 0; k < CHUNK_MESSAGES; k++) {
			fresh[k].next = coherence->pool;
			coherence->pool = &fresh[k];
		}
	}
	struct message *message = coherence->pool;

	coherence->pool = message->next;
	message->as_sharer = false;
	message->sent = 0;
	message->acks = 0;
	message->queued = 0;
	message->next = NULL;
	return message;
}

void message_free(struct coherence *coherence, struct message *message)
{
	message->next = coherence->pool;
	coherence->pool = message;
}

static void push(struct coherence *coherence, struct message *message)
{
	if (!queue_push(coherence->queue, &message->event))
		error_set(&coherence->defect, "out of memory");
}

/* Sources are numbered cores first, then homes. */
void message_to_cache(struct coherence *coherence, struct message *message, uint32_t core,
		      uint64_t cause, uint64_t time)
{
	message->kind = TO_CACHE;
	message->core = (uint16_t)core;
	message->event.cause = cause;
	core_schedule(coherence, &coherence->cores[core], message, time);
}

void message_to_home(struct coherence *coherence, struct message *message, uint64_t cause,
		     uint64_t time)
{
	message->kind = TO_HOME;
	message->event.cause = cause;
	message->event.time = time;
	push(coherence, message);
}

/* Anything that will happen at a core goes through here, so that the core knows how far it may run
 * ahead. */
void core_schedule(struct coherence *coherence, struct core *core, struct message *message,
		   uint64_t time)
{
	message->event.time = time;
	if (core->inbound_count < INBOUND_MAX)
		core->inbound[core->inbound_count++] = time;
	else
		core->inbound_more++;
	push(coherence, message);
}

/* The event has come: it bounds the core no longer. */
static void core_arrive(struct core *core, uint64_t time)
{
	for (uint32_t k = 0; k < core->inbound_count; k++)
		if (core->inbound[k] == time) {
			core->inbound[k] = core->inbound[--core->inbound_count];
			return;
		}
	core->inbound_more--;
}

uint64_t core_horizon(struct coherence *coherence, const struct core *core)
{
	uint64_t next = queue_next_time(coherence->queue), horizon;

	if (core->inbound_more)
		return next;
	horizon = next == UINT64_MAX ? next : next + coherence->fabric->lookahead;
	for (uint32_t k = 0; k < core->inbound_count; k++)
		if (core->inbound[k] < horizon)
			horizon = core->inbound[k];
	return horizon;
}

struct message *coherence_next(struct coherence *coherence)
{
	struct message *message = (struct message *)queue_pop(coherence->queue);

	if (!message)
		return NULL;
	coherence->now = message->event.time;
	coherence->events++;
	if (message->kind != TO_HOME)
		core_arrive(&coherence->cores[message->core], coherence->now);
	return message;
}

void coherence_handle(struct coherence *coherence, struct message *message)
{
	if (message->kind == TO_HOME)
		home_handle(coherence, message);
	else
		cache_handle(coherence, message);
}

void coherence_defect(struct coherence *coherence, const struct line *line, const char *what, ...)
{
	enum { LISTED = 8 };
	char text[160], waiters[200] = "";
	size_t used = 0;
	uint32_t count = 0;
	va_list arguments;

	va_start(arguments, what);
	vsnprintf(text, sizeof(text), what, arguments);
	va_end(arguments);
	for (const struct message *m = line->waiting; m && count < LISTED; m = m->next, count++)
		used += (size_t)snprintf(waiters + used, sizeof(waiters) - used,
					 "%s%u %s since %llu", count ? ", " : ": ", m->core,
					 home_event_name(m->type), (unsigned long long)m->arrived);
	if (!coherence->defect_kind)
		coherence->defect_kind = DEFECT_PROTOCOL;
	error_set(&coherence->defect,
		  "protocol defect at cycle %llu: %s; line %#llx, home %s, owner %d, %u waiting%s; "
		  "replay with --seed %llu",
		  (unsigned long long)coherence->now, text, (unsigned long long)line->address,
		  home_state_name(line->state), line->owner == NOBODY ? -1 : (int)line->owner,
		  line->waiting_count, waiters, (unsigned long long)coherence->config.seed);
}

struct copy *copy_new(struct coherence *coherence)
{
	if (!coherence->copies) {
		struct copy *fresh = chunk_new(coherence, CHUNK_COPIES * sizeof(*fresh));

		for (int k = 0; k < CHUNK_COPIES; k++) {
			fresh[k].next = coherence->copies;
			coherence->copies = &fresh[k];
		}
	}
	struct copy *copy = coherence->copies;

	coherence->copies = copy->next;
	memset(copy, 0, offsetof(struct copy, data));
	copy->waiting_tail = &copy->waiting;
	copy->stalled_tail = &copy->stalled;
	return copy;
}

void copy_free(struct coherence *coherence, struct copy *copy)
{
	copy->next = coherence->copies;
	coherence->copies = copy;
}
