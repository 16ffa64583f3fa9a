#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A process with four copies of the simulated NCCL, each reached in another way (sim_copies.c): under the preload every call
# reaches the copy that it would reach without, and is on record, each copy's operations on communicators of their own.
. "$(dirname "$0")/e2e.sh"
export COMMTRACE_QUIET=1 COMMTRACE_TIMING=events SIM_DEVICES=2
for name in second third; do
	mkdir $name
	cp "$build/lib/sim/libnccl.so.2" $name/
done
mkdir other
cp "$build/lib/sim/libnccl.so.2" other/libnccl_other.so
# The copies find the simulated driver, which is loaded already, by its name.
export LD_LIBRARY_PATH=$work/other:$build/lib/sim
job=("$e2e/sim_copies" "$e2e"/libsim_copies_user{1,2}.so "$work/second/libnccl.so.2" "$work/third/libnccl.so.2")

"${job[@]}" >plain 2>plain.err || fail "without the preload: exit $?: $(cat plain.err)"
traced 60 "$work/run" "${job[@]}" >out 2>err || fail "exit $?: $(cat err)"
same "output" plain out
same "stderr" plain.err err

# What it called, and what is on record: in this order, since it has one thread.
cut -d ' ' -f 2,3 out | awk '{ print $1, ($1 == "ncclAllReduce" ? $2 : 0) }' >called
"$e2e/list_calls" run >listed || fail "list_calls: exit $?"
awk '$2 != "ncclCommDestroy" { print $2, ($1 == "op" ? $4 : 0) }' listed >recorded
same "what is recorded" called recorded

# dump: the communicator of each operation. One for each copy, and the operations of a copy on that.
"$commtrace" dump --format=jsonl run >dump || fail "dump: exit $?"
"$python" - out dump <<'EOF2' || fail "the operations are not on the communicators of their copies"
import collections, json, sys
truth = collections.Counter()
for line in open(sys.argv[1]):
    copy, call, count = line.split()
    if call == "ncclAllReduce":
        truth[copy, int(count)] += 1
comm_of, seen = {}, collections.Counter()
for line in open(sys.argv[2]):
    op = json.loads(line)
    copy = str(op["count"] // 100)
    seen[copy, op["count"]] += 1
    assert comm_of.setdefault(copy, op["comm"]) == op["comm"], op
assert len(set(comm_of.values())) == len(comm_of) == 4, comm_of
assert seen == truth, (seen, truth)
EOF2
echo "$(wc -l <called) calls of four copies"
