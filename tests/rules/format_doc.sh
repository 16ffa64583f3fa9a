#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/dev/TRACE_FORMAT.md is the norm and the code follows it: the same ids, the same structs.
#   Under a heading that names `kinds.def` (ops, losses, dtypes, redops, port_counters, columns likewise): rows `| id | NAME | ...`, as many
#   as the table has.
#   Under a heading that names `struct ct_x`: rows `| offset | size | field | ...` from offset 0, without a gap, up to
#   the size of the struct. Every struct whose size format.h asserts has such a heading.
. "$(dirname "$0")/rule.sh"
doc=docs/dev/TRACE_FORMAT.md
need $doc

# Backquotes are markup here, not part of a name.
rows_under() {
	awk -F ' *[|] *' -v heading="$1" '
		/^#/ { on = $0 ~ "(^|[^a-z_])" heading "([^a-z_]|$)" }
		on && $2 ~ /^[0-9]+$/ { gsub(/`/, ""); print $2, $3, $4, $5 }
	' $doc
}

for table in kinds ops losses dtypes redops port_counters columns; do
	differ <(sed -nE 's/^X\(([A-Za-z0-9_]+), *([0-9]+).*/\2 \1/p' "trace/$table.def" | sort -n) \
		<(rows_under "$table.def" | cut -d ' ' -f 1,2 | sort -n) |
		awk -v t="$table.def" '/^</ { print "only in " t ": " $2, $3 } /^>/ { print "only in the document: " $2, $3 }'
done | verdict "$doc and the tables differ"

differ <(sed -nE 's/^X\((\w+), ([0-9]+), (\w+), (\w+), .*/\2 \1 \3 \4/p' trace/kinds.def | sort -n) \
	<(rows_under kinds.def | awk 'NF >= 4 { print $1, $2, $3, $4 }' | sort -n) |
	verdict "$doc and kinds.def differ in where or about"

# The fields of records that have columns: "flags, waiter SAME; after AFTER", in order.
differ <(awk -F '[(), ]+' '
	/^RECORD/ { kind = $2; row = ""; coding = "" }
	/^FIELD/ { row = row (coding == "" ? "" : coding == $5 ? ", " : " " coding "; ") $3; coding = $5 }
	/^END/ { print kind ": " row " " coding }' trace/rare_fields.def | sort) \
	<(awk -F ' *[|] *' '/^### .*rare_fields.def/ { on = 1; next } /^#/ { on = 0 }
		on && $2 ~ /^[A-Z]/ { n = split($2, kinds, ", "); for (i = 1; i <= n; i++) print kinds[i] ": " $3 }' $doc | sort) |
	verdict "$doc and trace/rare_fields.def differ"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
structs=$(sed -nE 's/^_Static_assert\(sizeof\(struct (ct_[a-z_]+)\).*/\1/p' trace/format*.h)
judged "structs" "$(wc -w <<<"$structs")"
{
	printf '#include <stddef.h>\n#include "trace/format.h"\n'
	for struct in $structs; do
		rows_under "struct $struct" | awk -v s="struct $struct" '
			{
				sub(/\[.*/, "", $3) # an array is named with or without its length
				printf "_Static_assert(offsetof(%s, %s) == %d, \"%s %s: offset\");\n", s, $3, $1, s, $3
				printf "_Static_assert(sizeof(((%s *)0)->%s) == %d, \"%s %s: size\");\n", s, $3, $2, s, $3
				if ($1 != end)
					printf "_Static_assert(0, \"%s %s: a gap before it\");\n", s, $3
				end = $1 + $2
			}
			END { printf "_Static_assert(sizeof(%s) == %d, \"%s: all of it is in the document\");\n", s, end, s }
		'
	done
} >"$work/doc.c"
{ "${CC:-cc}" -std=gnu11 -I . -fsyntax-only "$work/doc.c" 2>&1 || [ $? = 1 ]; } |
	sed -nE 's/.*static assertion failed: //p; /error:/{/static assertion/!p}' |
	verdict "$doc and trace/format*.h differ"
