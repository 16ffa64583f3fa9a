#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Several paths are parts or starts of one job; every command refuses those of different jobs, and says what to do.
record() { commtrace run -q "$@" --ranks 4 --steps 6 >/dev/null 2>&1; }
record --job=one -o first -- commtrace-simjob
record --job=one -o second -- commtrace-simjob
record --job=two -o other -- commtrace-simjob
commtrace report first second --json | grep -o '"starts": [0-9]*'
for command in report info hang dump timeline open heatmap; do
	case $command in
	timeline) out=(-o x.pftrace) ;;
	heatmap) out=(-o x.svg) ;;
	*) out=() ;;
	esac
	commtrace $command first other "${out[@]}" 2>&1 || echo "exit $?"
done
# A launcher may name the processes of each host by itself: what communicates with each other is one job.
mkdir part
record -o nodes -- commtrace-simjob --nodes 2 --node-env COMMTRACE_JOB
mv "$(find nodes -name '*.seg' | sort | head -n 1)" part/
commtrace info nodes part --json 2>&1 | grep -oE 'warning: .*|"ranks_seen": [0-9]*'
ls
