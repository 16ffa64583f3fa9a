#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh does what it says, on simulated GPUs: every part has its rows, none failed, what is known of the simulator is found, and
# what is otherwise than assumed fails.
set -u

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
run=$CT_ROOT/tests/gpu/run.sh

fail() {
	echo "FAILED: $*"
	cat "$out/table"
	exit 1
}

# holds ROW VALUE VERDICT ASSUMPTION: the value is a pattern
holds() {
	grep -qE "^$1 +($2) +[^ ]+ +$3 *$4 *$" "$out/table" || fail "no row $1 $2 $3 $4"
}

for script in 1 2 3; do
	# the limits are those of a machine with a GPU
	CT_PART_SECONDS=300 "$run" --quick --simulated --script $script -o "$out/well" >"$out/table.$script" || { cp "$out/table.$script" "$out/table"; fail "script $script"; }
done
cat "$out"/table.? >"$out/table"

some='[1-9][0-9.e+-]*'
for row in driver.event_record driver.event_record_busy driver.event_record_beside_query nccl.1-ranks.events.call \
	nccl.2-ranks.host.latency/bare nccl.group.ops nccl.nonblocking.ops nccl.split.ops replay.events; do
	awk -v row="$row" '$1 == row && $2 + 0 > 0 { found = 1 } END { exit !found }' "$out/table" || fail "no value for $row"
done
holds driver.stamps 1024 ok stamps
holds resets.context_is_another 1 ok context-id
holds nccl.2-ranks.plugin.span_error '[0-9.]+[mun]s' ok kernel-times
holds driver.elapsed_in_one_order "$some" ok elapsed-order
holds queues.1.timed_events_serialise 1 ok queues
holds queues.as_many_as_connections 8 ok queues
holds queues.32.untimed_ones_do_not 32 ok untimed-events
holds buffer.events_until_full 1023 ok push-buffer
holds exit.crashed 0 ok exit-order
holds exit.without_all_calls 0 ok exit-order
holds resets.calls 300 ok resets
holds nccl.2-ranks.ops 1212 ok shared-gpu
holds nccl.comm_key '[0-9a-f]{16}' ok comm-key
holds captures.plugin 60 ok capture-question
holds reach.ctypes 5 ok ''
for row in overlap profiler sanitizer; do
	grep -q "^$row .* n/a" "$out/table" || fail "$row does not say what it lacks"
done

# every assumption that is named stands in the page, and most of the page is spoken to
names=$(awk '$1 !~ /^(name|logs)$/ && $NF ~ /^[a-z]+-?[a-z]+$/ && $NF !~ /^(ok|none|simulated)$/ { print $NF }' "$out/table" | sort -u)
for name in $names; do
	grep -q "^| \`$name\` |" "${run%/*}/../../docs/VERIFIED.md" || fail "docs/VERIFIED.md has no $name"
done
[ "$(wc -w <<<"$names")" -ge 13 ] || fail "only these assumptions are spoken to: $names"

# No script can take longer than nine minutes.
sed -n "/^table='/,/^'/p" "$run" | awk 'NF == 3 { s[$2] += $3 } END { for (n in s) if (s[n] > 540) exit 1; exit length(s) != 3 }' ||
	fail "the parts of a script add up to more than 540 s"

# A driver that is otherwise: coarse stamps, and elapsed times backwards that are none of the two.
SIM_STAMP_NS=4096 "$run" --quick --simulated --parts driver -o "$out/coarse" >"$out/table" && fail "coarse stamps are not noticed"
holds driver.stamps 4096 FAIL stamps

# A part that takes too long is ended, and the next one comes.
CT_PART_SECONDS=1 "$run" --quick --simulated --parts queues,hardware -o "$out/late" >"$out/table" && fail "a part may take as long as it likes"
holds queues.longer_than 1 FAIL ''
holds hardware simulated - ''

# A preload that records nothing: the numbers of calls must be missed.
mkdir -p "$out/broken/bin" "$out/broken/lib"
cp "$CT_BUILD"/bin/{commtrace,gpu_probe} "$out/broken/bin/"
cp "$CT_BUILD"/lib/sim/libcuda.so.1 "$out/broken/lib/libcommtrace.so"
cp -r "$CT_BUILD/lib/sim" "$out/broken/lib/"
CT_BUILD=$out/broken "$run" --quick --simulated --parts two_ranks -o "$out/ill" >"$out/table" && fail "run.sh does not notice that nothing is recorded"
grep -q '^nccl.2-ranks.ops .*FAIL' "$out/table" || fail "nothing recorded"
exit 0
