#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo.sh — the whole path in one command: build, record a real PyTorch job in which rank 2 is slow, and ask
# commtrace who was slow. Needs no GPU. Exits 1 if the answer is not rank 2.
set -eu
cd "$(dirname "$0")/.."
. tools/steps.sh

slow_rank=2
commtrace=build/bin/commtrace
run=demo-out/run

# shellcheck disable=SC2086
packages $BUILD_PACKAGES $DEMO_PACKAGES

say "building"
# A build tree that somebody configured keeps its tests; a fresh one is made without the libraries they need.
tests=-DCT_TESTS=OFF
[ ! -f build/CMakeCache.txt ] || tests=
# shellcheck disable=SC2086
quietly demo-configure cmake --preset release $tests
quietly demo-build cmake --build --preset release --target commtrace commtrace_preload

say "recording 20 steps of torchrun with 4 ranks; rank $slow_rank sleeps 60 ms in each"
record_ddp "$commtrace" demo-out --steps 20 --slow-rank "$slow_rank" --slow-ms 60 ||
	die "the job failed; its output is above"

say "$commtrace report $run"
"$commtrace" report "$run" >demo-out/report.txt || die "commtrace report failed"
cat demo-out/report.txt

grep -q "^STRAGGLER: rank $slow_rank " demo-out/report.txt ||
	die "the report does not name rank $slow_rank, which was slowed down on purpose"

cat <<EOF

The report names rank $slow_rank, the one that was slowed down. What next:
  $commtrace info $run                  is the trace whole, and what did recording cost
  $commtrace dump $run --format=jsonl   every call, one a line
  $commtrace run -o DIR -- COMMAND...            the same for your own job
EOF
