#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What cannot be run is refused in words, with status 2, before anything is started.
. "$(dirname "$0")/simjob.sh"

# refused WORDS ARGUMENTS...
refused() {
	local words=$1
	shift
	run refused "$@"
	[ "$(cat "$dir/refused.rc")" = 2 ] || fail "$*: exit status $(cat "$dir/refused.rc")"
	[ ! -s "$dir/refused.out" ] || fail "$*: prints $(cat "$dir/refused.out")"
	grep -qF -- "$words" "$dir/refused.err" || fail "$*: says $(cat "$dir/refused.err")"
}

refused "--ranks: 'x' is not a whole number from 1 to 1024" --ranks x
refused "--ranks: '0' is not a whole number" --ranks 0
refused "--steps: '-1' is not a whole number" --steps -1
refused "--step-ms: 'nan' is not a number" --step-ms nan
refused "--timing: 'fast' is neither real nor none" --timing fast
refused "--on-death: 'sing' is neither kill nor wait" --on-death sing
refused "what is 'ddp'?" ddp
refused "no workload 'dpd'; there are ddp, megatron, fsdp, moe, decode" --workload dpd
refused "the ddp workload has no tp to choose" --tp 2
refused "2 x 2 x 4 (tensor x pipeline x data) is not 8 ranks" --workload megatron --tp 2 --pp 2 --dp 4
refused "8 ranks cannot be spread over 3 nodes evenly" --nodes 3
refused "4 ranks of a node are not processes of 3 ranks" --nodes 2 --ranks-per-process 3
refused "no fault 'slow-rnk'; there are slow-rank, " --fault slow-rnk:rank=1,ms=3
refused "fault slow-rank needs one of pct, ms" --fault slow-rank:rank=1
refused "fault slow-rank: there is no rank 8, only 0 to 7" --fault slow-rank:rank=8,ms=3
refused "fault kill would never happen in this workload" --fault kill:rank=1,op=70
refused "fault drop-trace is for traces that are generated, not for a job" --fault drop-trace:rank=1
refused "fault truncate is for traces that are generated, not for a job" --fault truncate:rank=1,keep=0.5

# Which operations faults are about, without a job: the all-reduce of a bucket; the first send from there on.
where=$("$simjob" --where --workload ddp --ranks 4 --steps 2 --fault skip:rank=1,op=9)
[ "$where" = '{"ops": [14, 14, 14, 14], "faults": [{"kind": "skip", "op": 9, "operation": "AllReduce", "bytes": 32012, "role": "world", "peer": null, "members": [0, 1, 2, 3]}]}' ] ||
	fail "--where: $where"
where=$("$simjob" --where --workload megatron --ranks 4 --tp 1 --pp 2 --dp 2 --steps 2 --fault skip-send:rank=2,peer=0,op=3 --fault skip-init:rank=1)
grep -qF '"operation": "Send", "bytes": 65536, "role": "pp", "peer": 0, "members": [0, 2]}, {"kind": "skip-init"}]}' <<<"$where" ||
	fail "--where: $where"

"$simjob" --help >"$dir/help"
for word in --workload --fault megatron slow-rank:rank= host-stall:rank= "Exit status"; do
	grep -qF -- "$word" "$dir/help" || fail "help has no $word"
done
! grep -q drop-trace "$dir/help" || fail "help tells of faults that are refused"
