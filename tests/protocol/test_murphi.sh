#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Explores the Murphi model anew, and compares with counts.tsv, which the table's own numbers are held
# against: three caches with near atomics, two with far ones.
set -e -u -o pipefail

command -v rumur >/dev/null || { echo "rumur is missing (Debian: rumur)"; exit 77; }
here=$(dirname "$0")

# A line of counts.tsv, anew.
recount() {
	local here=$1 protocol=$2 eviction=$3 home=$4 atomics=$5 caches=$6 expected="$7 $8" found
	local -A number=([mesi]=0 [mesif]=1 [moesi]=2 [exact]=0 [silent]=1 [ahead]=0 [blocking]=1
		[near]=0 [far]=1)

	found=$(bash "$here/murphi" "$caches" "${number[$protocol]}" "${number[$eviction]}" \
		"${number[$home]}" "${number[$atomics]}") || true
	[ "$found" = "$expected" ] && return
	echo "$protocol $eviction $home $atomics, $caches caches: found $found, expected $expected"
	return 1
}
export -f recount

awk -F '\t' 'NF == 7 && (($4 == "near" && $5 == 3) || ($4 == "far" && $5 == 2))' "$here/counts.tsv" |
	xargs -P "$(nproc)" -L 1 bash -c 'recount "$@"' recount "$here"
echo "murphi    counts.tsv counted anew: three caches near, two far"
