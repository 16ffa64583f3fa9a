# SPDX-License-Identifier: Apache-2.0
"""lives.py WAY: what is on record in WAY/{dump,info,report} against what the ranks printed, WAY/out."""
import json
import sys

way = sys.argv[1]
ops = [json.loads(line) for line in open(f"{way}/dump")]
info, report = (json.load(open(f"{way}/{name}")) for name in ("info", "report"))
said = [line.split() for line in open(f"{way}/out")]
failures = 0


def must(what, is_so, *seen):
    global failures
    if not is_so:
        print(f"{way}: {what}:", *seen)
        failures += 1


sums = [(op["rank"], op["state"]) for op in ops if op["op"] == "AllReduce"]
must("two processes, no child", len(info["processes"]) == 2, info["processes"])
must("no loss", not info["dropped"], info["dropped"])
if way == "abort":
    must("both were through the first all-reduce", all((rank, "finished") in sums for rank in (0, 1)), sums)
    must("no second one was finished", len([s for s in sums if s[1] == "finished"]) == 2, sums)
    must("nobody is blamed", report["verdict"]["code"] not in ("HEALTHY", "STRAGGLER", "MISMATCH"), report["verdict"])
    ends = [process["end"] for process in info["processes"]]
    must("no end is a clean one", "clean" not in ends, ends)
else:
    must("two all-reduces each", sorted(sums) == [(rank, "finished") for rank in (0, 0, 1, 1)], sums)
    ends = [(process["end"], process["exit_code"]) for process in info["processes"]]
    must("all ended well", ends == [("clean", 0)] * 2, ends)
if way == "errors":
    told = sorted([str(op["rank"]), op["call"], str(op["result"])] for op in ops if op["result"])
    printed = sorted(words for words in said if words[1] in ("MPI_Recv", "MPI_Bcast"))
    must("printed errors", len(printed) == 3 and all(words[2] != "0" for words in printed), printed)
    must("failed calls with their classes", told == printed, told, "printed", printed)
    late = [op["state"] for op in ops if op["call"] == "MPI_Irecv"]
    must("the request that failed", late == ["error"], late)
print(f"{way}: {len(ops)} ops, {report['verdict']['code']}: {report['verdict']['text']}")
sys.exit(failures > 0)
