#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every fuzz target takes the project's own files, and thousands of others made from them at random (the
# same ones every time), under the sanitizers. `make fuzz` goes on from here, for as long as one likes.
set -e -u -o pipefail

[ "${HITM:-}" ] || { echo "HITM does not name the command under test"; exit 77; }

compiler=${CC:-gcc}
sanitize=address,undefined
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

echo 'int main(void) { return 0; }' | $compiler -fsanitize=$sanitize -x c -o "$dir/linked" - 2>/dev/null || {
	echo "$compiler cannot link with its sanitizers here (Debian: libclang-rt-14-dev is clang's)"
	exit 77
}
env -u MAKEFLAGS -u MAKELEVEL -u SANITIZE make -s -j2 CC="$compiler" SANITIZE=$sanitize fuzz-targets \
	>"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
bash tests/fuzz/seeds "$dir/seeds" "$HITM"

replay() { # NAME COUNT
	"build/$sanitize/fuzz/$1" -n "$2" -d "$dir/seeds/$1.dict" -k "$dir/crash" "$dir/seeds/$1" \
		>"$dir/$1.log" 2>&1 && return
	echo "$1:"
	head -n 30 "$dir/$1.log"
	[ ! -e "$dir/crash" ] || { echo "the input, in base64:"; base64 "$dir/crash"; }
	return 1
}

# As many as take about as long as one another; two at a time.
replay experiment 15000 & first=$!
replay machine 20000
replay results 20000
replay layout 20000
replay litmus 20000
replay members 1000
replay perf_data 20000
replay c2c 20000
wait $first
replay sim 4000 & first=$!
replay set 20000
replay perf_script 20000
replay lackey 10000
replay drmemtrace 10000
replay pinatrace 10000
replay din 10000
replay gem5 10000
replay recognise 10000
replay trace_text 10000
replay trace_binary 10000
replay pahole 20000
wait $first
echo "fuzz      $(grep -ho "^replay [a-z0-9_]* [0-9]*" "$0" | awk '{ n += $3 } END { print n " inputs of " NR " targets" }') under the sanitizers: nothing found"
