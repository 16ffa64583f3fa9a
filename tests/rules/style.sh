#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a reader relies on in every source file: the licence line, header guards of their own, memory orders,
# nothing left undone, a tag for one thing only.
. "$(dirname "$0")/rule.sh"

mapfile -t all < <(sources '[.](c|cc|h|def|S|py|sh|cmake|md)$|CMakeLists.txt$')
judged "files" "${#all[@]}"

# The brackets keep this file from breaking its own rule.
awk '/(^|[^A-Za-z_])(T[O]DO|F[I]XME|X[X]X)([^A-Za-z_]|$)/ { printf "%s:%d: %s\n", FILENAME, FNR, $0 }' "${all[@]}" |
	verdict "left undone"

# A memory order that is not written down cannot be judged.
mapfile -t shared < <(sources '^(interpose|trace)/.*[.](c|h|def)$')
awk '/(^|[^A-Za-z_])atomic_(load|store|exchange|compare_exchange_(strong|weak)|fetch_(add|sub|or|and|xor))\(/ { printf "%s:%d: %s\n", FILENAME, FNR, $0 }' "${shared[@]}" |
	verdict "atomic operations without a memory order"

mapfile -t code < <(sources '[.](c|cc|h|def|S)$')
mapfile -t scripts < <(sources '[.](sh|py|awk)$')
mapfile -t pages < <(sources '[.](js|mjs|css|html)$')
mapfile -t headers < <(sources '[.]h$')
{
	# A script has its #! first.
	awk 'FNR == 1 && /^(\/\*|\/\/) SPDX-License-Identifier: Apache-2.0/ { ok[FILENAME] = 1 }
		END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in ok)) print ARGV[i] }' "${code[@]}"
	awk 'FNR <= 2 && /^# SPDX-License-Identifier: Apache-2.0$/ { ok[FILENAME] = 1 }
		END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in ok)) print ARGV[i] }' "${scripts[@]}"
	# A page has its doctype first, a program its #!.
	awk 'FNR <= 2 && /SPDX-License-Identifier: Apache-2.0/ { ok[FILENAME] = 1 }
		END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in ok)) print ARGV[i] }' "${pages[@]}"
} </dev/null | verdict "no SPDX line at the top"

# A guard is CT_ and the path: it moves with the file, and no two files share one.
awk '
	FNR == 1 {
		n = 0
		want = FILENAME
		gsub(/[\/.]/, "_", want)
		want = "CT_" toupper(want)
	}
	/^#/ && ++n == 1 { asked = $1 == "#ifndef" && $2 == want ? $2 : "" }
	/^#/ && n == 2 && $1 == "#define" && $2 == asked { ok[FILENAME] = 1 }
	END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in ok)) print ARGV[i] ": no #ifndef, #define CT_ and its path at the top" }
' "${headers[@]}" </dev/null | verdict "header guards"

# A tag means one thing: whoever searches for it finds one definition.
mapfile -t product < <(sources '^(include|interpose|trace|analyzer|tools)/.*[.][ch]$')
awk '
	!/^ ?[\/*]/ && match($0, /(^|[ \t(])(struct|union|enum) [a-z0-9_]+ [{]/) {
		tag = substr($0, RSTART, RLENGTH - 2)
		sub(/^[ \t(]/, "", tag)
		if (tag in at) printf "%s:%d: %s, which %s defines\n", FILENAME, FNR, tag, at[tag]
		else at[tag] = FILENAME
	}
' "${product[@]}" </dev/null | verdict "tags that mean two things"

# A function says what it takes, begins, judges or looks at.
awk '/^static .*[ *](begin|take|judge|look)[(]/ { printf "%s:%d: %s\n", FILENAME, FNR, $0 }' "${product[@]}" |
	verdict "functions named by a verb alone"
