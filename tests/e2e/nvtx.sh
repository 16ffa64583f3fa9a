#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A job that names its steps with the real NVTX: they are on record as the job itself timed them, nothing else is, the report
# cuts the run by them, and the job gets from NVTX what it gets without the tracer.
. "$(dirname "$0")/e2e.sh"

export COMMTRACE_QUIET=1
unset NVTX_INJECTION64_PATH
job=$e2e/nvtx_job

# ran DIR [NAME=VALUE...]: the job under `commtrace run`, or bare.
ran() {
	local dir=$1
	shift
	timeout -k 5 240 "$commtrace" run -o "$work/$dir" -- env "$@" "$job" "$work/$dir.known" >"$dir.out" 2>"$dir.err" ||
		fail "$dir: exit $? $(cat "$dir.err")"
	"$e2e/nvtx_records" "$work/$dir" >"$dir.seen" || fail "$dir: cannot be read"
}

timeout -k 5 240 "$job" bare.known >bare.out
ran run
same "what the job prints" bare.out run.out

# Each step of each thread, within the times around its push and its pop; steps are named after their numbers.
awk 'NR == FNR { if ($1 == "loss") lost += $2; else { seen[$1, $6] = $2; end[$1, $6] = $3; bad += $5 != "step" || $4 != 0; n++ }; next }
	{
		k = ($2 SUBSEP (FNR - 1) % 30)
		if (!(k in seen)) { print "not on record: " $0; exit 1 }
		if (seen[k] < $3 || seen[k] > $4 || end[k] < $5 || end[k] > $6) { print "other times: " seen[k], end[k], $0; exit 1 }
		m++
	}
	END { if (m != 60 || n != 60 || bad || lost) { print n " on record, " m " in the job, " bad + 0 " others, " lost + 0 " lost"; exit 1 } }
' run.seen run.known || fail "ranges on record"

"$commtrace" report --format=json "$work/run" >run.json
grep -q '"marker": "step"' run.json || fail "no steps by NVTX ranges"
grep -q '"count": 29' run.json || fail "not 29 steps"
"$commtrace" report "$work/run" --verbose | grep '^steps .* begin with step' || fail "no line in the report"

# A setting chooses, or switches off; another tool's setting is kept, which is not a library here: then NVTX does nothing.
ran off COMMTRACE_NVTX=off
ran epoch COMMTRACE_NVTX=epoch,loading
NVTX_INJECTION64_PATH=/dev/null ran taken
for way in off epoch taken; do
	same "$way: what the job prints" bare.out $way.out
done
[ "$(grep -vc loss off.seen)" = 0 ] || fail "recorded, though switched off"
[ "$(grep -vc loss taken.seen)" = 0 ] || fail "recorded instead of another tool"
[ "$(grep -c ' 0 epoch 1$' epoch.seen)" = 2 ] && [ "$(grep -c ' 1 loading$' epoch.seen)" = 240 ] || fail "not what was asked for"
echo "60 steps of two threads as they were, 29 steps"
