#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The report's verdict on a job that hangs is that of `hang`, also where all ranks are in what does not go on, so that no rank waits for
# another one.
for fault in missing:rank=1,op=20 transport-stall:rank=1,op=20 never-ends:rank=1,op=20; do
	commtrace-synth -o "$fault" --seed 1 --gpus-per-host 4 --steps 6 --fault "$fault" >/dev/null
	diff <(commtrace report "$fault" --json | jq -r '"\(.verdict.text) \(.verdict.confidence)"') \
		<(commtrace hang "$fault" --json | jq -r '.verdicts[0] | "\(.text) \(.confidence)"') && echo "$fault: the same"
	commtrace report "$fault" --fail-on=HANG >/dev/null 2>&1
	echo "exit $?"
done
