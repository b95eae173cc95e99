#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `make install` puts just the command, its manual page and its data in place, also where a path has
# a space; `make uninstall` takes just those away again and leaves what somebody else put beside them.
set -e -u -o pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
root="$dir/a root"
prefix=${PREFIX:-/usr/local}

make -s install DESTDIR="$root" >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
{
	echo "$prefix/bin/hitm"
	echo "$prefix/share/man/man1/hitm.1"
	find configs plots -type f | sed "s,^,$prefix/share/hitm/,"
} | sort >"$dir/expected"
(cd "$root" && find . -type f | sed 's,^\.,,' | sort) | diff "$dir/expected" -

own="$root$prefix/share/hitm/configs/own.yaml"
echo 'mine: true' >"$own"
make -s uninstall DESTDIR="$root" >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
[ "$(find "$root" -type f)" = "$own" ]
