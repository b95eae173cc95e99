/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line of the model as bytes, and under other names. */
#include "check/model.h"

static uint8_t *put_data(const struct model *model, uint8_t *at, uint16_t data)
{
	*at++ = (uint8_t)data;
	if (model->data_bytes == 2)
		*at++ = (uint8_t)(data >> 8);
	return at;
}

static const uint8_t *get_data(const struct model *model, const uint8_t *at, uint16_t *data)
{
	*data = *at++;
	if (model->data_bytes == 2)
		*data = (uint16_t)(*data | *at++ << 8);
	return at;
}

enum { HAS_DATA = 1, HAS_REQUEST_DATA = 2, HAS_ANSWER_DATA = 4, HAS_ACKS = 8, HAS_TRAFFIC = 16 };

/* Requesters of forwards are left out of a signature. */
static uint8_t *pack_cache(const struct model *model, const struct model_cache *cache, uint8_t *at,
			   bool signature)
{
	bool traffic = cache->request || cache->answer || cache->forwards;
	int has = (cache->data != MODEL_NO_DATA) * HAS_DATA |
		  (cache->request_data != MODEL_NO_DATA) * HAS_REQUEST_DATA |
		  (cache->answer_data != MODEL_NO_DATA) * HAS_ANSWER_DATA |
		  (cache->acks || cache->inv_acks) * HAS_ACKS | traffic * HAS_TRAFFIC;

	*at++ = cache->state;
	*at++ = (uint8_t)has;
	if (has & HAS_ACKS)
		*at++ = (uint8_t)((cache->acks + 8) << 4 | cache->inv_acks);
	if (has & HAS_TRAFFIC) {
		*at++ = (uint8_t)(cache->request | cache->forwards << 5);
		*at++ = (uint8_t)(cache->answer | cache->answer_acks << 5);
	}
	if (has & HAS_DATA)
		at = put_data(model, at, cache->data);
	if (has & HAS_REQUEST_DATA)
		at = put_data(model, at, cache->request_data);
	if (has & HAS_ANSWER_DATA)
		at = put_data(model, at, cache->answer_data);
	for (int k = 0; k < cache->forwards; k++) {
		const struct model_forward *forward = &cache->forward[k];

		*at++ = (uint8_t)(forward->event | (signature ? 0 : forward->requester << 5));
		*at++ = forward->acks;
	}
	return at;
}

static const uint8_t *unpack_cache(const struct model *model, const uint8_t *at,
				   struct model_cache *cache)
{
	uint8_t has;

	cache->state = *at++;
	has = *at++;
	if (has & HAS_ACKS) {
		cache->acks = (int8_t)((*at >> 4) - 8);
		cache->inv_acks = *at++ & 15;
	}
	if (has & HAS_TRAFFIC) {
		cache->request = *at & 31;
		cache->forwards = *at++ >> 5;
		cache->answer = *at & 31;
		cache->answer_acks = *at++ >> 5;
	}
	if (has & HAS_DATA)
		at = get_data(model, at, &cache->data);
	if (has & HAS_REQUEST_DATA)
		at = get_data(model, at, &cache->request_data);
	if (has & HAS_ANSWER_DATA)
		at = get_data(model, at, &cache->answer_data);
	for (int k = 0; k < cache->forwards; k++) {
		uint8_t event = *at++, requester = event >> 5;

		cache->forward[k].event = event & 31;
		cache->forward[k].requester = requester == 7 ? MODEL_NONE : requester;
		cache->forward[k].acks = *at++;
	}
	return at;
}

size_t model_pack(const struct model *model, const struct model_line *line, uint8_t *bytes)
{
	const struct model_home *home = &line->home;
	bool written = home->write_back != MODEL_NO_DATA;
	uint8_t *at = bytes;

	*at++ = (uint8_t)(home->state | written << 7);
	*at++ = (uint8_t)((home->owner & 15) << 4 | (home->pending & 15));
	*at++ = home->sharers;
	*at++ = (uint8_t)(home->answers << 4 | home->inv_acks);
	*at++ = (uint8_t)((home->missed & 15) << 4 | home->passed << 1 | home->unblock);
	at = put_data(model, at, home->memory);
	at = put_data(model, at, home->latest);
	if (written)
		at = put_data(model, at, home->write_back);
	for (uint32_t p = 0; p < model->caches; p++)
		at = pack_cache(model, &line->cache[p], at, false);
	return (size_t)(at - bytes);
}

static uint8_t nobody(int nibble)
{
	return nibble == 15 ? MODEL_NONE : (uint8_t)nibble;
}

size_t model_unpack(const struct model *model, const uint8_t *bytes, struct model_line *line)
{
	struct model_home *home = &line->home;
	const uint8_t *at = bytes;
	bool written;

	model_start(line);
	home->state = *at & 127;
	written = *at++ >> 7;
	home->owner = nobody(*at >> 4);
	home->pending = nobody(*at++ & 15);
	home->sharers = *at++;
	home->answers = *at >> 4;
	home->inv_acks = *at++ & 15;
	home->missed = nobody(*at >> 4);
	home->passed = *at >> 1 & 1;
	home->unblock = *at++ & 1;
	at = get_data(model, at, &home->memory);
	at = get_data(model, at, &home->latest);
	if (written)
		at = get_data(model, at, &home->write_back);
	for (uint32_t p = 0; p < model->caches; p++)
		at = unpack_cache(model, at, &line->cache[p]);
	return (size_t)(at - bytes);
}

static uint8_t renamed_to(const uint8_t *to, uint8_t cache)
{
	return cache == MODEL_NONE ? cache : to[cache];
}

void model_rename(const struct model *model, const struct model_line *line, const uint8_t *to,
		  struct model_line *renamed)
{
	renamed->home = line->home;
	renamed->home.owner = renamed_to(to, line->home.owner);
	renamed->home.pending = renamed_to(to, line->home.pending);
	renamed->home.missed = renamed_to(to, line->home.missed);
	renamed->home.sharers = 0;
	for (uint32_t p = 0; p < model->caches; p++) {
		struct model_cache *cache = &renamed->cache[to[p]];

		*cache = line->cache[p];
		for (int k = 0; k < cache->forwards; k++)
			cache->forward[k].requester = renamed_to(to, cache->forward[k].requester);
		renamed->home.sharers |= (uint8_t)((line->home.sharers >> p & 1) << to[p]);
	}
}

size_t model_signature(const struct model *model, const struct model_line *line, uint32_t cache,
		       uint8_t *bytes)
{
	const struct model_home *home = &line->home;
	uint8_t *at = bytes;

	*at++ = (uint8_t)((home->owner == cache) | (home->pending == cache) << 1 |
			  (home->missed == cache) << 2 | (home->sharers >> cache & 1) << 3);
	return (size_t)(pack_cache(model, &line->cache[cache], at, true) - bytes);
}
