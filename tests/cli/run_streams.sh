#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Standard input, output and error are the program's, byte for byte; its environment gets what it needs and ours is
# left alone.
head -c 300000 /dev/urandom >in
commtrace run -q -- cat <in | cmp - in
commtrace run -q -- sh -c 'cat >&2' <in 2>&1 >/dev/null | cmp - in
commtrace run -q -o r --set FLUSH=1s --set COMMTRACE_RING_MB=2 --job 'a/b' -- env | grep -E '^(COMMTRACE|LD_)' |
	sed "s|$PWD|DIR|; s|$build|BUILD|; s|=.*/rings|=RINGS|" | sort
LD_PRELOAD='' commtrace run -q -o r -- sh -c 'echo "${LD_PRELOAD##*/}"'
LD_PRELOAD=libc.so.6 commtrace run -q -o r -- sh -c 'echo "${LD_PRELOAD##*/lib/}"'
commtrace run -q -- sh -c 'echo one; exec >&-; exit 3'
echo "exit $?"
commtrace run -q -- readlink /proc/self/fd/1 >&-
echo "exit $?"
[ "$(commtrace preload)" = "$(cd "$build/lib" && pwd -P)/libcommtrace.so" ] || commtrace preload
