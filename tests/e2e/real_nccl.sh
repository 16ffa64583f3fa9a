#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The real libnccl, without a GPU, called in one of the ways in which programs call it, with and without the preload: the
# same output and the same exit code; and what is wrapped is on record, with the unique id as it was given out.
#
# real_nccl.sh linked     a program that is linked with it
# real_nccl.sh local      a library that is linked with it, opened with RTLD_LOCAL
# real_nccl.sh look       dlopen and dlsym
# real_nccl.sh ctypes     Python's
# real_nccl.sh two         Python's, and a copy of the library at another path beside it
# real_nccl.sh shim       with another preload that wraps NCCL, before this one or behind it: a program that is linked with
#                         NCCL, one whose library is, and one that looks it up
. "$(dirname "$0")/e2e.sh"
way=$1
export CUDA_VISIBLE_DEVICES='' NCCL_SOCKET_IFNAME=lo COMMTRACE_QUIET=1
nccl=${CT_NCCL:?}

case $way in
linked | shim) job=("$e2e/real_nccl_linked" id) ;;
local) job=("$e2e/real_nccl" local id "$e2e/libreal_nccl_user.so") ;;
look) job=("$e2e/real_nccl" look id "$nccl") ;;
ctypes) job=("$python" "$(dirname "$0")/real_nccl.py" id "$nccl") ;;
two)
	# (no link: the loader shows files apart by their inodes)
	mkdir other
	cp --reflink=auto "$nccl" other/libnccl.so.2
	job=("$python" "$(dirname "$0")/real_nccl_two.py" id "$nccl" "$work/other/libnccl.so.2")
	;;
*) fail "$way?" ;;
esac

# run NAME SETTINGS...: the job, in a folder of its own.
run() {
	local d=$work/$1 code=0
	shift
	mkdir "$d"
	(cd "$d" && exec timeout -k 5 240 env COMMTRACE_DIR="$d/run" "$@" "${job[@]}") >"$d/out" 2>"$d/err" || code=$?
	echo "exit code $code" >>"$d/out"
}

# ncclUniqueId's hash, as NCCL computes it for its own log.
hash_of_id() {
	"$python" - "$1" <<-'EOF'
		import struct, sys
		mask = (1 << 64) - 1
		low, high = 1 ^ 128, 1
		for word in struct.unpack("<16Q", bytes.fromhex(open(sys.argv[1]).read())):
		    low = (low + high) & mask
		    high ^= low
		    low = ((low ^ low >> 31) * 0x9de62bbc8cef3ce3) & mask
		    high = ((high ^ high >> 32) * 0x485cd6311b599e79) & mask
		    low = (low + word) & mask
		h = ((low ^ low >> 31) * 0xbac3bd562846de6b + high) & mask
		print("%016x" % ((h ^ h >> 32) * 0x995a187a14e7b445 & mask))
	EOF
}

# recorded NAME: its calls are on record, each once, and no others; of groups, the outermost ends.
recorded() {
	local d=$work/$1 key
	key=$(hash_of_id "$d/id")
	sed "s/KEY/$key/" >"$d/expected" <<-'EOF'
		host ncclGetUniqueId 0 KEY 0 -1
		host ncclGroupEnd 0 0000000000000000 0 -1
		host ncclGroupEnd 0 0000000000000000 0 -1
		host ncclGroupEnd 5 0000000000000000 0 -1
		op ncclAllReduce 4 4 -1
		op ncclBcast 4 4 0
		op ncclSend 4 4 1
		op ncclRecv 4 4 1
		host ncclGroupEnd 4 0000000000000000 0 -1
		host ncclCommDestroy 0 0000000000000000 0 -1
		host ncclCommSplit 1 0000000000000000 0 -1
		host ncclCommInitRank 1 KEY 2 5
		host ncclCommInitRank 1 KEY 1 0
		host ncclCommInitRankConfig 1 KEY 1 0
		host ncclCommInitAll 1 ITS-OWN 1 -1
		host ncclGroupEnd 0 0000000000000000 0 -1
		host ncclGroupEnd 5 0000000000000000 0 -1
	EOF
	"$e2e/list_calls" "$d/run" >"$d/listed" || fail "$1: list_calls: exit $?"
	sed -E '/ncclCommInitAll/s/[0-9a-f]{16}/ITS-OWN/' "$d/listed" >"$d/recorded"
	same "$1: what is recorded" "$d/expected" "$d/recorded"
	timeout -k 5 240 "$commtrace" dump "$d/run" >"$d/dump" || fail "$1: commtrace dump: exit $?"
	[ "$(grep -c ncclAllReduce "$d/dump")" = 1 ] || fail "$1: commtrace dump does not show the call:"$'\n'"$(cat "$d/dump")"
	info_json "$d/run" >"$d/info" || fail "$1: commtrace info: exit $?"
}

run plain
if [ "$way" = two ]; then
	run traced LD_PRELOAD="$library"
	same "output" plain/out traced/out
	grep -q "which is none 5" plain/out || fail "the copies are one: $(cat plain/out)"
	{
		printf 'host ncclGetUniqueId 0 %s 0 -1\n' "$(hash_of_id traced/id1)" "$(hash_of_id traced/id2)"
		for _ in 1 2; do printf 'host ncclGroupEnd %d 0000000000000000 0 -1\n' 5 0 5; done
	} >expected
	"$e2e/list_calls" traced/run >recorded || fail "list_calls: exit $?"
	same "what is recorded" expected recorded
	echo "$(wc -l <recorded) calls of two copies"
	exit 0
fi
grep -q '^id 0 1$' plain/out || fail "the library does not work here: $(cat plain/out plain/err)"
if [ "$way" = shim ]; then
	shim=$e2e/libnccl_shim.so
	for who in linked needing; do
		job=("$e2e/real_nccl_$who" id)
		run alone-$who LD_PRELOAD="$shim" NCCL_SHIM_LOG=log
		run before-$who LD_PRELOAD="$shim:$library" NCCL_SHIM_LOG=log
		run behind-$who LD_PRELOAD="$library:$shim" NCCL_SHIM_LOG=log
		for at in {alone,before,behind}-$who; do
			same "$at: output" plain/out "$at/out"
			[ "$at" = "alone-$who" ] || recorded "$at"
			# Each call came by once, and the ids as they were given out.
			printf '%s\n' "id $(cat "$at/id")" allreduce "init $(cat "$at/id")" "init $(cat "$at/id")" >"$at/expected"
			# (ncclCommInitAll gets one for itself, by the same symbol)
			awk '/^id/ && n++ { next } { print }' "$at/log" >"$at/seen"
			same "$at: what the other preload saw" "$at/expected" "$at/seen"
		done
		# A tracer before a tracer: the one calls the other, and no one himself.
		cp "$library" other.so
		run both-$who LD_PRELOAD="$work/other.so:$library"
		same "both-$who: output" plain/out both-$who/out
	done
	# Who looks the functions up passes the other preload by; and calls that might end up in it stay unrecorded.
	job=("$e2e/real_nccl" look id "$nccl")
	run before-look LD_PRELOAD="$shim:$library" NCCL_SHIM_LOG=log
	run behind-look LD_PRELOAD="$library:$shim" NCCL_SHIM_LOG=log
	for at in {before,behind}-look; do
		same "$at: output" plain/out "$at/out"
		[ ! -e "$at/log" ] || fail "$at: the other preload was called: $(cat "$at/log")"
	done
	recorded before-look
else
	run traced LD_PRELOAD="$library"
	run off LD_PRELOAD="$library" COMMTRACE=0
	# Which settings it has no name for, as its constants show.
	# (a program so short may end before its libraries have been searched)
	for try in $(seq 20); do
		run "settings$try" LD_PRELOAD="$library" NCCL_NET=Socket NCCL_BUFFSIZE=4194304 NCCL_NE=1 NCCL_IB_MTU=5 NCCL_MAX_RINGS=4
		info_json "settings$try/run" >info
		! grep -q '"lib.nccl.unread"' info || break
	done
	strings -a "$nccl" >constants
	for name in NCCL_BUFFSIZE NCCL_IB_MTU NCCL_MAX_RINGS NCCL_NE NCCL_NET NCCL_SOCKET_IFNAME; do
		grep -qxF "$name" constants || echo "$name"
	done | sort | paste -sd, >expected
	"$python" -c '
import json
print(",".join(sorted(json.load(open("info"))["environment"]["same"]["lib.nccl.unread"].split(","))))' >unread
	same "settings that are not read" expected unread
	# What misspelt ones are compared with.
	if grep -q "NCCL version 2[.]28[.]9" constants; then
		sed -nE 's/^KNOWN\("(.*)"\)$/NCCL_\1/p' "$CT_ROOT/analyzer/environment/nccl_names.def" | sort >names
		grep -xFf names constants | sort -u >known
		same "names of settings" names known
		[ "$(wc -l <names)" -gt 150 ] || fail "few names of settings"
	fi
	same "output" plain/out traced/out
	same "output with COMMTRACE=0" plain/out off/out
	recorded traced
	[ ! -e off/run ] || fail "COMMTRACE=0 records"
fi
echo "$(wc -l <plain/out) lines of output, the same with and without"
