#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo.sh — the whole path in one command, without a GPU: build; record a job of 8 ranks on simulated GPUs of two nodes,
# report on it and draw its pictures and its timeline; record a real PyTorch job. In each job one rank is slow; exits 1 if
# commtrace names another one, or none.
set -eu
cd "$(dirname "$0")/.."
. tools/steps.sh

commtrace=build/bin/commtrace
out=demo-out

# shellcheck disable=SC2086
packages $BUILD_PACKAGES $DEMO_PACKAGES

say "building"
# A build tree that somebody configured keeps its tests; a fresh one is made without the libraries they need.
tests=-DCT_TESTS=OFF
[ ! -f build/CMakeCache.txt ] || tests=
# shellcheck disable=SC2086
quietly demo-configure cmake --preset release $tests
quietly demo-build cmake --build --preset release --target commtrace commtrace_preload commtrace-simjob

# blamed RUN RANK: shows the report, which has to name that rank.
blamed() {
	say "$commtrace report $1"
	"$commtrace" report "$1" >"$1.txt" || die "commtrace report failed"
	cat "$1.txt"
	grep -q "^Straggler: rank $2 " "$1.txt" || die "the report does not name rank $2, which was slowed down on purpose"
}

rm -rf "$out"
mkdir -p "$out"
say "recording 80 steps of training on 8 simulated GPUs of 2 nodes; the GPU of rank 5 computes 8 ms longer in each"
"$commtrace" run -q --set TIMING=events -o "$out/gpu" -- build/bin/commtrace-simjob --ranks 8 --nodes 2 --node-env COMMTRACE_HOST \
	--workload ddp --steps 80 --fault slow-rank:rank=5,ms=8 >"$out/gpu.out" || die "the job failed: see $out/gpu.out"
blamed "$out/gpu" 5
say "drawing what was recorded: report.html, who sends to whom, who waited when, and the timeline"
pictures "$commtrace" "$out/gpu" "$out/gpu" traffic waits steps histogram
"$commtrace" timeline "$out/gpu" -o "$out/run.pftrace" || die "commtrace timeline failed"

say "recording 60 steps of torchrun with 4 ranks over Gloo; rank 2 sleeps 60 ms in each"
record_ddp "$commtrace" "$out/torch" --steps 60 --slow-rank 2 --slow-ms 60 ||
	die "the job failed; its output is above"
blamed "$out/torch/run" 2
pictures "$commtrace" "$out/torch/run" "$out/torch" traffic

cat <<EOF

Each report names the rank that was slowed down. What next:
  open in a browser      $out/gpu.html, $out/torch.html: the report as one file that can be sent around
                         $out/gpu-waits.svg, -steps.svg, -traffic.svg, -histogram.svg: single pictures of it
  the timeline           $commtrace open $out/gpu: every rank, stream and call on one time axis in ui.perfetto.dev;
                         the file for its "Open trace file" is $out/run.pftrace
  $commtrace info $out/gpu                is the trace whole, and what did recording cost
  $commtrace dump $out/gpu --format=jsonl      every call, one a line
  $commtrace run -o DIR -- COMMAND...           the same for your own job
EOF
