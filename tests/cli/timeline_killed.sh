#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Of a job that was killed on another machine the timeline has the findings of the report, which knows that rings that lie elsewhere are not lost.
commtrace-synth -o run --seed 1 --workload ddp --steps 40 --gpus-per-host 4 --fault slow-rank:rank=1,pct=40 --fault kill:rank=2,op=140 >/dev/null
commtrace report run --format=json | jq -r '.findings[].kind' | sort >report
commtrace timeline run -o - --format=tuples 2>/dev/null | awk -F '\t' '$4 == "Findings" { print $5 }' | sort >timeline
diff report timeline && cat timeline
commtrace report run --verbose | grep ^dropped
