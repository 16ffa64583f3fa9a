#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No one knows how the processes of imported lines ended: that is not a bad end, and the job is judged as the recorded one was.
commtrace-synth -o recorded --workload megatron --steps 20 --noise-pct 1
commtrace dump --format=jsonl recorded | commtrace import jsonl - -o imported
for run in recorded imported; do
	commtrace report "$run" | sed -n '1s/:.*//p'
done
