#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Jobs that hang or die leave what a killed job leaves: no end where there was none, and operations under way. For each:
# what the truth says, how processes ended, and how far each rank's operations got.
try() {
	commtrace-synth -o run --gpus-per-host 4 --steps 6 "$@"
	printf '%s\n ' "${*##--fault }"
	sed -n '/"hang"/,$p' run.truth.json | tr -d ' \n{}]"' | sed 's/\[/ /g; s/,\([a-z]\)/ \1/g; s/:/=/g'
	printf '\n '
	commtrace info run --format=json 2>/dev/null | grep -o '"end": "[a-z]*"' | cut -d'"' -f4 | sort | uniq -c | xargs
	commtrace dump run --format=jsonl --calls 2>/dev/null | sed -E 's/^\{"rank":([0-9-]+|null),.*"call":"([A-Za-z]+)".*"state":"([a-z_]+)".*/\1 \2 \3/' |
		grep -v ' finished$' | sort | uniq -c | sed 's/^ */  /'
	rm -rf run run.truth.json
}
try --fault missing:rank=1,op=20
try --fault kill:rank=1,op=20
try --fault exit:rank=1,op=20,code=3
try --fault block-stream:rank=1,op=20
try --fault mismatch:rank=1,op=23,field=count
try --fault order-inversion:ranks=0+1
try --fault skip-init:rank=1
try --fault host-stall:rank=1,call=groupend,op=30 --workload moe
try --fault missing:rank=1,op=20 --timing host
