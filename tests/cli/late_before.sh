#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A GPU that computes longer, under tensor parallelism: nearly all of its lateness shows through what it did before, and little is reported
# of why. Words must not say more than the evidence: not that the calls came late, of which there is none.
commtrace-synth -o run --hosts 2 --gpus-per-host 4 --workload megatron --tp 4 --pp 1 --steps 60 --fault slow-rank:rank=2,pct=40 >/dev/null
commtrace report run --format=json | jq -r '.findings[] | select(.kind == "STRAGGLER") | "ranks \(.ranks): \(.cause)",
	(.evidence[] | select(.name == "late_by_host" or .name == "late_by_stream") | "\(.name) \(if .value * 5 > .err then "told" else "nothing" end)"),
	"too little of the loss: \((.evidence | map(select(.name | test("^late_by_(host|stream)$")).value) | add) < .time_lost_ns / 5)"'
