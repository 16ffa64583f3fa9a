#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What ranks sent, compared with what others received: the same, another size, one that was never sent, ends of which nothing is on record;
# also where there are more messages than sums have blocks.
checked() {
	echo "# $*"
	commtrace-synth -o run --seed 1 --hosts 2 --gpus-per-host 4 "$@" >/dev/null
	commtrace hang --check run | awk '/^  [a-z]/ { on = /^  (equal|differs|messages|excluded|unknown|call sites) / } on' | sed -E 's/[0-9a-f]{16}/KEY/'
	echo "exit ${PIPESTATUS[0]}"
	commtrace hang --check run --json |
		jq -c '.messages | .pairs |= map({src, dst, tag, since_seq, equal_to_seq, sent, received, at: .first_difference.seq, field: .first_difference.field}) | .pairs |= .[:3]'
	rm -rf run run.truth.json
}
mesh="--workload megatron --tp 2 --pp 2 --dp 2"
checked $mesh --steps 30
checked --workload moe --steps 10
checked $mesh --steps 30 --on-mismatch go-on --fault mismatch:rank=1,op=4,field=count
checked $mesh --steps 1200 --on-mismatch go-on --fault mismatch:rank=5,op=20012,field=count
checked $mesh --steps 6 --fault skip-send:rank=1,peer=5,op=4
checked $mesh --steps 6 --fault missing:rank=1,op=20
checked --workload moe --steps 6 --fault missing:rank=1,op=30
checked $mesh --steps 6 --fault drop-trace:rank=1
checked $mesh --steps 60 --fault truncate:rank=5,keep=0.6
