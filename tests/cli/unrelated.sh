#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Several paths are parts of one run: those of different jobs are refused, which is not what a comparison would want.
for seed in 1 2; do
	commtrace-synth -o run$seed --seed $seed --hosts 2 --gpus-per-host 2 --steps 5 --workload ddp >/dev/null
done
commtrace report run1 run2 || echo "exit $?"
commtrace heatmap run1 run2 -o x.svg || echo "exit $?"
ls
# Parts of one job, each in a directory of its own, are read.
mkdir part
mv "$(find run1 -name '*.seg' | sort | sed -n 1p)" part/
commtrace report run1 part --format=json | grep -c '"ranks_seen": 4'
# Imported runs have no job's name: those with neither hosts nor a world size in common, and no communicator, are not one job.
commtrace import jsonl "$data/four_ranks.jsonl" -o imported >/dev/null
sed 's/"host":"node/"host":"other/; s/"nranks":4/"world_size":8,"nranks":4/' "$data/four_ranks.jsonl" >other.jsonl
commtrace import jsonl other.jsonl -o same_communicator >/dev/null
sed -i 's/c0ffee01/c0ffee02/' other.jsonl
commtrace import jsonl other.jsonl -o other >/dev/null
commtrace hang imported other || echo "exit $?"
commtrace info imported same_communicator >/dev/null || echo "exit $?"
