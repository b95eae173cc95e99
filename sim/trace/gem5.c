/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packet traces of gem5: "gem5", and messages in the encoding of Protocol Buffers, each after its length,
 * as src/proto/packet.proto of gem5 has them: a header, then packets.
 *
 * Of the commands, enum Command in src/mem/packet.hh, 1 (ReadReq) and 4 (WriteReq) have kept their
 * numbers. Those above 5 have moved with every command that was added: 22 is ReadExReq now, and was
 * StoreCondFailReq in 2013. A trace does not say of which version it is, so that only request flags tell
 * what else was an access; these, in src/mem/request.hh, have kept their bits since 2010. */
#include "trace/formats.h"
#include <string.h>

static const unsigned char magic[] = { 'g', 'e', 'm', '5' };

enum { MESSAGE_MOST = INPUT_PEEK_MOST - 16, READ_REQUEST = 1, WRITE_REQUEST = 4 };

enum {
	FLAG_FETCH = 0x100,
	FLAG_LOCKED = 0x100000, /* of x86: a locked load, then a locked store */
	FLAG_SWAP = 0xc00000,   /* conditional, or not */
	FLAG_PREFETCH = 0x3000000
};

/* Numbers of fields, in the header and in a packet. */
enum { HEADER_FREQUENCY = 3 };
enum { PACKET_TICK = 1, PACKET_COMMAND, PACKET_ADDRESS, PACKET_SIZE, PACKET_FLAGS, PACKET_PC = 7 };
enum { FIELDS = 8 };

struct gem5 {
	uint64_t frequency; /* ticks a second */
};

/* ---- Protocol Buffers ----------------------------------------------------------------------- */

struct piece {
	const unsigned char *at, *end;
};

static bool take_number(struct piece *piece, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && piece->at < piece->end; shift += 7) {
		unsigned char byte = *piece->at++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return shift < 63 || byte <= 1;
	}
	return false;
}

static bool pass(struct piece *piece, uint64_t bytes)
{
	if (bytes > (uint64_t)(piece->end - piece->at))
		return false;
	piece->at += bytes;
	return true;
}

struct message {
	unsigned present; /* a bit for each field that is there */
	uint64_t values[FIELDS];
};

/* Keeps the numbers of the first fields; what else there is, is passed over. */
static bool decode(struct piece piece, struct message *message)
{
	enum { NUMBER, FIXED64, BYTES, FIXED32 = 5 };

	*message = (struct message){ 0 };
	while (piece.at < piece.end) {
		uint64_t key, value;
		bool good = take_number(&piece, &key) && key >> 3;

		if (good && (key & 7) == NUMBER) {
			good = take_number(&piece, &value);
			if (good && key >> 3 < FIELDS) {
				message->values[key >> 3] = value;
				message->present |= 1u << (key >> 3);
			}
		} else if (good && (key & 7) == BYTES) {
			good = take_number(&piece, &value) && pass(&piece, value);
		} else if (good) {
			good = ((key & 7) == FIXED64 && pass(&piece, 8)) ||
			       ((key & 7) == FIXED32 && pass(&piece, 4));
		}
		if (!good)
			return false;
	}
	return true;
}

/* ---- packets -------------------------------------------------------------------------------- */

enum got { GOT_MESSAGE, GOT_END, GOT_CUT, GOT_ERROR };

/* Passes over the last bytes: is it the end, or a failure to read on? */
static bool at_end(struct input *input, size_t bytes, struct error *error)
{
	struct text none;

	return input_skip(input, bytes, error) && !input_line(input, &none, error) &&
	       !error->text[0];
}

static enum got next_message(struct input *input, struct message *message, struct error *error)
{
	const unsigned char *bytes;
	size_t ahead = input_peek(input, 10, &bytes);
	struct piece piece = { bytes, bytes + ahead };
	uint64_t length, offset = input_offset(input);
	size_t framing;

	if (!ahead)
		return at_end(input, 0, error) ? GOT_END : GOT_ERROR;
	if (!take_number(&piece, &length)) {
		if (ahead < 10)
			return at_end(input, ahead, error) ? GOT_CUT : GOT_ERROR;
		input_byte_error(input, offset, error, "a packet's length of more than 64 bits");
		return GOT_ERROR;
	}
	if (length > MESSAGE_MOST) {
		input_byte_error(input, offset, error,
				 "a packet of %llu bytes, expected at most %d",
				 (unsigned long long)length, MESSAGE_MOST);
		return GOT_ERROR;
	}
	framing = (size_t)(piece.at - bytes);
	ahead = input_peek(input, framing + length, &bytes);
	if (ahead < framing + length)
		return at_end(input, ahead, error) ? GOT_CUT : GOT_ERROR;
	if (decode((struct piece){ bytes + framing, bytes + ahead }, message))
		return input_skip(input, ahead, error) ? GOT_MESSAGE : GOT_ERROR;
	input_byte_error(input, offset, error, "bytes that are no packet of gem5");
	return GOT_ERROR;
}

static bool gem5_begin(struct trace *trace, struct error *error)
{
	struct gem5 *own = trace->own;
	const unsigned char *bytes;
	struct message header = { 0 };
	size_t ahead = input_peek(trace->input, sizeof(magic), &bytes);

	if (ahead < sizeof(magic) || memcmp(bytes, magic, sizeof(magic)))
		return input_byte_error(trace->input, 0, error,
					"no heading, expected a packet trace of gem5");
	if (!input_skip(trace->input, sizeof(magic), error))
		return false;
	if (next_message(trace->input, &header, error) != GOT_MESSAGE ||
	    !header.values[HEADER_FREQUENCY])
		return input_byte_error(trace->input, sizeof(magic), error,
					"bad header, expected one with the frequency of ticks");
	own->frequency = header.values[HEADER_FREQUENCY];
	trace->summary.kind = KIND_COMPLETE;
	trace_note(trace,
		   "packets of gem5 have physical addresses, and do not say which core or thread "
		   "sent them");
	return true;
}

/* DROPS: an access. */
static enum trace_drop judge(const struct message *packet, struct trace_record *record)
{
	uint64_t command = packet->values[PACKET_COMMAND], flags = packet->values[PACKET_FLAGS];

	if (!(packet->present & 1u << PACKET_ADDRESS))
		return DROP_NO_ADDRESS;
	if (flags & FLAG_FETCH)
		return DROP_NOT_DATA;
	if (flags & FLAG_PREFETCH)
		return DROP_PREFETCH;
	if (flags & FLAG_SWAP) {
		record->op = TRACE_ATOMIC;
	} else if (command == READ_REQUEST) {
		record->op = flags & FLAG_LOCKED ? TRACE_ATOMIC : TRACE_LOAD;
	} else if (command == WRITE_REQUEST) {
		record->op = TRACE_STORE;
		if (flags & FLAG_LOCKED)
			return DROP_DUPLICATE; /* the locked load told of it */
	} else {
		return DROP_NOT_DATA;
	}
	return DROPS;
}

static bool fill(const struct gem5 *own, const struct message *packet, struct trace_record *record)
{
	unsigned __int128 ns =
		(unsigned __int128)packet->values[PACKET_TICK] * 1000000000 / own->frequency;
	uint64_t size = packet->values[PACKET_SIZE];

	if (ns > UINT64_MAX)
		return false;
	record->time = (uint64_t)ns;
	record->address = packet->values[PACKET_ADDRESS];
	record->known = KNOWN_ADDRESS;
	if (packet->present & 1u << PACKET_TICK)
		record->known |= KNOWN_TIME;
	if (size && size <= UINT16_MAX) {
		record->size = (uint16_t)size;
		record->known |= KNOWN_SIZE;
	}
	if (packet->present & 1u << PACKET_PC) {
		record->ip = packet->values[PACKET_PC];
		record->known |= KNOWN_IP;
	}
	return true;
}

static enum trace_step gem5_next(struct trace *trace, struct trace_record *record,
				 struct error *error)
{
	const struct gem5 *own = trace->own;
	struct message packet;
	enum got got;

	for (;;) {
		uint64_t offset = input_offset(trace->input);
		enum trace_drop why;

		got = next_message(trace->input, &packet, error);
		if (got != GOT_MESSAGE)
			break;
		why = judge(&packet, record);
		if (why == DROPS) {
			if (fill(own, &packet, record))
				return STEP_RECORD;
			input_byte_error(trace->input, offset, error,
					 "a tick of more than 64 bits of ns");
			return STEP_FAILED;
		}
		if (why == DROP_NOT_DATA && !(packet.values[PACKET_FLAGS] & FLAG_FETCH))
			trace_note(trace, "packets with commands other than 1 (ReadReq) and 4 "
					  "(WriteReq) are dropped: their numbers depend on the "
					  "version of gem5");
		trace_drop(trace, why);
	}
	if (got == GOT_CUT)
		trace_drop(trace, DROP_TRUNCATED);
	return got == GOT_ERROR ? STEP_FAILED : STEP_END;
}

static bool gem5_recognise(const unsigned char *head, size_t length)
{
	struct piece piece = { head + sizeof(magic), head + length };
	struct message header;
	uint64_t bytes;

	if (length < sizeof(magic) || memcmp(head, magic, sizeof(magic)) ||
	    !take_number(&piece, &bytes) || bytes > (uint64_t)(piece.end - piece.at))
		return false;
	piece.end = piece.at + bytes;
	return decode(piece, &header) && header.values[HEADER_FREQUENCY];
}

const struct trace_format trace_format_gem5 = {
	.name = "gem5",
	.about = "packet traces of gem5 (protobuf; gzip or not)",
	.size = sizeof(struct gem5),
	.recognise = gem5_recognise,
	.begin = gem5_begin,
	.next = gem5_next,
};
