#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whatever call to the system fails, the command says so in one line, ends with status 2, has freed all
# it took, and leaves no file that is not whole. A preloaded library makes the n-th call fail, for the
# first n of each chain of functions that ends in such a call; FAULTS=all takes every n (hours).
set -e -u -o pipefail

[ "${HITM:-}" ] || { echo "HITM does not name the command under test"; exit 77; }
faults=$(dirname "$HITM")/tests/faults.so
[ -e "$faults" ] || { echo "built with sanitizers, which have to be the first to see calls"; exit 77; }

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/bin"

cat >"$dir/tiny.yaml" <<'END'
experiment: tiny
about: two threads, one counter
machines: [tiny-machine.yaml]
layouts: {example_stats: example-stats-together}
workload:
  model: loop
  objects: {stats: {struct: example_stats}}
  groups: {one: {threads: 2, each: [{read: [stats.limit, stats.flags]}, {add: stats.packets}]}}
measure: {warmup: 1 us, duration: 3 us}
baseline: base
variants: {base: {}, apart: {layouts.example_stats: example-stats-apart}}
published: {unit: u, per_operation: 0.1, values: {base: 100, apart: 120}}
band: {machine.discipline: [fifo]}
scaling: {variants: [base], path: workload.groups.one.threads, cpus_each: 1, unit: v, values: [1, 2], per_operation: 1}
END
sed -e 's/cores_per_socket: 4/cores_per_socket: 2/' -e '/^published:$/,$d' configs/machines/i7-6700k.yaml \
	>"$dir/tiny-machine.yaml"
sed -i "s,tiny-machine,$dir/tiny-machine," "$dir/tiny.yaml"

# Draws in no time what is asked for.
cat >"$dir/bin/gnuplot" <<'END'
#!/bin/sh
format=$(expr "$3" : "format = '\(.*\)'")
echo "$4" >"${4%.gp}.$format"
END
chmod +x "$dir/bin/gnuplot"
PATH=$dir/bin:$PATH

fail() { # SCENARIO N WHAT
	echo "$1, call $2: $3: $(cat "$dir/$1.err")" >>"$dir/failures"
}

# Every file in OUT is the same as in EXPECTED.
whole() { # OUT EXPECTED
	local file
	[ -d "$1" ] || return 0
	while read -r file; do
		cmp -s "$1/$file" "$2/$file" || { echo "$file is not whole"; return 1; }
	done < <(cd "$1" && find . -type f -o -name '.hitm-*')
}

check() { # SCENARIO N STATUS
	local name=$1 err message
	err=$(<"$dir/$name.err")
	case $3 in
	0)
		cmp -s "$dir/$name.stdout" "$dir/$name.expected" || fail "$name" "$2" "status 0, other output"
		diff -r "$dir/$name.out" "$dir/$name.whole" >/dev/null || fail "$name" "$2" "status 0, other files"
		[ ! "$err" ] || fail "$name" "$2" "status 0 with a message"
		;;
	2)
		[[ $err =~ ^(hitm( [a-z]+)?|[^\ ]+):\ [^$'\n']+$ ]] || fail "$name" "$2" "not one line of message"
		;;
	*)
		fail "$name" "$2" "status $3"
		;;
	esac
	message=$(whole "$dir/$name.out" "$dir/$name.whole") || fail "$name" "$2" "$message"
	[ ! -e "$dir/$name.leaks" ] || fail "$name" "$2" "$(wc -l <"$dir/$name.leaks") blocks leaked"
}

# Runs the command with call N failing, and checks what comes of it.
fault() { # SCENARIO N VARIABLE ARGUMENT...
	local name=$1 n=$2 variable=$3 status=0
	shift 3
	rm -rf "$dir/$name.out" "$dir/$name.leaks"
	mkdir "$dir/$name.out"
	timeout 20 env LD_PRELOAD="$faults" FAULT_AT="$n" FAULT_LEAKS="$dir/$name.leaks" "$variable" \
		"$HITM" "$@" >"$dir/$name.stdout" 2>"$dir/$name.err" || status=$?
	check "$name" "$n" $status
}

# What is written goes to $dir/NAME.out.
scenario() { # NAME ARGUMENT...
	local name=$1 which='!seen[$1]++' n count=0
	shift
	[ "${FAULTS:-}" != all ] || which=1
	mkdir "$dir/$name.out"
	LD_PRELOAD="$faults" FAULT_CALLS="$dir/$name.calls" "$HITM" "$@" >"$dir/$name.expected"
	mv "$dir/$name.out" "$dir/$name.whole"
	fault "$name" 0 NONE=1 "$@"
	for n in $(awk "$which { print NR }" "$dir/$name.calls"); do
		fault "$name" "$n" NONE=1 "$@"
		count=$((count + 1))
	done
	# A full disk stays full.
	for n in $(awk '/mkdir|mkdtemp|fopen|fwrite/ && !seen[$1]++ { print NR }' "$dir/$name.calls"); do
		fault "$name" "$n" FAULT_ON=1 "$@"
		count=$((count + 1))
	done
	echo "$name: $count of $(wc -l <"$dir/$name.calls") calls failed in turn"
}

scenario run run "$dir/tiny.yaml" --jobs 1 --out "$dir/run.out" & first=$!
"$HITM" run "$dir/tiny.yaml" --quiet --out "$dir/results"
results=$(echo "$dir"/results/results-*.json)
scenario layout layout show mem_cgroup-6.0-rc1 --format json
scenario list list
scenario plot plot --only bars,scaling --out "$dir/plot.out" "$results"
scenario probe probe "$dir/tiny-machine.yaml" --format json
scenario table check --table --markdown
wait $first

# What cannot be written to standard output was not done.
for arguments in list 'layout show page_counter-6.18' "run $dir/tiny.yaml" "probe $dir/tiny-machine.yaml" -h 'run -h'; do
	status=0
	"$HITM" $arguments >/dev/full 2>"$dir/err" || status=$?
	[ $status = 2 ] && grep -q '^hitm: standard output: No space left on device$' "$dir/err" || {
		echo "hitm $arguments on a full disk: status $status: $(cat "$dir/err")"
		exit 1
	}
done

if [ -e "$dir/failures" ]; then
	wc -l <"$dir/failures"
	head -n ${MORE:-40} "$dir/failures"
	exit 1
fi
