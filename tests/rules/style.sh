#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a reader relies on in every source file: the licence line, header guards of their own, nothing left undone.
. "$(dirname "$0")/rule.sh"

mapfile -t all < <(sources '[.](c|cc|h|def|S|py|sh|cmake|md)$|CMakeLists.txt$')
[ ${#all[@]} -gt 0 ] || exit 0

# The brackets keep this file from breaking its own rule.
awk '/(^|[^A-Za-z_])(T[O]DO|F[I]XME|X[X]X)([^A-Za-z_]|$)/ { printf "%s:%d: %s\n", FILENAME, FNR, $0 }' "${all[@]}" |
	verdict "left undone"

for file in "${all[@]}"; do
	case $file in
	*.c | *.h | *.cc | *.def | *.S)
		head -n 1 "$file" | awk -v f="$file" '!/^(\/\*|\/\/) SPDX-License-Identifier: Apache-2.0/ { print f }'
		;;
	*.sh | *.py)
		head -n 3 "$file" | awk -v f="$file" '/^# SPDX-License-Identifier: Apache-2.0$/ { ok = 1 } END { if (!ok) print f }'
		;;
	esac
done | verdict "no SPDX line at the top"

sources '[.]h$' | while read -r file; do
	awk -v f="$file" '
		/^#/ && ++n == 1 { if ($1 == "#ifndef" && $2 ~ /^CT_[A-Z0-9_]+_H$/) guard = $2 }
		/^#/ && n == 2 { n++; if ($1 == "#define" && $2 == guard) ok = 1 }
		END { print (ok ? guard : "NONE"), f }
	' "$file"
done | awk '
	$1 == "NONE" { print $2 ": no #ifndef CT_..._H, #define CT_..._H at the top"; next }
	$1 in seen { print $2 ": has the guard of " seen[$1] }
	{ seen[$1] = $2 }
' | verdict "header guards"
