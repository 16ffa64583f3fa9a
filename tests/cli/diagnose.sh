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
# topology and doctor are this machine's, too
nodes link --bench=run2 --full-scan | grep -vE "^(error|topology)"
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
# NCCL's log; and a machine with a GPU that lacks a link, as nvidia-smi says.
echo "n1:7:8 [0] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/Socket/0" >log
commtrace diagnose run1 --nccl-log=log | grep -A2 "NCCL's log"
mkdir bin
printf '#!/bin/sh\necho "GPU 0: X (UUID: 1)"\necho "	 Link 0: 26.562 GB/s"\necho "GPU 1: X (UUID: 2)"\necho "	 Link 0: <inactive>"\n' >bin/nvidia-smi
chmod +x bin/nvidia-smi
PATH=$PWD/bin:$PATH commtrace diagnose --full-scan | grep -A2 "  fail  *NVLink"
commtrace diagnose --nccl-log=nowhere
echo "exit $?"
commtrace diagnose nowhere
echo "exit $?"
commtrace diagnose run1 --bench=nowhere
echo "exit $?"
commtrace diagnose run1 --expect=nowhere
echo "exit $?"
# a log without lines; one step, which has no distance to another
commtrace diagnose --nccl-log=/dev/zero; echo "exit $?"
commtrace-synth -o single --gpus-per-host 4 --steps 1 >/dev/null
commtrace diagnose single --full-scan | grep steadiness
