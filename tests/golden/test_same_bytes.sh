#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Same inputs and seed, same bytes: whatever the number of jobs, once more, with every access an
# event of its own, with every load checked, and built by the other compiler at another level of
# optimization. $HITM is the command under test.
set -e -u -o pipefail

[ "${HITM:-}" ] || { echo "HITM does not name the command under test"; exit 77; }

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# What is compared: both experiments, the larger one reduced.
run() { # NAME COMMAND OPTION...
	local name=$1 command=$2
	shift 2
	"$command" run memcg-2022 --format json --no-band \
		--set measure.duration='100 us' --set measure.warmup='50 us' \
		--set scaling.values='[1, 12, 36]' "$@" >"$dir/$name"
	"$command" run false-sharing --format json --set measure.duration='100 us' "$@" >>"$dir/$name"
}

same() { # NAME WHAT
	cmp "$dir/first" "$dir/$1" || { echo "other bytes $2"; exit 1; }
}

run first "$HITM" --jobs 2
[ "$(grep -c '"schema": "hitm-results/1"' "$dir/first")" = 3 ]
run again "$HITM" --jobs 2
same again "in a second run"
run serial "$HITM" --jobs 1
same serial "with --jobs 1"
run turns "$HITM" --take-turns
same turns "with --take-turns"
run paranoid "$HITM" --paranoid
same paranoid "with --paranoid"

# Another seed is another run, or the comparisons above would mean little.
run other "$HITM" --seed 2
if cmp -s <(grep -v '"seed"' "$dir/first") <(grep -v '"seed"' "$dir/other"); then
	echo "the seed changes nothing"
	exit 1
fi

built=$(dirname "$HITM")
case $built in
*address* | *undefined* | *thread*)
	echo "the other compiler is left to the build without sanitizers"
	exit
	;;
esac
other=clang
if grep -q '^clang' "$built/command" 2>/dev/null; then
	other=gcc
fi
command -v $other >/dev/null || { echo "no $other here: compared with one compiler alone"; exit; }
cp -r Makefile sim models "$dir"
env -u MAKEFLAGS -u MAKELEVEL make -s -C "$dir" -j2 CC=$other CFLAGS=-O1 all >"$dir/log" 2>&1 || {
	cat "$dir/log"
	exit 1
}
run compiler "$dir/build/hitm"
same compiler "from a build with $other"

# Storms in hundreds of machines, by the fingerprint of all that they computed.
storms() {
	"$1" check --only storms --seed 1 | sed 's/ *([0-9]* s)$//'
}
[ "$(storms "$HITM")" = "$(storms "$dir/build/hitm")" ] || {
	echo "storms differ in a build with $other"
	exit 1
}
