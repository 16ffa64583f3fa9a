#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh does what it says, on simulated GPUs: every part has its rows, none failed, and one that must fail does.
set -u

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

if ! "$CT_ROOT/tests/gpu/run.sh" --quick --simulated -o "$out/well" >"$out/table"; then
	cat "$out/table"
	exit 1
fi
for row in driver.event_record clock.gpu_drift nccl.1-ranks.events.call nccl.2-ranks.host.latency/bare \
	nccl.2-ranks.ops nccl.comm_key nccl.group.ops nccl.nonblocking.ops nccl.split.ops; do
	awk -v row="$row" '$1 == row && $2 + 0 != 0 || $1 == row && length($2) == 16 { found = 1 } END { exit !found }' "$out/table" ||
		{ echo "no value for $row"; cat "$out/table"; exit 1; }
done

# A preload that records nothing: the numbers of calls must be missed.
mkdir -p "$out/broken/bin" "$out/broken/lib"
cp "$CT_BUILD"/bin/{commtrace,gpu_probe} "$out/broken/bin/"
cp "$CT_BUILD"/lib/sim/libcuda.so.1 "$out/broken/lib/libcommtrace.so"
cp -r "$CT_BUILD/lib/sim" "$out/broken/lib/"
if CT_BUILD=$out/broken "$CT_ROOT/tests/gpu/run.sh" --quick --simulated --parts two_ranks -o "$out/ill" >"$out/table"; then
	echo "run.sh does not notice that nothing is recorded"
	exit 1
fi
grep -q '^nccl.2-ranks.ops .*FAIL' "$out/table" || { cat "$out/table"; exit 1; }
