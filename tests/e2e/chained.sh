#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A job on simulated GPUs with another preload that wraps NCCL, before this one or behind it: the job goes as without, the
# other preload sees every call once, and every call is on record.
. "$(dirname "$0")/e2e.sh"
shim=$e2e/libnccl_shim.so

# job NAME PRELOADS
job() {
	local d=$work/$1
	mkdir "$d"
	(
		cd "$d"
		export COMMTRACE_DIR=$d/run COMMTRACE_QUIET=1 NCCL_SHIM_LOG=$d/log
		[ -z "$2" ] || export LD_PRELOAD=$2
		exec timeout -k 5 240 "$build/bin/commtrace-simjob" --ranks=4 --tp=2 --workload=megatron --steps=2 --scale=4096 --timing=none
	) >"$d/out" 2>"$d/err" || fail "$1: exit $?: $(cat "$d/err")"
}

# seen NAME: how often the other preload was called, by function.
seen() {
	awk '{ print $1 }' "$work/$1/log" | sort | uniq -c
}

job plain ""
job alone "$shim"
seen alone >expected
[ "$(grep -c '^allreduce' alone/log)" -gt 100 ] || fail "this job calls only: $(cat expected)"
job before "$shim:$library"
job behind "$library:$shim"
for order in before behind; do
	same "$order: stdout" plain/out $order/out
	seen $order >$order/seen
	same "$order: what the other preload saw" expected $order/seen
	timeout -k 5 240 "$commtrace" dump $order/run >$order/dump || fail "$order: commtrace dump: exit $?"
	calls=$(grep -c ncclAllReduce $order/dump) here=$(grep -c '^allreduce' $order/log)
	[ "$calls" = "$here" ] || fail "$order: $calls of $here calls are on record"
done
echo "$calls calls of ncclAllReduce, in either order"
