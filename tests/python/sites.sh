#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Call sites of two ranks in each interpreter of this machine are what the program noted of itself, wherever the loader
# puts things. COMMTRACE_STACKS=native shows what the calls return to, the same on both; off, nothing.
. "$(dirname "$0")/../e2e/e2e.sh"
sim=$build/lib/sim

job() { # NAME PYTHON
	local d=$work/$1 rank pids=() status
	mkdir -p "$d"
	for rank in 0 1; do
		RANK=$rank WORLD_SIZE=2 COMMTRACE_JOB=sites COMMTRACE_QUIET=1 COMMTRACE_DIR=$d/run COMMTRACE_TIMING=host LD_LIBRARY_PATH=$sim \
			LD_PRELOAD=$library timeout 240 "$2" "$root/tests/python/sites.py" "$sim/libnccl.so.2" "$d" >"$d/out.$rank" 2>&1 &
		pids+=($!)
	done
	for rank in 0 1; do
		status=0
		wait "${pids[rank]}" || status=$?
		[ $status = 0 ] || fail "$1: rank $rank: exit $status: $(tail -n 5 "$d/out.$rank")"
	done
	"$commtrace" dump --format=jsonl --calls "$d/run" >"$d/dump" || fail "$1: dump: exit $?"
	for rank in 0 1; do
		"$python" - "$d" $rank >"$d/got.$rank" <<'PY'
import json, sys
ops = [o for o in map(json.loads, open(sys.argv[1] + "/dump")) if o["rank"] == int(sys.argv[2])]
for op in sorted((o for o in ops if o["op"]), key=lambda o: o["seq"]):
    print(op["site"])
with open(sys.argv[1] + "/got_calls." + sys.argv[2], "w") as out:
    for call in sorted((o for o in ops if not o["op"] and o["state"] != "error" and o["call"] != "ncclGetUniqueId"), key=lambda o: o["enter_ns"]):
        print(call["site"], file=out)
PY
	done
}

n=0
for interpreter in $("$root/tests/python/interpreters.sh"); do
	n=$((n + 1))
	job "$n" "$interpreter"
	for rank in 0 1; do
		same "$interpreter: sites of rank $rank" "$n/want.$rank" "$n/got.$rank"
		same "$interpreter: sites of calls of rank $rank" "$n/want_calls.$rank" "$n/got_calls.$rank"
	done
	[ "$(wc -l <"$n/want.0")" -gt 60 ] || fail "$interpreter: too few calls"
	# the ranks part where the program did, and nowhere else
	parted=$(diff "$n/got.0" "$n/got.1" | grep -c '^[<>]') || true
	[ "$parted" = 2 ] || fail "$interpreter: the ranks differ in $parted lines"
done
[ $n -gt 0 ] || fail "no Python 3.8 or later"

COMMTRACE_STACKS=native job native /usr/bin/python3
same "native sites of the ranks" native/got.0 native/got.1
grep -qvE '^[^/ ]+\+0x[0-9a-f]+( \(build [0-9a-f]{8}\))?$' native/got.0 && fail "a native site: $(head -n 1 native/got.0)"
COMMTRACE_STACKS=off job off /usr/bin/python3
[ "$(sort -u off/got.0)" = None ] || fail "off: a site: $(sort -u off/got.0)"

# A program without Python: each call is in the function of the program that makes it, in the file with the build id that is reported.
simjob=$build/bin/commtrace-simjob
COMMTRACE_JOB=simjob COMMTRACE_DIR=$work/simjob LD_LIBRARY_PATH=$sim LD_PRELOAD=$library "$simjob" --ranks 4 --ranks-per-process 2 \
	--workload fsdp --steps 2 --timing none >out 2>err || fail "simjob: exit $?: $(tail -n 3 err)"
"$commtrace" dump --format=jsonl --calls simjob >dump || fail "simjob: dump: exit $?"
id=$(readelf -n "$simjob" | awk '/Build ID/ { print substr($3, 1, 8) }')
"$python" - "$simjob" "$id" <<'PY' || fail "sites of a program without Python"
import collections, json, re, subprocess, sys
ops = [json.loads(line) for line in open("dump")]
by_instance = collections.defaultdict(set)
addresses, calls = set(), {}
for op in ops:
    if not op["site"]:
        sys.exit("no site: %s" % op)
    m = re.fullmatch(r"commtrace-simjob\+(0x[0-9a-f]+)( \(build %s\))" % sys.argv[2], op["site"])
    assert m, op["site"]
    addresses.add(m.group(1))
    if op["op"]:
        by_instance[op["comm"], op["seq"]].add(op["site"])
    else:
        calls.setdefault(op["call"], op["site"])
assert {"ncclCommInitRankConfig", "ncclCommDestroy"} <= set(calls) and len(set(calls.values())) == len(calls), calls
assert len(ops) > 20 and len(addresses) > 1 and all(len(sites) == 1 for sites in by_instance.values()), by_instance
before = [hex(int(address, 16) - 1) for address in addresses]  # the call, not what it returns to
reported = subprocess.run(["addr2line", "-e", sys.argv[1]] + before, stdout=subprocess.PIPE, check=True).stdout.decode()
assert all("/sim/job/" in line for line in reported.split("\n")[:-1]), reported
PY

# Code that is made again and again from few lines has their sites, however often; what comes from more lines than there is
# space for is unknown, and counted.
SITES_MADE=20000 SITES_ROUNDS=1 COMMTRACE_RING_MB=1 job again /usr/bin/python3
same "again: sites of rank 0" again/want.0 again/got.0
SITES_MADE=20000 SITES_LINES=20000 SITES_ROUNDS=1 COMMTRACE_RING_MB=1 job many /usr/bin/python3
paste -d '|' many/want.0 many/got.0 | awk -F'|' '$2 == "None" { none++; next } $1 != $2 { bad++ } END { exit bad > 0 || none < 1000 || NR - none < 20 }' ||
	fail "many: what is reported is not what is, or all is"
"$commtrace" info many/run | grep -q STRINGS_FULL || fail "many: no loss is reported"
