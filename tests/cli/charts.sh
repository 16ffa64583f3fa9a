#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The charts in report.html have the values of the report: colors, positions and what is looked up.
look() {
	commtrace report "$1" -o "$1.html"
	commtrace report "$1" --format json >"$1.json"
	echo "$1"
	python3 "$data/charts.py" "$1.html" "$1.json" || echo failed
}
commtrace-synth -o slow --seed 3 --hosts 2 --gpus-per-host 4 --steps 30 --workload megatron --tp 2 --pp 2 --dp 2 \
	--fault slow-rank:rank=5,ms=20 >/dev/null
look slow
commtrace-synth -o many --seed 3 --hosts 70 --gpus-per-host 8 --steps 3 >/dev/null
look many
commtrace-synth -o killed --seed 55 --gpus-per-host 2 --steps 40 --workload ddp --fault kill:rank=1,op=9 >/dev/null
look killed
# Where a rank takes more than twice as long, the end of the scale, in every step.
commtrace-synth -o late --seed 3 --gpus-per-host 4 --steps 12 --fault slow-rank:rank=2,pct=150 >/dev/null
look late
# Another rank than the one of the verdict has the longest step, once.
commtrace-synth -o once --seed 3 --gpus-per-host 4 --steps 40 --fault slow-rank:rank=2,ms=10 --fault slow-rank:rank=1,ms=60,from=7,to=7 >/dev/null
look once
grep -o "Maximum of the verdict's[^\"]*" once.html
