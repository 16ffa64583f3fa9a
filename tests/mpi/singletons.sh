#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that are started without a launcher, each a world of one rank, record into one run: there are as many ranks as
# programs, and no more ranks than are expected.
. "$(dirname "$0")/mpi.sh"
suffix=
[ "$flavour" = openmpi ] || suffix=.mpich
export COMMTRACE_QUIET=1 COMMTRACE_DIR=$work/run

for _ in 1 2 3; do
	LD_PRELOAD=$library${yield:+:$yield} timeout -k 5 60 "$build/bin/mpi_stencil$suffix" --steps 3 >"$work/out" 2>&1 || fail "exit $?: $(cat "$work/out")"
done
for command in report info; do
	timeout -k 5 60 "$commtrace" $command "$work/run" >"$work/said" || fail "commtrace $command: exit $?"
	grep -q '3 of 3 ranks on 1 host' "$work/said" || fail "$command: $(head -n 4 "$work/said")"
done
timeout -k 5 60 "$commtrace" hang "$work/run" >"$work/said" || fail "commtrace hang: exit $?"
grep -qx ' *job  *ended, 3 ranks on 1 host' "$work/said" || fail "hang: $(cat "$work/said")"
