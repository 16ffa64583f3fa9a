#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A process that uses MPI, NCCL and Gloo is one rank: the launcher's, in each of its communicators.
. "$(dirname "$0")/mpi.sh"
export COMMTRACE_QUIET=1
mkdir store
mpi_traced 60 3 "$work/run" "$mpi/three_job.$flavour" "$work/store" >out 2>err || fail "exit $?: $(cat out err)"
[ "$(cat out)" = "sum 3, three times" ] || fail "printed: $(cat out)"
timeout -k 5 240 "$commtrace" report --format=json run >report || fail "commtrace report: exit $?"
timeout -k 5 240 "$commtrace" dump --format=jsonl run >dump || fail "commtrace dump: exit $?"
"$python" - <<'END' || fail "$(cat report)"
import collections, json
report = json.load(open("report"))
ranks = [rank["rank"] for rank in report["ranks"]]
calls = collections.defaultdict(set)
for op in map(json.loads, open("dump")):
    if op["op"] == "AllReduce":
        calls[op["backend"]].add((op["rank"], op["comm_rank"]))
print("ranks", ranks, "of", report["run"]["ranks_expected"], {name: sorted(who) for name, who in sorted(calls.items())})
same = {(0, 0), (1, 1), (2, 2)}
exit(ranks != [0, 1, 2] or report["run"]["ranks_expected"] != 3 or dict(calls) != {"mpi": same, "nccl": same, "gloo": same})
END
