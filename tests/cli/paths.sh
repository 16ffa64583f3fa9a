#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Directories whose names mean something to a terminal or to a shell: nothing of them reaches a terminal as it is, and the commands
# that are suggested for them can be pasted.
commtrace import jsonl "$data/four_ranks.jsonl" -o run1 >/dev/null

# plain COMMAND...: what it says has no control characters but the ends of lines, neither C0's nor C1's.
plain() {
	"$@" >said 2>&1 || [ $? = 3 ] || echo "$*: exit $?"
	! grep -aqP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' said || echo "$*: control characters"
}

names=('my run' "it's \$(touch hit) \`touch hit\`" -rf $'e\e[31mred\e]0;title\a' $'c1\xc2\x9b1m')
for name in "${names[@]}"; do
	cp -r -- run1 "$name"
	plain commtrace hang -- "$name"
	plain commtrace timeline -o "run.pftrace" --force -- "$name"
	plain commtrace info -- "$name"
	plain commtrace report -- "$name"
	# the first of the suggested commands, as a shell runs it
	sed -n 's/; commtrace report .*//; s/^next *//p' said | tee next
	bash next | head -n 1
done
[ ! -e hit ] || echo "a name was executed"
