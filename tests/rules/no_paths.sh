#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Nothing in the tree depends on, or shows, the machine it was written on: no paths, no package hosts.
. "$(dirname "$0")/rule.sh"

mapfile -t files < <(sources .)
judged "files" "${#files[@]}"

# The brackets keep this file from breaking its own rule.
look() {
	grep -I "$@" "${files[@]}" || [ $? = 1 ] # 1: nothing found
}

look -nE '(^|[^A-Za-z0-9_.])/([w]ork|[r]oot)(/|[^A-Za-z0-9_/]|$)|/[h]ome/[a-z]|[.]py[e]nv' | verdict "paths of a build machine"

# Hosts that a document may link to; whatever else is fetched comes from the system's own package manager.
known='no-color[.]org|www[.]apache[.]org|ui[.]perfetto[.]dev|github[.]com|docs[.]kernel[.]org|www[.]w3[.]org|llvm[.]org|127[.]0[.]0[.]1|example[.]org'
look -onE '(https?|ftp)://[^][ )>"]*' |
	awk -v known="://($known)([/:,.;]|\$)" '{ host = $0; sub(/^.*:\/\//, "://", host) } host !~ known' |
	verdict "hosts that are not on the list of this rule"
look -nE -e '--index[-]url|PIP_IN[D]EX|sources[.]l[i]st|https?_pr[o]xy' |
	verdict "settings of a package source"

# A page that is named is a page of this tree, whose root a script may call $root (nccl-tests has one of its own).
look -noE '(nccl-tests )?[A-Za-z0-9_./-]+[.]md([^A-Za-z0-9_]|$)' | awk -F : '$3 !~ /^nccl-tests/ { sub(/[^A-Za-z0-9_]$/, "", $3); sub(/^root\//, "", $3); print $1, $2, $3 }' |
	while read -r file line page; do
		[ -e "$page" ] || [ -e "docs/$page" ] || [ -e "$(dirname "$file")/$page" ] || printf '%s:%s: %s\n' "$file" "$line" "$page"
	done | verdict "pages that are not in this tree"

# A source file that a comment names is a file of this tree (others' headers are listed).
others='cuda_runtime_api|pmix_common|pthread'
mapfile -t code < <(sources '[.](c|h|def)$')
{ grep -HnE '^(/\*|[[:space:]]+\*|[[:space:]]*/\*).*[a-z0-9_]+[.](c|h|def)' "${code[@]}" || [ $? = 1 ]; } |
	awk -v others="^($others)[.]h\$" '{
		split($0, at, ":"); text = substr($0, length(at[1] at[2]) + 3)
		while (match(text, /(^|[^A-Za-z0-9_.\/<*-])[a-z][a-z0-9_]+[.](c|h|def)([^A-Za-z0-9_(]|$)/)) {
			name = substr(text, RSTART, RLENGTH); text = substr(text, RSTART + RLENGTH)
			gsub(/[^a-z0-9_.]|[.]$/, "", name); sub(/[.]$/, "", name)
			if (name !~ others) print at[1] ":" at[2], name
		}
	}' | awk 'NR == FNR { sub(/.*\//, ""); is[$0] = 1; next } !($2 in is) { print $1 ": " $2 }' <(sources '.') - | sort -u |
	verdict "files that comments name and that are not in this tree"
