#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every command of the list explains itself: on standard output, with its options and an example.
commtrace help | awk '/^  [a-z]+  / { print $1 }' | while read -r command; do
	commtrace "$command" --help >out 2>err || echo "$command: exit $?"
	[ ! -s err ] || cat err
	grep -q "^Usage: commtrace $command" out || echo "$command: no usage"
	grep -q -- '--help ' out || echo "$command: no options"
	grep -q '^Example:' out || echo "$command: no example"
	commtrace help "$command" | cmp - out
	echo "$command"
done
