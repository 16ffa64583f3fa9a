#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --fail-on: 3 if there is such a finding, 0 if not.
commtrace import jsonl "$data/four_ranks.jsonl" -o run1 >/dev/null
commtrace report run1 --fail-on=straggler >/dev/null
echo $?
commtrace report run1 --fail-on=MISMATCH,DROPPED_RECORDS >/dev/null
echo $?
commtrace report run1 --fail-on=any >/dev/null
echo $?
# Each of several counts.
commtrace report run1 --fail-on=straggler --fail-on=SLOW_LINK >/dev/null
echo $?
commtrace report run1 --fail-on=SLOW_LINK --fail-on=nothing >/dev/null 2>&1
echo $?
# The verdict's word means its findings, whatever their kind.
commtrace-synth -o run2 --gpus-per-host 4 --steps 400 --step-ms 5 --fault pause:rank=2,every=40,ms=60 >/dev/null
commtrace report run2 --format=kv | sed -n 's/^VERDICT code=\(STRAGGLER\) .*/\1/p; s/^\(PERIODIC_STALLS\) .*/\1/p'
commtrace report run2 --fail-on=STRAGGLER >/dev/null
echo $?
commtrace report run2 --fail-on=SLOW_LINK >/dev/null
echo $?
# A job that hangs: the verdict, which is not a finding; a job that does not is not called so, even if it was killed.
commtrace-synth -o run4 --gpus-per-host 4 --steps 20 --fault missing:rank=2,op=20 >/dev/null
commtrace report run4 --fail-on=HANG >hung && echo 0 || echo $?
grep -o '^Hang: rank 2 (node0) never entered' hung
grep -o 'commtrace hang run4' hung
commtrace report run2 --fail-on=HANG >/dev/null
echo $?
# What a job that was killed had begun is reported as such.
commtrace-synth -o run3 --gpus-per-host 2 --steps 40 --seed 55 --fault kill:rank=1,op=9 >/dev/null
commtrace report run3 --format=json | grep -o 'operations that had not ended count in full'
# Information alone does not fail `any`.
commtrace-synth -o run5 --seed 3 --workload ddp --hosts 4 --gpus-per-host 2 --steps 60 --clock-drift-ppm 280 >/dev/null
commtrace report run5 --json | jq -c '[.findings[].severity]'
commtrace report run5 --fail-on=any >/dev/null
echo $?
# A run that cannot be judged passes, unless that is asked for.
commtrace-synth -o run6 --gpus-per-host 8 --steps 60 --fault drop-trace:rank=3 >/dev/null
commtrace report run6 --fail-on=any >/dev/null
echo $?
commtrace report run6 --fail-on=any,NOT_ENOUGH_EVIDENCE >verdict && echo 0 || echo $?
head -n 1 verdict
