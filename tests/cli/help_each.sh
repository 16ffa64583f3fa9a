#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every command of the list explains itself: on standard output, with its options and an example.
commtrace help | awk '/^  [a-z]+  / { print $1 }' | while read -r command; do
	commtrace "$command" --help >out 2>err || echo "$command: exit $?"
	[ ! -s err ] || cat err
	grep -q "^Usage: commtrace $command" out || echo "$command: no usage"
	grep -q -- '--help ' out || echo "$command: no options"
	grep -q '^Examples:' out || echo "$command: no example"
	commtrace "$command" -h | cmp - out
	awk -v command="$command" 'length > 80 && !/^  commtrace/ { print command ": longer than 80 columns: " $0 }' out
	commtrace help "$command" | cmp - out
	echo "$command"
done
