#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program with AddressSanitizer, whose runtime ends it where anything was loaded before: `commtrace run` records it, also behind a
# launcher, and it ends as it does alone, also where memory leaks.
. "$(dirname "$0")/mpi.sh"
program=$(mpi_program scarce_asan)
unset ASAN_OPTIONS

# compare NAME OPTIONS COMMAND...: sets `alone`, its exit status.
compare() {
	local name=$1 options=$2 recorded=0
	shift 2
	alone=0
	timeout -k 5 240 env ${options:+ASAN_OPTIONS="$options"} "$@" >"$work/alone.out" 2>"$work/alone.err" || alone=$?
	timeout -k 5 240 env ${options:+ASAN_OPTIONS="$options"} \
		"$commtrace" run -o "$work/$name" -- "$@" >"$work/run.out" 2>"$work/run.err" || recorded=$?
	[ $recorded = $alone ] || fail "$name: recorded it ends with $recorded, alone with $alone: $(cat "$work/run.err")"
	same "$name: stdout" "$work/alone.out" "$work/run.out"
	[ "$("$commtrace" dump --format=jsonl "$work/$name" | grep -c '"op":"AllReduce"')" -ge 100 ] ||
		fail "$name: not recorded: $(cat "$work/run.err")"
}

compare plain detect_leaks=0 "$program" 0 0 0
[ $alone = 4 ] || fail "alone it ends with $alone: $(cat "$work/alone.err")"
compare launched detect_leaks=0 "mpirun.$flavour" -n 2 "$program" 0 0 0
compare leaking "" "$program" 0 0 0

# Only then: what is no such program gets the environment as it is.
for options in "" detect_leaks=0; do
	"$commtrace" run -o "$work/other$options" -- env ${options:+ASAN_OPTIONS="$options"} sh -c 'echo "${ASAN_OPTIONS-}"' >"$work/env.out" 2>"$work/env.err"
	[ "$(cat "$work/env.out")" = "$options" ] || fail "a program without AddressSanitizer is given ASAN_OPTIONS=$(cat "$work/env.out")"
done
echo "$flavour: a program with AddressSanitizer is recorded, and ends as alone (leaking: $alone)"
