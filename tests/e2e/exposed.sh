#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Exposed communication of jobs as frameworks write them: gradients that are reduced behind the backward pass, parameters
# that are gathered by way of a stream of their own. The report is held against the simulator's own record; the job
# computes the same with and without the tracer, and nothing is misused. Where the machine holds a thread up between a
# launch and the event after it, the operation itself becomes longer than its kernel, so that a job has three tries.
. "$(dirname "$0")/e2e.sh"

export COMMTRACE_QUIET=1

# job NAME WORKLOAD STEP_MS: run it, with the report and the truth beside it.
job() {
	local at=$work/$1
	rm -rf "$at".*
	traced 60 "$at.run" env COMMTRACE_TIMING=events "$build/bin/commtrace-simjob" --ranks 2 --workload "$2" --steps 8 \
		--step-ms "$3" --result "$at.json" --spans "$at.spans" --stalls "$at.stalls" >"$at.out" || fail "$2: exit $?"
	[ "$(grep -o '"misuse": [0-9]*' "$at.json" | sort -u)" = '"misuse": 0' ] || fail "$2: misuse"
	"$commtrace" report --format=json "$at.run" >"$at.report"
	"$commtrace" report "$at.run" --verbose | grep -q '^overlap   .*; exposed [0-9]' || fail "$2: no line in the report"
	echo "$2, $3 ms:"
	"$e2e/check_exposed" "$at.report" "$at.spans" "$at.stalls"
}

for workload in fsdp ddp; do
	for step in 8 60; do
		job "$workload.$step" $workload $step || job "$workload.$step" $workload $step ||
			job "$workload.$step" $workload $step || fail "$workload, $step ms: not what the streams did"
	done
	timeout 240 "$build/bin/commtrace-simjob" --ranks 2 --workload $workload --steps 8 --step-ms 60 >"$workload.bare"
	same "$workload" "$workload.bare" "$workload.60.out"
done

# A program without a communicator is left alone, whatever it calls of CUDA.
traced 60 "$work/none.run" "$build/tests/sim/sim_runtime" >runtime.out 2>&1 || fail "without a communicator: $(cat runtime.out)"
[ ! -e none.run ] || fail "recorded without a communicator"

# Without events nothing is known, and that is what is said.
traced 60 "$work/off.run" env COMMTRACE_TIMING=off "$build/bin/commtrace-simjob" --ranks 2 --workload ddp --steps 3 --step-ms 5 >/dev/null
"$commtrace" report --format=json "$work/off.run" >off.report
! grep '"exposed_ns": [0-9]' off.report || fail "a number without times"
