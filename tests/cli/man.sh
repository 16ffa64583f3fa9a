#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/man/commtrace.1 tells of every command, every option and every setting.
root=$data/../../..
page=$root/docs/man/commtrace.1
sed 's/\\-/-/g; s/\\f[BIR]//g' "$page" >plain
sed -n 's/^CMD(\([a-z]*\),.*/\1/p' "$root/tools/commtrace/commands.def" | while read -r command; do
	grep -qE "^\.(B|BR) \"?$command" plain || echo "no command: $command"
	commtrace "$command" --help | sed "/^Example:/,\$d" | grep -oE '(^|[ ,])--[a-z-]+' | tr -d ' ,' | sort -u | while read -r option; do
		awk -v command="$command" '
			/^\.SH COMMANDS/ { in_commands = 1 }
			/^\.SH OPTIONS/ { in_commands = 0; mine = 1 }
			/^\.SH EXIT/ { mine = 0 }
			in_commands && $0 ~ "^\\.BR? \"?" "(run|preload|info|report|heatmap|merge|open|dump|import|hang|collect|doctor|version|help)" {
				mine = $0 ~ "^\\.BR? \"?" command "( |$|\")"
			}
			mine { print }
		' plain | grep -q -- "$option" || echo "no option of $command: $option"
	done
done
sed -n 's/^X(\([A-Z_]*\),.*/\1/p' "$root/trace/settings.def" | while read -r setting; do
	grep -q "^\.B COMMTRACE_$setting\$" plain || echo "no setting: $setting"
done
