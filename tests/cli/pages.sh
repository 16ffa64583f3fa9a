#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Manual pages, docs/reference/COMMANDS.md and completions hold what the program says of itself, and every option that is described is read.
root=$data/../../..
share=$build/share
page() { sed 's/\\-/-/g; s/\\f[BIR]//g; s/\\&//g; s/\\e/\\/g' "$share/man/man1/$1.1"; }
# complete_as LINE: what bash would offer at the end of it.
complete_as() {
	bash --norc -c '
		source "$1/bash-completion/completions/commtrace"
		IFS=" " read -ra COMP_WORDS <<<"${2//=/ = }"
		case $2 in *[\ =]) COMP_WORDS+=("") ;; esac
		[[ $2 == *= ]] && unset "COMP_WORDS[-1]"
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_commtrace
		printf "%s\n" "${COMPREPLY[@]}"' - "$share" "$1" 2>/dev/null
}
"$build/bin/commtrace-pages" markdown | diff "$root/docs/reference/COMMANDS.md" - ||
	echo "run commtrace-pages markdown >docs/reference/COMMANDS.md"
commtrace help | awk '/^  [a-z]+  / { print $1 }' >commands
[ "$(wc -l <commands)" = "$(grep -c '^COMMAND(' "$root/tools/commtrace/base/commands.def")" ] || echo "not every command is listed"
complete_as "commtrace " | cmp - commands
while read -r command; do
	page commtrace | grep -q "^\.BR commtrace-$command (1)" || echo "commtrace(1): no $command"
	commtrace "$command" --help >help
	grep -oE '^(  -[a-z], |      )--[a-z-]+' help | grep -oE -- '--[a-z-]+' | sort >options
	[ -s options ] || echo "no options: $command"
	page "commtrace-$command" >plain
	grep -oE '^(-[a-z], )?--[a-z-]+' plain | grep -oE -- '--[a-z-]+' | sort | cmp - options
	complete_as "commtrace $command --" | tr -d = | sort | cmp - options
	awk -v command="$command" '/^\t[a-z]+\) _arguments/ { mine = $1 == command ")" } mine' \
		"$share/zsh/site-functions/_commtrace" | grep -oE "[',]--[a-z-]+[=[}]" | tr -d "',=[}" | sort -u | cmp - options
	# A sentence of the help is one of the page.
	grep -qF "$(sed -n 2p help | cut -c -60)" <(tr '\n' ' ' <plain; sed 's/.* - \(.*\)/\1./' plain) || echo "no summary: $command"
done <commands
complete_as "commtrace report --format=" | tr '\n' ' '
complete_as "commtrace report --format=j" | tr '\n' ' '
complete_as "commtrace timeline run1 --flows=bl" | tr '\n' ' '
complete_as "commtrace help ver" | tr '\n' ' '
complete_as "commtrace rep"
# An option that no code reads would be accepted and do nothing.
sed -n 's/^OPTION(\([A-Z_]*\),.*/\1/p' "$root/tools/commtrace/base/options.def" | while read -r key; do
	grep -rqE "\bCT_OPTION_$key\b" --include="*.c" "$root/tools/commtrace" || echo "nothing reads $key"
done
sed -n 's/^X(\([A-Z_]*\),.*/\1/p' "$root/trace/settings.def" | while read -r setting; do
	page commtrace | grep -q "^\.B COMMTRACE_$setting\$" || echo "no setting: $setting"
done
for file in "$share"/man/man1/*.1; do
	! command -v groff >/dev/null || groff -man -Tutf8 -ww -z "$file" 2>&1
done
bash -n "$share/bash-completion/completions/commtrace"
! command -v zsh >/dev/null || zsh -n "$share/zsh/site-functions/_commtrace"
