#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A host that is as late in each step is named, whatever a step looks like; it is not a stage of a pipeline where every rank
# exchanges with every rank. A rank whose kernels find no SMs on its GPU is not named: late starts cannot be distinguished from slow transfers. What it costs is the
# generator's truth.
try() {
	commtrace-synth -o run "$@" >/dev/null
	commtrace report --format=json run >report.json
	commtrace report run >report.txt --format=kv
	python3 - "$1 $2" <<-'PYTHON'
		import json, sys
		report, truth = json.load(open("report.json")), json.load(open("run.truth.json"))
		lost = truth["duration_ns"] - truth["ideal_ns"]
		named = [f for f in report["findings"] if f["kind"].startswith("STRAGGLER")]
		bound = " time_lost_max=" in open("report.txt").read()
		right = len(named) == 1 and (lost <= named[0]["time_lost_ns"] < 1.2 * lost if bound else abs(named[0]["time_lost_ns"] - lost) < max(0.1 * lost, named[0]["time_lost_err_ns"]))
		print(sys.argv[1], report["verdict"]["code"], [f["ranks"] for f in named], "nobody" if not named else "right" if right else (bound, named, lost))
	PYTHON
	rm -r run run.truth.json
}
# A rank whose kernels find no SMs in a Broadcast holds the others up in what comes after it: no rank is named for it, but the run is
# not healthy.
commtrace-synth -o run --workload ddp --hosts 1 --gpus-per-host 8 --steps 30 --fault starve-sm:rank=2,ms=20
commtrace report run | head -n 2 | sed 's/[0-9.]* %/N %/; s/costs.*at most .* (/costs (/'
rm -r run run.truth.json
try --workload decode --hosts 1 --gpus-per-host 8 --steps 40 --noise-pct 2 --fault late-host:rank=3,ms=3
try --workload moe --hosts 1 --gpus-per-host 4 --steps 25 --step-ms 60 --fault late-host:rank=2,ms=15
try --workload ddp --hosts 2 --gpus-per-host 4 --steps 40 --noise-pct 2 --clock-offset-ms 20 --clock-drift-ppm 10 --fault starve-sm:rank=2,ms=10

# Where a host has just the ranks of a stage, a slow host and a long stage look the same: the report says so, with less confidence.
commtrace-synth -o stage --workload megatron --tp 2 --pp 2 --dp 2 --gpus-per-host 4 --hosts 2 --steps 60 --fault slow-host:host=1,pct=30 >/dev/null
commtrace report stage --format=json | jq -r '.verdict.code, .verdict.confidence, (.findings[0].note | sub(".*; "; ""))'
