#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# diagnose: a run in order, one with a slow link beside an equal benchmark, this machine; what scripts get; bad use.
for seed in 1 2; do
	commtrace-synth -o run$seed --hosts 2 --gpus-per-host 4 --steps 60 --seed $seed >/dev/null
done
commtrace-synth -o link --hosts 2 --gpus-per-host 4 --steps 60 --seed 3 --fault slow-link:src=3,dst=4,factor=0.5 >/dev/null
commtrace-synth -o rank --hosts 2 --gpus-per-host 4 --steps 60 --seed 4 --fault slow-rank:rank=2,pct=20 >/dev/null
# nodes ARGUMENT...: the nodes that do not pass, without this machine's
nodes() {
	commtrace diagnose "$@" --json >answer
	echo "exit $?"
	python3 -c '
import json
answer = json.load(open("answer"))
print("failed:", answer["failed"] and answer["failed"]["name"])
for level in answer["levels"]:
    print(level["name"], level["answer"], *sorted({n["name"] + ":" + n["answer"] for n in level["nodes"] or [] if n["answer"] != "pass"}))'
}
nodes run1
nodes run1 --bench=run2
nodes link --bench=run2
nodes link --bench=run2 --full-scan
nodes rank
commtrace diagnose rank | sed -n '1,2p;/^pattern/,$p'
commtrace diagnose run1 --expect=7b | sed -n '1,3p'
commtrace diagnose run1 --expect=7b -o answer.txt
echo "exit $?"
grep -E '^[a-z]' answer.txt
python3 -c '
import json
answer = json.load(open("answer"))
print(*answer)
print(*answer["levels"][0])
print(*answer["levels"][0]["nodes"][0])'
# Without a run, it is about this machine.
commtrace diagnose | sed -n '/^bandwidth/,$p'
commtrace diagnose nowhere
echo "exit $?"
commtrace diagnose run1 --bench=nowhere
echo "exit $?"
commtrace diagnose run1 --expect=nowhere
echo "exit $?"
