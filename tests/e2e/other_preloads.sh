#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# Programs that dlsym matters to, with and without the preload: the same output, words on stderr and exit code. With an
# allocator preloaded before and behind this one, under sanitizers (lookup_*) and valgrind, and shells, perl, git, python.
. "$(dirname "$0")/e2e.sh"
compared=0

# run AS PRELOADS COMMAND...
run() {
	local as=$1 preloads=$2 code=0
	shift 2
	mkdir -p "$work/here"
	(cd "$work/here" && exec timeout -k 5 240 env ${preloads:+LD_PRELOAD="$preloads"} "$@" </dev/null) \
		>"$as.out" 2>"$as.err" || code=$?
	echo "exit code $code" >>"$as.out"
}

# both NAME COMMAND...: alone, and beside an allocator on either side.
both() {
	local name=$1 shim=$e2e/libmalloc_shim.so
	shift
	run plain "" "$@"
	run traced "$library" "$@"
	same "$name: stdout" plain.out traced.out
	same "$name: stderr" plain.err traced.err
	[ "${beside:-1}" = 1 ] || return 0
	run plain "$shim" "$@"
	run before "$shim:$library" "$@"
	run behind "$library:$shim" "$@"
	for order in before behind; do
		same "$name, an allocator $order: stdout" plain.out $order.out
		same "$name, an allocator $order: stderr" plain.err $order.err
	done
	grep -q 'malloc_shim was called' plain.err || fail "$name: the allocator is not in use: $(cat plain.err)"
	compared=$((compared + 1))
}

both "lookup" "$e2e/lookup"
both "inert threads" "$e2e/inert" threads
both "exceptions" "$e2e/throwing"
both bash bash -c 'for i in 1 2 3; do (exit $i) & wait $!; echo $?; done; printf -v x "%05d" 7; echo $x $(ls / | wc -l)'
! command -v perl >/dev/null || both perl perl -e 'use POSIX; use Data::Dumper;
print Dumper([map { $_ ** 2 } 1..5]), POSIX::floor(3.7), "\n"; exit 3'
! command -v git >/dev/null || both git bash -c 'export HOME=$PWD; rm -rf g; git init -q g && cd g &&
	git -c user.name=a -c user.email=a@b commit -q --allow-empty -m m && git log --format=%s'
both python "$python" -c 'import ctypes, decimal, hashlib, json, subprocess, sys
c = ctypes.CDLL(None)
print(c.abs(-5), hasattr(c, "ncclAllReduce"), hasattr(c, "no_such_function"), hashlib.sha256(b"x").hexdigest())
print(subprocess.run(["sh", "-c", "exit 3"]).returncode)
sys.exit(4)'
# A sanitizer wants to be the only allocator, and says so if its library is not the first.
beside=0
export ASAN_OPTIONS=verify_asan_link_order=0
for sanitized in "$e2e"/lookup_*; do
	[ ! -x "$sanitized" ] || both "${sanitized##*/}" "$sanitized"
done
! command -v valgrind >/dev/null || both valgrind valgrind -q --error-exitcode=9 "$e2e/lookup"
echo "$compared programs, the same with and without"
