#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# DDP hides its buckets behind computing, and rank 5 computes 6 ms longer in each of 60 steps. Lines do not say what the compute
# stream waited for, so more of the delay seems to be saved than is. The error covers the truth all the same, with less confidence,
# and so does that of S: a step of 31.5 ms would take 25.5 ms.
commtrace-synth -o run1 --hosts 1 --gpus-per-host 8 --steps 60 --noise-pct 1 --fault slow-rank:rank=5,ms=6 >/dev/null
commtrace dump run1 --json >ops.jsonl
commtrace import jsonl ops.jsonl -o run2 >/dev/null
for run in run1 run2; do
	commtrace report $run --json | jq -c '[.findings[0] | .kind, .ranks, .confidence,
		(.time_lost_ns - 6e6 * 60 | fabs) <= .time_lost_err_ns], (.what_if | (.s - 31.5 / 25.5 | fabs) <= .s_err)'
done
