#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A hundred short jobs, all of them killed, one after the other, in one ring directory: it does not fill up, because who
# starts takes away what the dead have left there; and what they have left is found in their runs.
. "$(dirname "$0")/e2e.sh"

jobs=100
[ "$long" = 0 ] || jobs=1000
ranks=2
# Rings of the last job, and those that it and the two before it had no time to take away.
bound=$((4 * ranks))
# On a busy machine they are killed before they get to it: then those that follow live longer, and in the end one does.
longer=1
most=0 pause=0
echo "seed $seed"
for ((n = 0; n < jobs; n++)); do
	d=$work/job-$n
	mkdir -p "$d/run"
	between pause 10 80
	pause=$((pause * longer))
	traced 60 "$d/run" "$e2e/kill_ranks" --job "$gloo_job" --dir "$d" --apart --ranks $ranks --seed "$pause" \
		--under-way --from-ms "$pause" --to-ms "$pause" -- --ops 1000000 --pace-us 200 >"$d/driver" 2>&1 ||
		fail "job $n: $(cat "$d/driver")"
	here=$(find "$rings" -type f | wc -l)
	if [ "$here" -gt $bound ]; then
		[ $longer -le 64 ] || fail "after $((n + 1)) jobs there are $here rings:"$'\n'"$(ls -l "$rings")"
		longer=$((longer * 4))
	fi
	[ "$here" -le "$most" ] || most=$here
done

killed=0 calls=0
for ((n = 0; n < jobs; n++)); do
	d=$work/job-$n
	said=$("$e2e/check_journal" -r "$d/run" "$d"/*.journal 2>&1) || fail "job $n: $said"
	calls=$((calls + $(word "$said" ' calls')))
	[ "$(word "$said" ' processes')" -gt 0 ] || continue
	info_json "$d/run" >"$d/info.json" || fail "job $n: commtrace info: exit $?"
	ends=$("$e2e/check_ends" "$d/truth" "$d/run" "$d/info.json" 2>&1) || fail "job $n: $ends"
	killed=$((killed + $(word "$ends" ' kills')))
done
[ $killed -ge $((jobs * ranks / 2)) ] || fail "only $killed of $((jobs * ranks)) had recorded something"

# By hand, what the last ones left: then nothing is there any more.
for ((n = 0; n < jobs; n++)); do
	[ -z "$(find "$rings" -type f)" ] || "$commtrace" collect "$work/job-$n/run" >"$work/collect" 2>&1 ||
		fail "collect: $(cat "$work/collect")"
done
[ -z "$(find "$rings" -type f)" ] || fail "after collect: $(ls -l "$rings")"
echo "$jobs jobs, $killed killed ranks with $calls calls, at most $most rings at a time"
