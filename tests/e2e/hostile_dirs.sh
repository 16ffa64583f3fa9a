#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Directories to write to that are small, full, read-only, or go away under the job: the job does not notice, and what could
# not be kept is counted and said. Each case has mounts of its own; several run at a time, since they mostly wait.
#
# hostile_dirs.sh          all cases
# hostile_dirs.sh CASE     one of them, in a mount namespace of its own
cases=(small_shm full_shm readonly_shm no_room ring_removed ring_removed_and_killed parent_is_file readonly_dir no_dir_at_all full_fs
	full_fs_overrun full_for_a_while renamed renamed_and_killed removed made_anew file_size_limit)

if [ $# = 0 ]; then
	logs=$(mktemp -d "${TMPDIR:-/tmp}/commtrace-e2e.XXXXXX")
	trap 'rm -rf "$logs"' EXIT
	status=0
	for name in "${cases[@]}"; do
		while [ "$(jobs -rp | wc -l)" -ge 4 ]; do wait -n || true; done
		(timeout -k 5 480 unshare -m --propagation private "$0" "$name" >"$logs/$name" 2>&1 || echo "FAILED: $?" >>"$logs/$name") &
	done
	wait
	for name in "${cases[@]}"; do
		printf '%-18s %s\n' "$name" "$(cat "$logs/$name")"
		{ grep -qx ok "$logs/$name" && ! grep -q '^FAILED' "$logs/$name"; } || status=1
	done
	exit $status
fi

# /tmp and /dev/shm are the case's own; what lies there now, perhaps all that was built, is not seen any more.
TMPDIR=/var/tmp ring_base=/nowhere
. "$(dirname "$0")/e2e.sh"
unset TMPDIR COMMTRACE_RING_DIR
trap 'cd /; umount -l "$work"/* 2>/dev/null || true; cleanup' EXIT
mkdir "$work/bin"
cp "$library" "$commtrace" "$gloo_job" "$e2e/check_journal" "$e2e/check_ends" "$e2e/kill_ranks" "$work/bin"
library=$work/bin/${library##*/} commtrace=$work/bin/commtrace gloo_job=$work/bin/${gloo_job##*/} e2e=$work/bin
export COMMTRACE_FLUSH=200ms
mount -t tmpfs -o size=64m tmpfs /tmp
mount -t tmpfs -o size=64m tmpfs /dev/shm
ops=400 pace=4000 longer=1250

# fill DIR: not a byte more.
fill() {
	dd if=/dev/zero of="$1/filler" bs=4k 2>/dev/null || true
	! dd if=/dev/zero of="$1/filler2" bs=1 count=1 2>/dev/null || [ ! -s "$1/filler2" ] || fail "$1 is not full"
}

# wait_until_under_way STEM: both ranks' journals STEM-0.journal and STEM-1.journal have some calls.
wait_until_under_way() {
	local rank
	for rank in 0 1; do
		for _ in $(seq 400); do
			[ "$(od -An -t u8 -j 64 -N 8 "$1-$rank.journal" 2>/dev/null | tr -d ' ')" -gt 30 ] 2>/dev/null || {
				sleep 0.02
				continue
			}
			continue 2
		done
		fail "$1: rank $rank does not get going"
	done
}

# job WAY DIR: two ranks, in the current directory, in the background; WAY is plain or traced. Sets `pids`.
job() {
	local way=$1 dir=$2 rank
	mkdir "$work/$way"
	pids=()
	for rank in 0 1; do
		(
			exec 2>/dev/null
			export RANK=$rank WORLD_SIZE=2 COMMTRACE_JOB=e2e COMMTRACE_DIR=$dir
			[ "$way" = plain ] || export LD_PRELOAD=$library
			code=0
			timeout -k 5 240 "$gloo_job" --rank $rank --size 2 --store "$work/$way" --threads 2 --ops $ops \
				--pace-us $pace --journal "$work/$way-$rank.journal" \
				>"$work/$way.out.$rank" 2>"$work/$way.err.$rank" || code=$?
			echo "exit code $code" >>"$work/$way.out.$rank"
		) &
		pids+=($!)
	done
}

# compare DIR [MEDDLE]: the job with and without, and MEDDLE when both ranks of the one with it are under way; leaves the
# start line in $line and the directory that it names in $run.
compare() {
	local rank plain_pids
	[ $# = 1 ] || ops=$longer
	job plain "$1"
	plain_pids=("${pids[@]}")
	job traced "$1"
	if [ $# -gt 1 ]; then
		wait_until_under_way "$work/traced"
		sleep 0.3
		"$2"
		for rank in 0 1; do
			kill -0 "${pids[rank]}" || fail "rank $rank ended before it could be meddled with: a slow machine?"
		done
	fi
	wait "${pids[@]}" "${plain_pids[@]}"
	line=$(grep '^commtrace: recording to ' "$work/traced.err.0") || fail "no start line: $(cat "$work/traced.err.0")"
	sed -i '/^commtrace: recording to /d' "$work/traced.err.0"
	for rank in 0 1; do
		same "rank $rank: stdout and exit code" "$work/plain.out.$rank" "$work/traced.out.$rank"
		same "rank $rank: stderr" "$work/plain.err.$rank" "$work/traced.err.$rank"
	done
	[ "$(sed -E 's/checksum=.*/checksum/' "$work/plain.out.0")" = $'result checksum\nexit code 0' ] ||
		fail "the job itself failed"
	run=$(sed -E 's/.*commtrace report ([^;]*).*/\1/' <<<"$line")
	[ "$(wc -l <<<"$line")" = 1 ] || fail "more than one line: $line"
}

# whole OPTIONS PATH...: every call of both journals is in there.
whole() {
	local options=$1 path paths=()
	shift
	for path in "$@"; do paths+=(-r "$path"); done
	# shellcheck disable=SC2086
	timeout -k 5 240 "$e2e/check_journal" $options "${paths[@]}" "$work"/traced-[01].journal >"$work/said" 2>&1 ||
		fail "$(cat "$work/said")"
	sed 's/^check_journal: //' "$work/said"
	grep -q '^check_journal: 2 processes' "$work/said" || fail "not both ranks recorded"
}

# says REASON PATH...: `info` and `report` show the loss by its name.
says() {
	local reason=$1 command
	shift
	for command in info report; do
		timeout -k 5 240 "$commtrace" $command --format=json "$@" >"$work/$command" 2>"$work/$command.err" ||
			fail "$command: exit $?: $(cat "$work/$command.err")"
		tr -d ' \n' <"$work/$command" | grep -Eq "\"reason\":\"$reason\",\"records\":[1-9]" ||
			fail "$command does not tell $reason: $(tr -d ' \n' <"$work/$command" | grep -o '"dropped":[^]]*]')"
	done
	echo "said: $reason"
}

# loses_nothing PATH...
loses_nothing() {
	info_json "$1" | tr -d ' \n' | grep -q '"dropped":\[\]' || fail "dropped records are reported: $(info_json "$1" | grep -A 5 '"dropped"')"
}

# killed DIR [MEDDLE]: the same with ranks that are killed in the end.
killed() {
	local d=$work/killed driver
	mkdir -p "$d"
	traced 60 "$1" "$e2e/kill_ranks" --job "$gloo_job" --dir "$d" --apart --ranks 2 --under-way --from-ms 700 --to-ms 1500 \
		--seed "$seed" -- --threads 2 --ops 100000 --pace-us 2000 >"$d/out" 2>&1 &
	driver=$!
	if [ $# -gt 1 ]; then
		wait_until_under_way "$d/rank"
		"$2"
	fi
	wait $driver || fail "kill_ranks: $(cat "$d/out")"
}

# evidence RUN: of the killed ones.
evidence() {
	local d=$work/killed
	timeout -k 5 240 "$e2e/check_journal" -r "$1" "$d"/*.journal >"$work/said" 2>&1 || fail "$(cat "$work/said")"
	info_json "$1" >"$work/info.json" || fail "info: exit $?"
	timeout -k 5 240 "$e2e/check_ends" "$d/truth" "$1" "$work/info.json" >>"$work/said" 2>&1 || fail "$(cat "$work/said")"
	grep -q ' 2 kills' "$work/said" || fail "nothing recorded: $(cat "$work/said")"
	sed 's/^/killed: /' "$work/said"
}

# ------------------------------------------------------------------------------------------------------------ cases

small_shm() {
	mount -o remount,size=1m /dev/shm
	compare "$work/run"
	whole "" "$run"
	loses_nothing "$run"
	killed "$work/run2" ring_is_small
	evidence "$work/run2"
}
ring_is_small() {
	[ "$(find /dev/shm -name '*.ring' | wc -l)" -ge 1 ] || fail "no ring in /dev/shm"
	[ "$(df --output=avail -k /dev/shm | tail -n 1)" -ge 128 ] || fail "nothing is left for others in /dev/shm"
}

full_shm() {
	fill /dev/shm
	compare "$work/run"
	whole "" "$run"
	loses_nothing "$run"
	killed "$work/run2"
	evidence "$work/run2"
}

readonly_shm() {
	mount -o remount,ro /dev/shm
	compare "$work/run"
	whole "" "$run"
	loses_nothing "$run"
	killed "$work/run2"
	evidence "$work/run2"
}

no_room() {
	mount -o remount,ro /dev/shm
	fill /tmp
	compare "$work/run"
	grep -q 'would not survive a kill' <<<"$line" || fail "not in the start line: $line"
	whole "" "$run"
	says RING_PRIVATE "$run"
}

ring_removed() {
	compare "$work/run" remove_rings
	whole "" "$run"
	says RING_UNLINKED "$run"
}
remove_rings() {
	rm /dev/shm/commtrace.*.ring || fail "no ring"
}

# What was in the ring only is gone. What had been flushed is not, and someone says that the end is missing.
ring_removed_and_killed() {
	killed "$work/run" remove_rings
	timeout -k 5 240 "$e2e/check_journal" --cut -r "$work/run" "$work/killed"/*.journal >"$work/said" 2>&1 ||
		fail "$(cat "$work/said")"
	sed 's/^/killed: /' "$work/said"
	grep -q '^check_journal: 2 processes' "$work/said" || fail "not both ranks recorded"
	[ "$(($(word "$(cat "$work/said")" ' after the end') * 3))" -lt "$(word "$(cat "$work/said")" ' calls')" ] ||
		fail "too much is missing"
	info_json "$work/run" | tr -d ' \n' | grep -q '"reason":"RING_LOST"' || fail "info does not say it"
	echo "said: RING_LOST"
}

parent_is_file() {
	touch "$work/file"
	mkdir "$work/cwd" && cd "$work/cwd"
	compare "$work/file/run"
	grep -q "COMMTRACE_DIR $work/file/run cannot be used" <<<"$line" || fail "not in the start line: $line"
	[ "$run" = "$work/cwd/commtrace-e2e" ] || fail "it went to $run"
	whole "" "$run"
	timeout 240 "$commtrace" info "$run" | grep -q 'cannot be used' || fail "info does not repeat it"
}

readonly_dir() {
	mkdir "$work/run" "$work/cwd" && cd "$work/cwd"
	mount --bind "$work/run" "$work/run" && mount -o remount,bind,ro "$work/run"
	compare "$work/run"
	[ "$run" = "$work/cwd/commtrace-e2e" ] || fail "it went to $run"
	whole "" "$run"
	umount "$work/run"
}

no_dir_at_all() {
	mkdir "$work/cwd" && cd "$work/cwd"
	mount -o remount,ro /tmp
	mount --bind "$work/cwd" "$work/cwd" && mount -o remount,bind,ro "$work/cwd"
	cd "$work/cwd"
	compare "$work/cwd/run"
	grep -q 'no directory can be written' <<<"$line" || fail "not in the start line: $line"
	whole "" /dev/shm/*.ring
	says NO_DIR /dev/shm/*.ring
	cd "$work"
	umount "$work/cwd"
}

full_fs() {
	mkdir "$work/run"
	mount -t tmpfs -o size=1m tmpfs "$work/run"
	fill "$work/run"
	compare "$work/run"
	whole "" "$run"
	umount "$work/run"
}

# More than the ring can hold: the newest are kept, the others counted.
full_fs_overrun() {
	ops=30000 pace=0
	export COMMTRACE_RING_MB=1
	mkdir "$work/run"
	mount -t tmpfs -o size=1m tmpfs "$work/run"
	fill "$work/run"
	compare "$work/run"
	whole --allow-lost "$run"
	says WRITE_FAILED "$run"
	umount "$work/run"
}

full_for_a_while() {
	mkdir "$work/run"
	mount -t tmpfs -o size=8m tmpfs "$work/run"
	fill "$work/run"
	compare "$work/run" make_room
	whole "" "$run"
	loses_nothing "$run"
	timeout 240 "$commtrace" info "$run" | grep -q 'could not be written' || fail "info does not tell it"
	umount "$work/run"
}
# It is noticed soon, not at the end of the job.
make_room() {
	rm "$work/run"/filler*
	for _ in $(seq 40); do
		[ -z "$(find "$work/run" -name '*.seg' -size +2k)" ] || return 0
		sleep 0.05
	done
	fail "there is room again, and nothing is written"
}

renamed() {
	compare "$work/run" rename
	whole "" "$work/elsewhere"
	loses_nothing "$work/elsewhere"
	[ ! -e "$work/run" ] || fail "$work/run was made again"
}
rename() {
	mv "$work/run" "$work/elsewhere"
}

renamed_and_killed() {
	killed "$work/run" rename
	evidence "$work/elsewhere"
	# Whoever starts next does not know the new name, and leaves the rings where they are.
	job traced "$work/third"
	wait "${pids[@]}"
	evidence "$work/elsewhere"
}

# What was in there is gone, as its owner wanted; what comes later is not.
removed() {
	compare "$work/run" remove_run
	[ ! -e "$work/run" ] || fail "$work/run was made again"
	info_json /dev/shm/*.ring >"$work/info" 2>"$work/info.err" || fail "info: exit $?: $(cat "$work/info.err")"
	tr -d ' \n' <"$work/info" | grep -q '"reason":"MISSING_BLOCKS"' || fail "info does not say it: $(cat "$work/info")"
	[ "$(grep -c '"ring": *"present"' "$work/info")" = 2 ] || fail "not both rings: $(cat "$work/info")"
	echo "said: MISSING_BLOCKS"
}
remove_run() {
	rm -r "$work/run"
}

# Under the same name, and likely with the same inode: what was killed in the one before does not belong to it.
made_anew() {
	killed "$work/run"
	evidence "$work/run"
	rm -r "$work/run"
	mkdir "$work/run"
	compare "$work/run"
	whole "" "$run"
	[ "$(info_json "$run" | grep -c '"pid":')" = 2 ] || fail "strangers are in it: $(info_json "$run" | grep '"pid":')"
}

# A limit on the size of files is reported by a signal that would end the job.
file_size_limit() {
	ulimit -f 20000
	compare "$work/run"
	whole "" "$run"
	ulimit -f 100
	job_without_journal "$work/run3"
}
# The journal itself would be too large.
job_without_journal() {
	local rank pids=() code
	mkdir "$work/store"
	for rank in 0 1; do
		RANK=$rank WORLD_SIZE=2 COMMTRACE_JOB=e2e traced 60 "$1" "$gloo_job" --rank $rank --size 2 --store "$work/store" --ops 2000 \
			>"$work/limited.$rank" 2>&1 &
		pids+=($!)
	done
	for rank in 0 1; do
		code=0
		wait "${pids[rank]}" || code=$?
		[ $code = 0 ] || fail "rank $rank under a limit on the size of files: exit $code: $(cat "$work/limited.$rank")"
	done
	info_json "$1" >"$work/info.json" || fail "info: exit $?"
}

"$1"
echo "ok"
