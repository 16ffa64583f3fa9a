#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A job on two nodes, which are one machine under two names: their clocks are one, and what is reported of them has to agree with that.
. "$(dirname "$0")/e2e.sh"

export COMMTRACE_QUIET=1
for workload in ddp megatron moe; do
	traced 60 "$work/$workload.run" "$build/bin/commtrace-simjob" --ranks 8 --nodes 2 --node-env COMMTRACE_HOST \
		--workload $workload --steps 20 --step-ms 30 >/dev/null || fail "$workload: exit $?"
	"$commtrace" report --format=json "$work/$workload.run" >report.json
	# The row of the other host in clocks[]: offset, error, quality.
	row=$(awk -F': ' '/^ "clocks"/ { on = 1 } /^ "dropped"/ { on = 0 }
		on && /"host"/ { host = $2 } on && /"offset_ns"/ { off = $2 + 0 } on && /"err_ns"/ { err = $2 }
		on && /"quality"/ && host !~ /node0/ { print off, err, $2 }' report.json)
	read -r off err quality <<<"${row//[\",]/}"
	echo "$workload: $off ns, error $err ns, $quality"
	case $quality in ACCURATE | APPROXIMATE) ;; *) fail "$workload: $row" ;; esac
	[ "${off#-}" -le "$err" ] || fail "$workload: off by $off, reported to be within $err"
	[ "$err" -gt 0 ] || fail "$workload: no error"
	"$commtrace" report "$work/$workload.run" --verbose | grep -q '^clocks    2 of 2 hosts synchronized to node0, ± ' || fail "$workload: no line"
	! grep -q CLOCK_CONFLICT report.json || fail "$workload: a conflict"
done
