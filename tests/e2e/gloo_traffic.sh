#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The bytes that Gloo's ranks send to each other, inside collectives and by themselves, are what another preload
# counts that stands between the tracer and Gloo: exactly in the report of a job that ends, and up to the calls in flight in
# the trace of ranks that are killed.
. "$(dirname "$0")/e2e.sh"
export COMMTRACE_QUIET=1 COMMTRACE_FLUSH=100ms COMMTRACE_JOB=traffic
threads=2

# job NAME RANKS ARGUMENTS...: starts it; pids[rank].
job() {
	local d=$work/$1 size=$2 rank
	shift 2
	pids=()
	mkdir -p "$d/store" "$d/truth"
	for ((rank = 0; rank < size; rank++)); do
		RANK=$rank WORLD_SIZE=$size GLOO_SHIM_DIR=$d/truth COMMTRACE_DIR=$d/run \
			LD_PRELOAD="$library $e2e/libgloo_shim.so" timeout -k 5 240 "$gloo_job" --rank $rank --size "$size" \
			--store "$d/store" --threads $threads "$@" >"$d/out.$rank" 2>"$d/err.$rank" &
		pids[rank]=$!
	done
}

ended() { # NAME: a job that ended well
	local d=$work/$1 rank
	for rank in "${!pids[@]}"; do
		wait "${pids[rank]}" || fail "$1: rank $rank: exit $?: $(cat "$d/err.$rank")"
	done
	"$commtrace" report --format=json "$d/run" >"$d/report.json" || fail "$1: report: exit $?"
	"$e2e/list_traffic" "$d/run" >"$d/reported" || fail "$1: list_traffic: exit $?"
	"$python" - "$d" <<'PY' || fail "$1: the trace and the truth differ"
import collections, glob, json, os, struct, sys
d = sys.argv[1]
truth = {int(os.path.basename(p)): struct.unpack("<256Q", open(p, "rb").read()) for p in glob.glob(d + "/truth/*")}
traffic = json.load(open(d + "/report.json"))["traffic"]
assert traffic["model"] == "exact" and traffic["ranks"] == sorted(truth), traffic
for a in truth:
    for b in truth:
        sent, received = truth[a][4 * b + 1], truth[b][4 * a + 3]
        assert sent == traffic["matrix"][a][b], (a, b, sent, traffic)
        # (the truth does not count receives from anyone, which only the program itself makes)
        assert sent == received or not d.endswith("/collectives"), (a, b, sent, received)
        assert (sent > 0) == (a != b), (a, b, sent)
# The layers have the same, messages as well, and those of communicators add up to that of all.
layers = [l for l in traffic["layers"] if l["scope"] == "rank"]
assert all(l["model"] == "exact" and l["backend"] in ("gloo", None) for l in layers), layers
sent = {(a, b): (truth[a][4 * b + 1], truth[a][4 * b]) for a in truth for b in truth if truth[a][4 * b]}
def pairs(layer):
    return dict(zip(zip(layer["src"], layer["dst"]), zip(layer["bytes"], layer["count"])))
assert pairs(layers[0]) == sent, (layers[0], sent)
of_comms = [pairs(l) for l in layers if l["kind"] == "comm"]
assert bool(of_comms) == (layers[0]["comm"] is None) and not traffic["comms_omitted"], layers
for pair in sent if of_comms else ():
    assert tuple(map(sum, zip(*(p[pair] for p in of_comms if pair in p)))) == sent[pair], (pair, of_comms)
assert traffic["exact_bytes"] == sum(n for n, _ in sent.values()) and not traffic["modeled_bytes"], traffic
# What one sent to another inside a communicator, that one has received, in as many messages.
rows = collections.defaultdict(dict)
for line in open(d + "/reported"):
    rank, comm, size, member, way, peer, messages, size_bytes = line.split()
    pair = (comm, int(member), int(peer)) if way == "sent" else (comm, int(peer), int(member))
    assert pair not in rows[way], line
    rows[way][pair] = (int(messages), int(size_bytes))
assert rows["sent"] == rows["received"], rows
assert bool(rows["sent"]) == (not d.endswith("/p2p")), rows
print(len(rows["sent"]), "pairs,", sum(n for n, _ in rows["sent"].values()), "messages,",
      sum(map(sum, traffic["matrix"])), "bytes")
PY
}

# At least so many messages have been sent by each rank.
under_way() {
	"$python" - "$1"/truth/* <<'PY'
import struct, sys
sys.exit(not all(sum(struct.unpack("<256Q", open(p, "rb").read())[0::4]) > 300 for p in sys.argv[1:]))
PY
}

# One rank, or all of them, killed somewhere in the middle; the rest sees an exception.
killed() { # NAME VICTIM...
	local d=$work/$1 tries=0 rank victims=()
	shift
	until [ "$(find "$d/truth" -type f | wc -l)" = ${#pids[@]} ] && under_way "$d"; do
		[ $((tries += 1)) -lt 600 ] || fail "${d##*/}: the job does not get going: $(cat "$d"/err.*)"
		sleep 0.05
	done
	for rank in "$@"; do
		# (timeout's child)
		victims+=("$(cat "/proc/${pids[rank]}/task/${pids[rank]}/children")")
	done
	# shellcheck disable=SC2068
	kill -KILL ${victims[@]} 2>/dev/null || true # (some may have seen others go)
	for rank in "${!pids[@]}"; do
		wait "${pids[rank]}" && fail "${d##*/}: rank $rank ended well"
	done 2>/dev/null
	"$e2e/list_traffic" "$d/run" >"$d/reported" || fail "${d##*/}: list_traffic: exit $?"
	"$python" - "$d" $threads "$@" <<'PY' || fail "${d##*/}: the trace and the truth differ"
import collections, glob, os, struct, sys
d, threads, killed = sys.argv[1], int(sys.argv[2]), set(map(int, sys.argv[3:]))
reported = collections.Counter()
for line in open(d + "/reported"):
    rank, comm, size, member, way, peer, messages, size_bytes = line.split()
    reported[int(rank), int(peer), way == "received", 0] += int(messages)
    reported[int(rank), int(peer), way == "received", 1] += int(size_bytes)
seen = 0
for path in glob.glob(d + "/truth/*"):
    rank, numbers = int(os.path.basename(path)), struct.unpack("<256Q", open(path, "rb").read())
    for peer in range(64):
        for received in range(2):
            messages, size_bytes = numbers[4 * peer + 2 * received:][:2]
            mine, my_bytes = reported[rank, peer, received, 0], reported[rank, peer, received, 1]
            assert mine <= messages, (rank, peer, received, messages, mine)
            assert my_bytes <= size_bytes, (rank, peer, received, size_bytes, my_bytes)
            # The others leave by exit() in one thread while another goes on sending, which no one records.
            if rank in killed:
                assert messages - mine <= threads, (rank, peer, received, messages, mine)
                # (no message has more than 256 elements of 4 bytes)
                assert size_bytes - my_bytes <= threads * 1024, (rank, peer, received, size_bytes, my_bytes)
            seen += mine
print(seen, "messages of killed ranks and their peers")
PY
}

job collectives 3 --ops 150 --mode collectives
ended collectives
job mixed 4 --ops 60 --mode mixed
ended mixed
job p2p 2 --ops 60 --mode p2p
ended p2p
# Communicators that end while the job goes on: their entries are freed, and what they counted is kept. (Among two ranks an
# all-reduce sends half of its 400 bytes, and half of the result.)
d=$work/lives
# shellcheck disable=SC2046
mkdir -p $(seq -f "$d/store/%g.0" 0 29)
for rank in 0 1; do
	RANK=$rank WORLD_SIZE=2 COMMTRACE_FLUSH=20ms traced 60 "$d/run" "$e2e/gloo_users" $rank 2 "$d/store" 30 \
		"$e2e/libgloo_user1.so" >"$d/out.$rank" &
	pids[rank]=$!
done
wait "${pids[0]}" && wait "${pids[1]}" || fail "lives: a rank failed"
"$e2e/list_traffic" "$d/run" >"$d/reported"
"$commtrace" report --format=json "$d/run" >"$d/report.json"
"$python" - "$d" <<'PY' || fail "lives: not what was moved"
import collections, json, sys
d = sys.argv[1]
rows = collections.Counter((line.split()[4], line.split()[7]) for line in open(d + "/reported"))
assert rows == {("sent", "2000"): 60, ("received", "2000"): 60}, rows
assert json.load(open(d + "/report.json"))["traffic"]["matrix"] == [[0, 60000], [60000, 0]]
print("30 communicators, one after the other")
PY

job victim 3 --ops 1000000 --mode collectives --timeout-s 4
killed victim 1
job all 3 --ops 1000000 --mode collectives --timeout-s 4
killed all 0 1 2
