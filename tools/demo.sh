#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo.sh [--no-torch] — what commtrace finds, in four jobs without a GPU: a PyTorch job with a slow rank; the same job hung and
# killed; 1,024 synthetic ranks; simulated GPUs. Exits 1 unless each answer names the rank with the fault, and the error of each
# cost covers what was injected.
set -eu
cd "$(dirname "$0")/.."
. tools/steps.sh

commtrace=build/bin/commtrace
out=demo-out
torch=yes
case ${1-} in
'') ;;
--no-torch) torch='' DEMO_PACKAGES='' ;;
*) die "usage: tools/demo.sh [--no-torch]" ;;
esac

# shellcheck disable=SC2086
packages $BUILD_PACKAGES $DEMO_PACKAGES

say "building (two minutes on two cores)"
# A build tree that someone configured keeps its tests; a fresh one is made without the libraries they need.
tests=-DCT_TESTS=OFF
[ ! -f build/CMakeCache.txt ] || tests=
# shellcheck disable=SC2086
quietly demo-configure cmake --preset release $tests
quietly demo-build cmake --build --preset release --target commtrace commtrace_preload commtrace-simjob commtrace-synth

# straggler RUN RANK MS: shows the headline of the report, which names that rank. Notes in `missed` a cost per step whose error does
# not cover MS.
missed=
straggler() {
	"$commtrace" report "$1" >"$1.txt" || die "commtrace report failed"
	head -n 1 "$1.txt"
	sed -n 's/^  where /           /p' "$1.txt"
	echo "  injected: $3 ms/step on rank $2; the whole report: $1.txt"
	grep -q "^Straggler: rank $2 " "$1.txt" || die "the report does not name rank $2: see $1.txt"
	head -n 1 "$1.txt" | awk -v ms="$3" '
		{ in_ms["us/step"] = 1e-3; in_ms["ms/step"] = 1; in_ms["s/step"] = 1e3; unit = in_ms[$9]
		  exit !(unit && ($6 - $8) * unit <= ms && ms <= ($6 + $8) * unit) }' || missed="$missed $1"
}

rm -rf "$out"
mkdir -p "$out"

# A model so small that ranks which share cores hardly slow each other down: that would be part of what the slow rank costs.
small="--steps 60 --hidden 64"

if [ -n "$torch" ]; then
	say "1. PyTorch, 4 ranks under torchrun: rank 2 loads its data 100 ms too slowly"
	# shellcheck disable=SC2086
	record_ddp "$commtrace" "$out/torch" $small --slow-rank 2 --slow-ms 100 >"$out/torch.out" 2>&1 ||
		die "the job failed: see $out/torch.out"
	straggler "$out/torch/run" 2 100

	say "2. The same job: rank 1 never returns from its loader; then SIGKILL to all"
	# shellcheck disable=SC2086
	COMMTRACE_HANG_AFTER=5s record_ddp "$commtrace" "$out/hung" $small --hang-rank 1 >"$out/hung.out" 2>&1 &
	hung=$!
	for _ in $(seq 120); do
		sleep 1
		"$commtrace" hang "$out/hung/run" >/dev/null 2>&1 || [ $? != 3 ] || break
	done
	sleep 3 # a killed process is known to have lived until its last heartbeat only
	pids=$("$commtrace" info --json "$out/hung/run" | sed -n 's/^ *"pid": \([0-9]*\),$/\1/p')
	# shellcheck disable=SC2086
	kill -KILL $hung $pids || die "the job has ended: see $out/hung.out"
	wait $hung 2>/dev/null || :
	# shellcheck disable=SC2086
	while kill -0 $pids 2>/dev/null; do sleep 0.1; done
	"$commtrace" hang "$out/hung/run" >"$out/hung.txt" || :
	sed -n '1p; /^  stack/,/:114)/s|(.*/|(|p' "$out/hung.txt"
	grep -q '^Hang: rank 1 ' "$out/hung.txt" || die "the verdict does not name rank 1: see $out/hung.txt"
	grep -q 'load_batch (.*train.py:105)' "$out/hung.txt" || die "the stack does not show train.py:105: see $out/hung.txt"
fi

say "3. 1,024 synthetic ranks on 128 hosts: rank 517 computes 5 ms/step longer"
build/bin/commtrace-synth --hosts 128 --steps 40 --fault slow-rank:rank=517,ms=5 -o "$out/large" || die "commtrace-synth failed"
began=$(date +%s)
straggler "$out/large" 517 5
collectives=$(sed -n 's/.* \([0-9]*\) collectives.*/\1/p' "$out/large.txt")
echo "  found among $((1024 * collectives)) operations in $(($(date +%s) - began)) s"

# Messages of 1.7 MB: a simulated GPU moves its data on a core, which the GPUs of a real job do not share.
say "4. Simulated GPUs, 4 ranks in 2 processes: rank 3 computes 15 ms/step longer"
"$commtrace" run -q --set TIMING=events --set BUDGET=off -o "$out/gpu" -- build/bin/commtrace-simjob --ranks 4 --ranks-per-process 2 \
	--nodes 2 --node-env COMMTRACE_HOST --workload ddp --scale 16 --step-ms 50 --steps 60 --fault slow-rank:rank=3,ms=15 >"$out/gpu.out" ||
	die "the job failed: see $out/gpu.out"
straggler "$out/gpu" 3 15
sed -n '/^communication/,/^[^ ]* *[^ ]*quality/p' "$out/gpu.txt" | sed '$d'
"$commtrace" report "$out/gpu" -o "$out/gpu.html" || die "commtrace report -o $out/gpu.html failed"

cat <<EOF

Each fault was found. The report of the last job, as a page for a browser:
  $out/gpu.html
EOF
[ -z "$missed" ] || die "the error of the cost does not cover what was injected (is this machine busy? load $(cut -d' ' -f1 /proc/loadavg)):$missed"
