#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Waits by step: exactly those of a job whose times are written down, and of a job with a slow rank, steps together, as long as the
# waits by time, which are summed up while the run is read.
python=$(command -v /usr/bin/python3 || command -v python3)
"$python" - >job.jsonl <<'END'
import json

# 12 steps of 8 ms with two operations each; rank 3 comes 1 ms after the others to each, and all end together.
for rank in range(4):
    for op in range(24):
        begin = 10**9 + op * 4 * 10**6
        print(json.dumps({
            "rank": rank, "host": "node%d" % (rank // 2), "pid": 100 + rank, "clock_offset_ns": 17 * 10**17, "tid": 100 + rank,
            "backend": "gloo", "call": "gloo::allreduce", "op": "AllReduce", "comm": "%016x" % (1 + op % 2), "comm_name": "c%d" % (op % 2),
            "nranks": 4, "comm_rank": rank, "seq": op // 2, "count": 250000, "dtype": "float32", "redop": "sum",
            "enter_ns": begin + (10**6 if rank == 3 else 0), "return_ns": begin + 2 * 10**6, "result": 0, "timing": "call"}))
END
commtrace import jsonl job.jsonl -o job >/dev/null
commtrace-synth -o slow --hosts 2 --gpus-per-host 2 --steps 20 --seed 3 --clock-offset-ms 20 --fault slow-rank:rank=1,pct=20
for run in job slow; do
	commtrace report $run -o $run.json
done
"$python" - <<'END'
import json

def load(run):
    with open(run + ".json", encoding="utf-8") as file:
        report = json.load(file)
    return report["heatmaps"]["steps"], report["heatmaps"]["waits"], report["steps"]["items"]

steps, _, _ = load("job")
for key in ("wait_ns", "lateness_ns"):
    print(key, [sorted(set(row)) for row in steps[key]], "in", len(steps["first_step"]), "steps, known to", steps[key.replace("_ns", "_err_ns")])
steps, time, items = load("slow")
begin, end = items[0]["begin_ns"], items[-1]["begin_ns"] + items[-1]["time_ns"]
for key in ("wait_ns", "lateness_ns"):
    for row, other in zip(steps[key], time[key]):
        a, b = sum(row), sum(x for x, at in zip(other, time["column_begin_ns"]) if begin <= at < end)
        print(key, "the same by step and by time:", abs(a - b) <= 0.002 * (end - begin))
    print(key, "of the slow rank is", "less" if 4 * sum(steps[key][1]) < sum(steps[key][0]) else "more")
END
