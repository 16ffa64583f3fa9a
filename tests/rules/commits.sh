#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Commits from a fixed point on: a subject reads `area: what changes` with a lower-case area, in at most 72 columns, and no
# commit is a merge. A shallow clone may lack the point; there all commits that it has are judged. CT_COMMITS names a file to
# judge instead of the history: per commit the number of its parents, a blank, and the subject.
. "$(dirname "$0")/rule.sh"
since=7ea7285716dd3dda98e3bdb7dfa09eb2c1248598

commits() {
	if [ -n "${CT_COMMITS:-}" ]; then
		cat "$CT_COMMITS"
		return
	fi
	local range=HEAD
	if git merge-base --is-ancestor $since HEAD 2>/dev/null; then
		range=$since..HEAD
	fi
	git log --format='%p%x09%s' $range | awk -F '\t' '{ print split($1, parents, " "), substr($0, length($1) + 2) }'
}

mapfile -t lines < <(commits)
judged commits "${#lines[@]}"

LC_ALL=C.UTF-8 # columns are characters
area='[a-z][a-z0-9_.]*([/-][a-z0-9_.]+)*'
shape="^$area(, $area)*: [^ ]"
for line in "${lines[@]}"; do
	subject=${line#* }
	[ "${line%% *}" -lt 2 ] || printf 'a merge: %s\n' "$subject"
	[ ${#subject} -le 72 ] || printf '%d columns: %s\n' ${#subject} "$subject"
	[[ $subject =~ $shape ]] || printf 'not "area: what changes": %s\n' "$subject"
done | verdict "commits"
