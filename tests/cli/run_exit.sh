#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The exit status is the program's; with nothing recorded that is said.
try() {
	printf '$ run %s\n' "$*" >&2
	commtrace run "$@"
	echo "exit $?" >&2
}
try -o r -- true
try -o r -- false
try -o r -- sh -c 'kill -9 $$'
try -q -o r -- sh -c 'exit 42'
try -q -o r -- sh -c 'kill -TERM $$'
try -o r -- no-such-program
touch script
try -o r -- ./script
try -o no/r -- true
try -o script -- true
COMMTRACE=0 try -o r -- true
try -q sh -c 'echo "$1"' sh --help
ls
