#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A copy of NCCL at all the points where it can be: the program's call reaches the same copy with and without the preload, and is
# on record where the loader had a say in it. Where it had none, commtrace doctor and the invisible part of info show it.
. "$(dirname "$0")/e2e.sh"
export COMMTRACE_QUIET=1 LD_LIBRARY_PATH=$e2e

# calls NAME RECORDED PROGRAM ARGUMENT...
calls() {
	local name=$1 recorded=$2 d=$work/$1 n=0
	shift 2
	mkdir "$d"
	timeout 80 "$@" >"$d/plain" 2>&1 || fail "$name, without the preload: $(cat "$d/plain")"
	traced 20 "$d/run" "$@" >"$d/out" 2>&1 || fail "$name: exit $?: $(cat "$d/out")"
	same "$name: output" "$d/plain" "$d/out"
	if [ -e "$d/run" ]; then
		n=$("$e2e/list_calls" "$d/run" | grep -c '^host ncclGetUniqueId 0') || fail "$name: list_calls: exit $?"
	fi
	[ "$n" = "$recorded" ] || fail "$name: $n calls are on record, not $recorded"
	echo "$name: $(cat "$d/out"), $([ "$n" = 1 ] && echo on record || echo unseen)"
}

calls "a library of its own" 1 "$e2e/bound" local "$e2e/libbound_linked.so"
calls "for all to see" 1 "$e2e/bound" global "$e2e/libbound_linked.so"
calls "visible inside a library" 1 "$e2e/bound" local "$e2e/libbound_visible.so"
calls "bound with -Bsymbolic" 0 "$e2e/bound" local "$e2e/libbound_symbolic.so"
calls "hidden inside a library" 0 "$e2e/bound" local "$e2e/libbound_hidden.so"
calls "RTLD_DEEPBIND" 0 "$e2e/bound" deepbind "$e2e/libbound_linked.so"
calls "a namespace of its own" 0 "$e2e/bound" namespace "$e2e/libbound_linked.so"
calls "inside the program" 0 "$e2e/bound_self"
