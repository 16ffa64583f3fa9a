#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is said of replays: when a row is slow, what its loss is beside others, whose an imbalance is, the bubble of a pipeline, and why
# S is not known. Times and shares are left out.
jobs=$data/../../accuracy/lateness_jobs.py
say() {
	printf '\n%s\n' "$*"
	python3 "$jobs" -o job.jsonl --truth job.json seed=1000 "$@" >/dev/null
	commtrace import jsonl job.jsonl -o job >/dev/null
	{
		commtrace report job --json | jq -r '"\(.verdict.code): \(.verdict.text)", (.findings[] | "\(.kind): \(.note // "no note")")'
		commtrace report job --format=kv | grep -E '^(STRAGGLER|SLOW_STAGE|IMBALANCE)'
		commtrace report job --verbose | grep '^balanced'
	} |
		sed -E 's/<?[0-9]+(\.[0-9]+)?( ?)(us|ms|s|%)/N\2\3/g; s/[0-9]+\.[0-9]+/N/g; s/[0-9N]+ ± [0-9N]+/N ± N/g; s/in [0-9]+ operations/in N operations/'
	rm -r job job.jsonl job.json
}
say shape=1f1b stages=4 data=4 steps=24 fault=stage:3:1.3
say shape=1f1b stages=4 data=4 steps=24 fault=stage:3:1.3,rank:5:1.6
say shape=1f1b stages=4 data=4 steps=40 spread=0.3 fault=rank:6:1.6
say data=8 steps=60 spread=0.3
say data=8 steps=80 fault=rank:5:1.2:from=40
say data=8 steps=80 fault=rank:3:2:every=10
say shape=1f1b stages=4 data=2 steps=24
say data=8 steps=24 untimed=0.2
say data=8 steps=3 fault=rank:7:1.3
say data=8 steps=6 fault=rank:7:1.3
say data=8 steps=3
# Small differences of many ranks are the same in all steps, or they change.
for differ in --spread-pct=3 --noise-pct=5; do
	commtrace-synth -o uneven --seed 2 --hosts 8 --gpus-per-host 8 --steps 30 $differ >/dev/null
	commtrace report uneven --json | jq -r '.findings[] | select(.kind == "IMBALANCE") | "\(.confidence): \(.cause); \(.note)"'
	rm -r uneven uneven.truth.json
done
commtrace-synth -o ends --seed 3 --gpus-per-host 4 --steps 24 --workload ddp --timing host >/dev/null
commtrace report ends --verbose | grep -E '^(Not enough|balanced)'
rm -r ends ends.truth.json
