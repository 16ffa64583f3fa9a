#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# torch over Gloo: the call site of each operation is the program's own line, though torch's queue and its threads are in
# between, and two barriers of one number are distinguished. The sites of what the ranks do together are equal elsewhere.
. "$(dirname "$0")/../e2e/e2e.sh"
export OMP_NUM_THREADS=1 COMMTRACE_QUIET=1 COMMTRACE_JOB=torch-sites COMMTRACE_DIR=$work/run
port=$("$python" "$root/tools/free_port.py")
pids=()
for rank in 0 1 2; do
	RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port LD_PRELOAD=$library \
		timeout 400 "$python" "$root/tests/python/torch_sites.py" "$work/want" >"out.$rank" 2>&1 </dev/null &
	pids+=($!)
done
for rank in 0 1 2; do
	wait "${pids[rank]}" || fail "rank $rank: exit $?: $(tail -n 5 "out.$rank")"
done
"$commtrace" dump --format=jsonl run >dump || fail "dump: exit $?"
"$python" - <<'PY' || fail "sites are not what they should be"
import json
ops = [json.loads(line) for line in open("dump")]
sites = {}
for rank in range(3):
    own = sorted((o for o in ops if o["rank"] == rank), key=lambda o: o["enter_ns"])
    assert all(o["site"] for o in own), own
    want = open("want.%d" % rank, encoding="utf-8").read().split("\n")[:-1]
    assert want[0] == "-"
    # what the constructor of the model does is at its own line; the marker ends that
    marker = next(i for i, o in enumerate(own) if o["op"] == "AllReduce" and o["count"] == 1)
    assert marker and all("torch_sites.py:" in o["site"] and "__init__ < " in o["site"] for o in own[:marker]), own[:marker]
    # (torch's second forward shows the others how it has put gradients together, by broadcasts)
    got = [o["site"].split(" < ")[0] for o in own[marker + 1:] if o["op"] != "Broadcast"]
    assert got == want[1:], (got, want[1:])
    sites[rank] = [o["site"] for o in own if o["seq"] is not None and o["op"] not in ("Send", "Recv")]
differing = [i for i, (a, b, c) in enumerate(zip(sites[0], sites[1], sites[2])) if not a == b == c]
assert len(differing) == 1 and "save_checkpoint" in sites[0][differing[0]] and "finalize" in sites[1][differing[0]], differing
PY
