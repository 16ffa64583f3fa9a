#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copies of Gloo wherever a process can have them: the program's calls reach the same copy with and without the preload, each
# copy's are on record under communicators of their own, and what passes unseen is reported.
. "$(dirname "$0")/e2e.sh"
export COMMTRACE_QUIET=1 COMMTRACE_JOB=copies COMMTRACE_FLUSH=100ms
part=$e2e/gloo_part

# What is reported as invisible: what it is, and the file.
reported() {
	info_json "$1" | "$python" -c '
import json, os, re, sys
for row in json.load(sys.stdin)["not_traced"]:
    path = re.search(r": (/\S+) on rank", row["why"])
    print(row["what"], "|", os.path.basename(path.group(1)))'
}

# parts NAME "COPIES ON RECORD" LIBRARIES...: exactly the warnings of standard input.
parts() {
	local name=$1 copies=$2 d=$work/$1
	shift 2
	mkdir "$d"
	"$e2e/gloo_parts" "$@" >"$d/plain" || fail "$name, without the preload: exit $?"
	traced 20 "$d/run" "$e2e/gloo_parts" "$@" >"$d/out" 2>"$d/err" || fail "$name: exit $?: $(cat "$d/err")"
	same "$name: output" "$d/plain" "$d/out"
	sort >"$d/expected"
	if [ ! -e "$d/run" ]; then
		[ -z "$copies" ] && [ ! -s "$d/expected" ] || fail "$name: nothing was recorded"
		echo "$name: nothing recorded"
		return
	fi
	reported "$d/run" | sort >"$d/reported"
	same "$name: warnings" "$d/expected" "$d/reported"
	"$commtrace" dump --format=jsonl "$d/run" >"$d/dump" || fail "$name: dump: exit $?"
	"$e2e/list_traffic" "$d/run" >"$d/traffic" || fail "$name: list_traffic: exit $?"
	# Copy ID has a communicator of ID + 2 ranks, and sent ID bytes in each of ten collectives.
	"$python" - "$d" "$copies" <<'PY' || fail "$name: not what the copies did"
import collections, json, sys
d, copies = sys.argv[1], {int(c) for c in sys.argv[2].split()}
ops = collections.Counter(o["nranks"] for o in map(json.loads, open(d + "/dump")))
assert ops == {c + 2: 10 for c in copies}, ops
sent = {int(l.split()[2]): tuple(map(int, l.split()[6:])) for l in open(d + "/traffic")}
assert sent == {c + 2: (10, 10 * c) for c in copies}, sent
PY
	echo "$name: copies on record: ${copies:-none}; $(wc -l <"$d/reported") warnings"
}

bound='calls of Gloo that are bound inside the object'
symbolic="$bound | gloo_part_symbolic.so"
hidden='a copy of Gloo that is linked in and hidden | gloo_part_hidden.so'
parts visible 1 "${part}_visible.so" </dev/null
parts two "1 2" "${part}_visible.so" "${part}_other.so" </dev/null
parts symbolic "1" "${part}_visible.so" "${part}_symbolic.so" <<<"$symbolic"
parts hidden "1" "${part}_visible.so" "${part}_hidden.so" <<<"$hidden"
parts deepbind "1" "${part}_visible.so" "deepbind:${part}_other.so" \
	<<<"$bound | gloo_part_other.so"
# Without any call that comes by there is no recording, unless it is known that there ought to be calls.
parts nothing "" "${part}_hidden.so" </dev/null
unheard='collectives of torch over Gloo | libfake_c10d.so'
parts unheard "" "works:${part}_hidden.so" <<<"$unheard"$'\n'"$hidden"
parts unheard_symbolic "" "works:${part}_symbolic.so" <<<"$unheard"$'\n'"$symbolic"
parts heard "1" "works:${part}_visible.so" </dev/null

# Two libraries, one over a second copy of Debian's libgloo, two ranks each.
mkdir other
cp "$(readlink -f "$(ldd "$e2e/libgloo_user1.so" | awk '/libgloo/ { print $3 }')")" other/libgloo_other.so
export LD_LIBRARY_PATH=$work/other
users() { # WAY
	local d=$work/users.$1 rank i pids=()
	mkdir "$d"
	for ((i = 0; i < 6; i++)); do mkdir -p "$d/store/$((i / 2)).$((i % 2))"; done
	for rank in 0 1; do
		(
			export RANK=$rank WORLD_SIZE=2 COMMTRACE_DIR=$d/run
			[ "$1" = plain ] || export LD_PRELOAD=$library
			exec timeout 120 "$e2e/gloo_users" $rank 2 "$d/store" 3 "$e2e/libgloo_user1.so" "$e2e/libgloo_user2.so"
		) >"$d/out.$rank" 2>"$d/err.$rank" &
		pids+=($!)
	done
	for rank in 0 1; do
		wait "${pids[rank]}" || fail "users, $1: rank $rank: exit $?: $(cat "$d/err.$rank")"
	done
}
users plain
users traced
for rank in 0 1; do
	same "two users: output of rank $rank" users.plain/out.$rank users.traced/out.$rank
done
for i in 0 1 2; do
	printf 'round %d user 0: libgloo.so.0\nround %d user 1: libgloo_other.so\n' $i $i
done >expected
same "which copy carried out what" expected users.traced/out.0
reported users.traced/run >users.reported
[ ! -s users.reported ] || fail "two users: $(cat users.reported)"
"$commtrace" dump --format=jsonl users.traced/run >users.dump || fail "two users: dump: exit $?"
"$commtrace" report --format=json users.traced/run >users.json || fail "two users: report: exit $?"
"$python" - users.dump users.json <<'PY' || fail "two users: not what they did"
import collections, json, sys
ops = collections.defaultdict(collections.Counter)
for line in open(sys.argv[1]):
    o = json.loads(line)
    assert o["nranks"] == 2 and o["state"] == "finished", o
    ops[o["comm"]][o["op"], o["count"]] += 1
# A communicator for each round and user, which both ranks know by one name; five all-reduces of its length on each.
kinds = collections.Counter(tuple(sorted(c.items())) for c in ops.values())
want = {((("AllReduce", 100 * i), 10), (("Barrier", 0), 2)): 3 for i in (1, 2)}
assert kinds == want, kinds
traffic = json.load(open(sys.argv[2]))["traffic"]
# Among two ranks each sends half of its data and half of the result.
assert traffic["matrix"] == [[0, 3 * 5 * (400 + 800)], [3 * 5 * (400 + 800), 0]], traffic
PY
echo "two users: each with its own copy"
