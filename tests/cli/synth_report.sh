#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The report of a run that never was: no rank is blamed for nothing, a slow rank is named in every workload and timing that
# measures starts, and where starts are not measured no one is.
job=(--gpus-per-host 8 --steps 40)
slow=(--fault slow-rank:rank=5,pct=6)
for workload in ddp megatron fsdp moe decode; do
	commtrace-synth -o healthy.$workload "${job[@]}" --workload $workload
	commtrace-synth -o slow.$workload "${job[@]}" --workload $workload "${slow[@]}"
	commtrace report healthy.$workload --verbose --fail-on=STRAGGLER >healthy.txt; echo "$workload healthy: $?"
	commtrace report slow.$workload --verbose --fail-on=STRAGGLER >slow.txt; echo "$workload slow: $?"
	commtrace report slow.$workload --format=kv >>slow.txt
	grep -ohE '^dropped +.*|^STRAGGLER ranks=[0-9]+ hosts=[a-z0-9]+' healthy.txt slow.txt
done
for timing in host plugin off; do
	commtrace-synth -o $timing "${job[@]}" --timing $timing "${slow[@]}"
	{ commtrace report $timing --verbose; commtrace report $timing --format=kv; } | grep -oE '^timing +[a-z]+|^STRAGGLER ranks=[0-9]+|^Not enough evidence'
done
# Four GPUs to a process; and a trace that is not there, or only half of it.
commtrace-synth -o four "${job[@]}" --ranks-per-process 4 "${slow[@]}"
commtrace info four | head -1
commtrace report four --format=kv | grep -oE '^STRAGGLER ranks=[0-9]+'
# The overlap of the summary is that of the rows.
overlap=$(commtrace report four | tr '\n' ' ' | grep -oE 'overlap +[0-9.]+' | grep -oE '[0-9.]+')
commtrace report four --json | jq "[.overlap[]] | 100 * (map(.hidden_ns) | add) / (map(.comm_ns) | add) - $overlap | fabs < 0.05"
commtrace-synth -o lost "${job[@]}" --fault drop-trace:rank=4 --fault truncate:rank=2,keep=0.5
commtrace report lost 2>/dev/null | grep -oE '^run +[^,]*|^Not enough evidence'
commtrace info lost --format=json 2>/dev/null | grep -o '"end": "[a-z]*"' | sort | uniq -c
