/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/perf_data.h"
#include <stdlib.h>
#include <zstd.h>

enum { UNPACKED = 256 << 10 }; /* more than any record */

/* Records lie in a window of the input, or, those of compressed records, in `unpacked`, where the
 * beginning of one may wait for the next compressed record to bring the rest. */
struct perf_stream {
	struct input *input;
	const struct perf_events *events;
	uint64_t left;                         /* bytes of the section, from `start` on */
	const unsigned char *start, *at, *end; /* the window, and what of it is ahead */
	unsigned char *unpacked;               /* NULL: nothing has been compressed yet */
	size_t unpacked_at, unpacked_end;
	ZSTD_DStream *zstd;
	ZSTD_inBuffer packed; /* the rest of a compressed record, in the window */
	bool unpacking;
	uint64_t budget; /* bytes that it may still bring */
	size_t last;     /* of the window: the record in hand */
};

struct perf_stream *perf_stream_new(struct input *input, const struct perf_events *events)
{
	struct perf_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->input = input;
	stream->events = events;
	stream->left = events->data_size;
	return stream;
}

void perf_stream_free(struct perf_stream *stream)
{
	if (!stream)
		return;
	ZSTD_freeDStream(stream->zstd);
	free(stream->unpacked);
	free(stream);
}

uint64_t perf_stream_offset(const struct perf_stream *stream)
{
	return input_offset(stream->input) + stream->last;
}

static enum perf_stream_step out_of_memory(struct error *error)
{
	error_set(error, "out of memory");
	return STREAM_FAILED;
}

/* Checks the size that a record claims; 0 with *error set. */
static size_t record_size(const struct perf_stream *stream, const unsigned char *record,
			  struct error *error)
{
	size_t size = get16(record + RECORD_SIZE_AT, stream->events->big);

	if (size >= RECORD_HEADER)
		return size;
	input_byte_error(stream->input, perf_stream_offset(stream), error,
			 "a record of %zu bytes, expected at least %d: the file is damaged", size,
			 RECORD_HEADER);
	return 0;
}

/* ---- compressed ----------------------------------------------------------------------------- */

/* One zstd stream runs through all compressed records. */
static enum perf_stream_step unpack_begin(struct perf_stream *stream, const unsigned char *record,
					  size_t size, struct error *error)
{
	bool big = stream->events->big;
	size_t from = RECORD_HEADER, length = size - RECORD_HEADER;

	if (get32(record, big) == RECORD_COMPRESSED2) { /* padded: it says how much of it counts */
		from += 8;
		if (size < from || get64(record + RECORD_HEADER, big) > size - from) {
			input_byte_error(stream->input, perf_stream_offset(stream), error,
					 "a compressed record with more in it than its %zu bytes",
					 size);
			return STREAM_FAILED;
		}
		length = (size_t)get64(record + RECORD_HEADER, big);
	}
	if (!stream->unpacked)
		stream->unpacked = malloc(UNPACKED);
	if (!stream->zstd)
		stream->zstd = ZSTD_createDStream();
	if (!stream->unpacked || !stream->zstd)
		return out_of_memory(error);
	stream->packed = (ZSTD_inBuffer){ record + from, length, 0 };
	stream->budget = stream->events->unpacked_most;
	stream->unpacking = true;
	return STREAM_RECORD;
}

/* Fills up `unpacked`; ends unpacking where the compressed record has no more. */
static bool unpack_more(struct perf_stream *stream, struct error *error)
{
	size_t kept = stream->unpacked_end - stream->unpacked_at, status;
	ZSTD_outBuffer out = { stream->unpacked, UNPACKED, kept };

	memmove(stream->unpacked, stream->unpacked + stream->unpacked_at, kept);
	status = ZSTD_decompressStream(stream->zstd, &out, &stream->packed);
	if (ZSTD_isError(status))
		return input_byte_error(stream->input, perf_stream_offset(stream), error,
					"a compressed record that zstd cannot unpack: %s",
					ZSTD_getErrorName(status));
	stream->unpacked_at = 0;
	stream->unpacked_end = out.pos;
	if (out.pos - kept > stream->budget)
		return input_byte_error(stream->input, perf_stream_offset(stream), error,
					"a compressed record of more than the %llu bytes that the "
					"file's header allows",
					(unsigned long long)stream->events->unpacked_most);
	stream->budget -= out.pos - kept;
	/* With room left, nothing is left inside zstd either. */
	if (stream->packed.pos == stream->packed.size && out.pos < out.size)
		stream->unpacking = false;
	return true;
}

/* The next record of those unpacked: STREAM_END where it needs more than there is. */
static enum perf_stream_step unpacked_next(struct perf_stream *stream, const unsigned char **record,
					   struct error *error)
{
	for (;;) {
		const unsigned char *at = stream->unpacked + stream->unpacked_at;
		size_t ahead = stream->unpacked_end - stream->unpacked_at, size;

		if (ahead >= RECORD_HEADER) {
			size = record_size(stream, at, error);
			if (!size)
				return STREAM_FAILED;
			if (size <= ahead) {
				stream->unpacked_at += size;
				*record = at;
				return STREAM_RECORD;
			}
		}
		if (!stream->unpacking)
			return STREAM_END;
		if (!unpack_more(stream, error))
			return STREAM_FAILED;
	}
}

/* ---- as they lie in the file ---------------------------------------------------------------- */

/* Moves the window on. False where the section ends before `wanted` bytes, or the file. */
static bool move_window(struct perf_stream *stream, size_t wanted)
{
	struct error none = { "" };
	size_t used = (size_t)(stream->at - stream->start), most = INPUT_PEEK_MOST, got;

	input_skip(stream->input, used, &none); /* has been looked at, so is there */
	stream->left -= used;
	if (stream->left < most)
		most = (size_t)stream->left;
	got = input_peek(stream->input, most, &stream->start);
	stream->at = stream->start;
	stream->end = stream->start + got;
	return wanted <= got;
}

static inline bool ahead(struct perf_stream *stream, size_t wanted)
{
	return wanted <= (size_t)(stream->end - stream->at) || move_window(stream, wanted);
}

static enum perf_stream_step file_next(struct perf_stream *stream, const unsigned char **record,
				       size_t *size, struct error *error)
{
	*record = NULL;
	if (!ahead(stream, RECORD_HEADER)) {
		if (stream->at < stream->end)
			*record = stream->at;
		/* A section without a size ends with the file. */
		if (*record || (stream->left && stream->events->data_size != UINT64_MAX))
			return STREAM_CUT;
		return STREAM_END;
	}
	stream->last = (size_t)(stream->at - stream->start);
	*size = record_size(stream, stream->at, error);
	if (!*size)
		return STREAM_FAILED;
	if (!ahead(stream, *size)) {
		*record = stream->at;
		return STREAM_CUT;
	}
	stream->last = (size_t)(stream->at - stream->start);
	*record = stream->at;
	stream->at += *size;
	return STREAM_RECORD;
}

static enum perf_stream_step end_of(const struct perf_stream *stream, enum perf_stream_step step,
				    const unsigned char **record)
{
	if (stream->unpacked_at == stream->unpacked_end)
		return step;
	*record = stream->unpacked + stream->unpacked_at;
	return STREAM_CUT;
}

enum perf_stream_step perf_stream_next(struct perf_stream *stream, const unsigned char **record,
				       struct error *error)
{
	for (;;) {
		enum perf_stream_step step;
		size_t size;
		uint32_t type;

		if (stream->unpacked) {
			step = unpacked_next(stream, record, error);
			if (step != STREAM_END)
				return step;
		}
		step = file_next(stream, record, &size, error);
		if (step != STREAM_RECORD)
			return step == STREAM_FAILED ? step : end_of(stream, step, record);
		type = get32(*record, stream->events->big);
		if (type != RECORD_COMPRESSED && type != RECORD_COMPRESSED2)
			return step;
		step = unpack_begin(stream, *record, size, error);
		if (step != STREAM_RECORD)
			return step;
	}
}
