/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/scan.h"

bool scan_decimal(struct scan *scan, uint64_t *value)
{
	const char *at = scan->at;
	uint64_t sum = 0;

	for (; at < scan->end && (unsigned char)(*at - '0') <= 9; at++) {
		uint64_t digit = (uint64_t)(*at - '0');

		if (sum > (UINT64_MAX - digit) / 10)
			return false;
		sum = sum * 10 + digit;
	}
	if (at == scan->at)
		return false;
	scan->at = at;
	*value = sum;
	return true;
}

/* Of a hexadecimal digit its value, of anything else 16 or more. */
static inline unsigned hex_digit(char c)
{
	unsigned digit = (unsigned char)(c - '0'), letter = (unsigned char)((c | 0x20) - 'a');

	if (digit <= 9)
		return digit;
	return letter <= 5 ? letter + 10 : 16;
}

bool scan_hex(struct scan *scan, uint64_t *value)
{
	const char *at = scan->at, *first;
	uint64_t sum = 0;

	if (scan->end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x' && hex_digit(at[2]) < 16)
		at += 2;
	for (first = at; at < scan->end && hex_digit(*at) < 16; at++) {
		if (sum >> 60)
			return false;
		sum = sum << 4 | hex_digit(*at);
	}
	if (at == first)
		return false;
	scan->at = at;
	*value = sum;
	return true;
}

bool scan_seconds(struct scan *scan, uint64_t *ns)
{
	struct scan ahead = *scan;
	uint64_t seconds, fraction;
	const char *point;

	if (!scan_decimal(&ahead, &seconds) || !scan_char(&ahead, '.'))
		return false;
	point = ahead.at;
	if (!scan_decimal(&ahead, &fraction) || ahead.at - point > 9)
		return false;
	for (long digits = ahead.at - point; digits < 9; digits++)
		fraction *= 10;
	if (seconds > (UINT64_MAX - fraction) / 1000000000)
		return false;
	*ns = seconds * 1000000000 + fraction;
	*scan = ahead;
	return true;
}
