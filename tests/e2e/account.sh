#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The account that the tracer gives of its threads is what the kernel says of them: context switches and CPU time. Three threads stay,
# and one that reads counters. Three of them wake four times a second: none of these can be missing from the sums.
. "$(dirname "$0")/e2e.sh"
export COMMTRACE_QUIET=1 COMMTRACE_HANG_AFTER=1s COMMTRACE_COUNTERS=50ms
traced 30 "$work/run" "$e2e/account_job" 3000 >"$work/said" 2>"$work/err" || fail "exit $?: $(cat "$work/err")"
info_json "$work/run" >"$work/info"
python3 - "$work/said" "$work/info" <<'END' || fail "the account is wrong"
import json, sys
words = open(sys.argv[1]).read().split()
kernel = dict(zip(words[::2], map(int, words[1::2])))
(cost,) = json.load(open(sys.argv[2]))["overhead"]
print(kernel, {key: value for key, value in cost.items() if key.endswith(("_ns", "switches"))})
assert kernel["threads"] == 4, "not four threads"
# A thread notes itself before it sleeps: its last switch is not in the account. The others are of threads that ended before, and of the end.
assert kernel["voluntary"] - kernel["threads"] <= cost["voluntary_switches"] <= kernel["voluntary"] + 40, "voluntary switches"
assert cost["voluntary_switches"] >= 30, "they hardly slept"
assert kernel["involuntary"] - 20 <= cost["involuntary_switches"] <= 2 * kernel["involuntary"] + 40, "involuntary switches"
ours = cost["write_cpu_ns"] + cost["heartbeat_cpu_ns"] + cost["poll_cpu_ns"]
assert 0.8 * kernel["cpu_ns"] <= ours, "CPU time is missing"
parts = [cost[key] for key in ("stacks_cpu_ns", "counters_cpu_ns", "environment_cpu_ns")]
assert all(parts) and sum(parts) < cost["write_cpu_ns"], "the parts of the sum"
assert 0 < cost["startup_ns"] < 3e9, "the start"
END
timeout -k 5 60 "$commtrace" info "$work/run" >"$work/text"
grep -Eq "^context switches of the tracer's threads: at most [0-9.]+ per second" "$work/text" || fail "the text lacks them: $(cat "$work/text")"
echo "the account agrees with the kernel's"
