#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the calls of ranks do not show is not reported: which of two is right, which end of a message is wrong, which of equal operations is
# the one left out.
synth() {
	commtrace-synth -o run --seed 1 --steps 12 --on-mismatch go-on "$@" >/dev/null
	commtrace report run --json | jq -r '"\(.verdict.code): \(.verdict.text)"' | sed 's/; .* at or before/; ... at or before/; s/seq [0-9]*/seq N/g; s/#[0-9]*/#N/g'
	rm -rf run run.truth.json
}
synth --workload ddp --hosts 1 --gpus-per-host 2 --fault skip:rank=1,op=50
synth --workload moe --hosts 2 --gpus-per-host 4 --fault extra:rank=6,op=200
synth --workload decode --hosts 2 --gpus-per-host 4 --fault skip:rank=6,op=200
# Records that are missing are the reason, not the timing that is there.
commtrace-synth -o cut --seed 1 --gpus-per-host 4 --steps 20 --fault truncate:rank=3,keep=0.6 >/dev/null
commtrace report cut --verbose | grep ^balanced
