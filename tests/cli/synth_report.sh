#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The report of a run that never was: nobody is blamed for nothing, a slow rank is named in every workload and timing that
# measures starts, and where starts are not measured nobody is.
job=(--gpus-per-host 8 --steps 40)
slow=(--fault slow-rank:rank=5,pct=6)
for workload in ddp megatron fsdp moe decode; do
	commtrace-synth -o healthy.$workload "${job[@]}" --workload $workload
	commtrace-synth -o slow.$workload "${job[@]}" --workload $workload "${slow[@]}"
	commtrace report healthy.$workload --fail-on=STRAGGLER >healthy.txt; echo "$workload healthy: $?"
	commtrace report slow.$workload --fail-on=STRAGGLER >slow.txt; echo "$workload slow: $?"
	grep -ohE '^dropped +.*|^STRAGGLER rank=[0-9]+ host=[a-z0-9]+' healthy.txt slow.txt
done
for timing in host plugin off; do
	commtrace-synth -o $timing "${job[@]}" --timing $timing "${slow[@]}"
	commtrace report $timing | grep -oE '^timing +[a-z]+|^STRAGGLER rank=[0-9]+|^NOT_ENOUGH_EVIDENCE'
done
# Four GPUs to a process; and a trace that is not there, or only half of it.
commtrace-synth -o four "${job[@]}" --ranks-per-process 4 "${slow[@]}"
commtrace info four | head -1
commtrace report four | grep -oE '^STRAGGLER rank=[0-9]+'
commtrace-synth -o lost "${job[@]}" --fault drop-trace:rank=4 --fault truncate:rank=2,keep=0.5
commtrace report lost 2>/dev/null | grep -oE '^run +[^,]*|^NOT_ENOUGH_EVIDENCE'
commtrace info lost --format=json 2>/dev/null | grep -o '"end": "[a-z]*"' | sort | uniq -c
