#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A contradiction stands in the timeline where the odd rank made the call, also where that hung before anything ran on a GPU.
for then in hang go-on; do
	commtrace-synth -o $then --gpus-per-host 4 --steps 20 --fault mismatch:rank=1,op=50,field=count --on-mismatch $then >/dev/null
	commtrace timeline $then -o - --format=tuples 2>/dev/null >$then.tsv
	echo "$then: $(commtrace report $then --format=json | jq -c '[.findings[].kind]')"
	awk -F '\t' '
		$4 == "Findings" { at = $1 }
		$4 ~ /^rank 0001.* > host thread/ && $3 == 0 { call[$1] = $5; n++ }
		$4 ~ /^rank 0001/ && $4 !~ /host thread/ && $3 == 0 { work[$1] = $5 }
		END { print at in call ? "at the call, " call[at] : at in work ? "at its begin on the GPU, " work[at] : "at " at }' $then.tsv
done

# A message whose ends give it another type of the same size arrives: it warns, and does not ask for equal sizes.
commtrace-synth -o type --workload megatron --tp 2 --pp 2 --dp 2 --steps 20 --fault mismatch:rank=1,op=20,field=dtype --on-mismatch go-on >/dev/null
commtrace report type --format=json | jq -r '.verdict.code, (.findings[] | "\(.kind) \(.severity): \(.cause)\n\(.advice)")'
