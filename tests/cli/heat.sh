#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The pictures of a run that was imported are those of the run: rows of waits sum up to the same, which is what ranks[] says,
# and what is imported once more gives the same pictures to the byte.
commtrace-synth -o run1 --hosts 2 --gpus-per-host 2 --steps 20 --seed 3 --clock-offset-ms 20 --fault slow-rank:rank=1,pct=20
commtrace dump run1 --format=jsonl | commtrace import jsonl - -o run2 >/dev/null
commtrace dump run2 --format=jsonl | commtrace import jsonl - -o run3 >/dev/null

# sums KEY: of each row of heat.waits.KEY
sums() {
	awk -v key="\"$1\":" '
		/^ "heatmaps"/ { heat = 1 }
		/^  "steps"/ { heat = 0 }
		heat && $1 ~ /^"/ { on = $1 == key }
		on && /^    \[/ { sum = 0 }
		on && /^     [0-9]/ { sum += $1 }
		on && /^    \]/ { printf "%d ", sum }'
}
for run in run1 run2 run3; do
	commtrace report $run --format=json >$run.json
	sums wait_ns <$run.json >$run.waits
	awk '/^ "ranks"/ { on = 1 } /^ "comms"/ { on = 0 } on && /^   "wait_ns"/ { printf "%d ", $2 }' $run.json >$run.ranks
	cmp $run.waits $run.ranks && echo "$run: $(wc -w <$run.waits) rows are what the ranks waited"
	# times are put together in another way, to the nanosecond
	awk '{ printf "%d %d %d %d\n", $1 / 1e4, $2 / 1e4, $3 / 1e4, $4 / 1e4 }' $run.waits >$run.rounded
	cmp run1.rounded $run.rounded
	sed -n '/^ "heatmaps"/,/^ "clocks"/p' $run.json >$run.heat
done
cmp run2.heat run3.heat && echo "imported twice: the same"
# of the late one the others' rows show, and its own lateness
awk '{ print ($2 < $1 / 4 && $2 < $3 / 4 && $2 < $4 / 4) }' run1.waits
sums lateness_ns <run1.json | awk '{ print ($2 > 4 * $1 && $2 > 4 * $3 && $2 > 4 * $4) }'
