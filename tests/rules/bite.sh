#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A rule that cannot fail proves nothing: each one keeps quiet about a small tree that is in order, and speaks up once
# that tree is broken once.
. "$(dirname "$0")/rule.sh"
rules=$root/tests/rules
# in memory, where there is such a place: the tree is made anew for each break, and a disk takes 15 times the CPU time for that
tree=$(mktemp -d /dev/shm/commtrace-bite.XXXXXX 2>/dev/null) || tree=$(mktemp -d)
seed=$(mktemp -d)
trap 'rm -rf "$tree" "$seed" "$seed.judged"' EXIT
export GIT_CEILING_DIRECTORIES=$tree GIT_DIR=$tree/none
licence='/* SPDX-License-Identifier: Apache-2.0 */'

# compile [FLAGS...]: the library of the small tree.
compile() {
	mkdir -p build/lib build/interpose build/trace
	cc -O0 -fPIC -fvisibility=hidden -I . -c interpose/guard.c -o build/interpose/guard.c.o
	cc -shared -Wl,--no-as-needed "$@" build/interpose/guard.c.o -o build/lib/libcommtrace.so
	rm -f build/lib/libct_guard.a
	ar rcs build/lib/libct_guard.a build/interpose/guard.c.o
}

# guard_of FILE: the include guard of a header.
guard_of() {
	printf 'CT_%s' "$(tr 'a-z/.' 'A-Z__' <<<"$1")"
}

# header FILE: an empty one.
header() {
	printf '%s\n#ifndef %s\n#define %s\n#endif\n' "$licence" "$(guard_of "$1")" "$(guard_of "$1")" >"$1"
}

# every_room: a header, or the file that the row names, in each room of the table of this project.
every_room() {
	local room file
	mkdir -p tests/rules
	cp "$rules/rooms.txt" tests/rules/
	for room in $(rooms); do
		file=$room
		[[ $room == *.[ch] ]] || file=$room/room.h
		mkdir -p "$(dirname "$file")"
		case $file in
		*.h) header "$file" ;;
		*) printf '%s\n' "$licence" >"$file" ;;
		esac
	done
}

# rooms: their names.
rooms() {
	sed -nE 's/^([^#: ]+):.*/\1/p' "$rules/rooms.txt"
}

# object FILE: compiled.
object() {
	mkdir -p "build/$(dirname "$1")"
	cc -w -O0 -fPIC -fvisibility=hidden -I . -c "$1" -o "build/$1.o"
}

# job_folders: those of the code that runs inside of a job.
job_folders() {
	(cd "$root" && sources '^(interpose|interpose/.*|trace)/[^/]*[.]c$' | sed 's,/[^/]*$,,' | sort -u)
}

# every_object: one of each of these folders.
every_object() {
	local folder
	for folder in $(job_folders); do
		mkdir -p "$folder"
		printf '%s\nint %s_room;\n' "$licence" "${folder//\//_}" >"$folder/room.c"
		object "$folder/room.c"
	done
}

# A tree in which all is well, from scratch; plant() makes the tree that.
sow() {
	cd "$tree"
	mkdir -p trace interpose/abi interpose/gloo analyzer tools/commtrace tools/workload tools/sim/job examples docs/dev/algorithms docs/reference
	for table in kinds ops losses dtypes redops port_counters; do
		printf '%s\nX(ONE, 1)\nX(TWO, 2)\n' "$licence" >trace/$table.def
		printf '## The ids of `%s.def`\n| id | name |\n|---|---|\n| 1 | `ONE` |\n| 2 | `TWO` |\n' $table
	done >docs/dev/TRACE_FORMAT.md
	printf '## Header: `struct ct_head`\n| offset | size | field |\n|---|---|---|\n| 0 | 4 | `a` |\n| 4 | 4 | `b` |\n' >>docs/dev/TRACE_FORMAT.md
	printf '%s\nX(DIR, STR, "", "directory")\n' "$licence" >trace/settings.def
	echo '| `COMMTRACE_DIR` | str |  | directory |' >docs/reference/ENVIRONMENT.md
	mkdir -p tools/metrics
	printf '%s\nRANK(UP, "up", gauge, "rank", "of a rank")\n' "$licence" >tools/metrics/metrics.def
	echo '| `commtrace_up` | gauge | rank | of a rank |' >docs/reference/METRICS.md
	cat >trace/format.h <<-EOF
	$licence
	#ifndef $(guard_of trace/format.h)
	#define $(guard_of trace/format.h)
	struct ct_head { int a, b; };
	_Static_assert(sizeof(struct ct_head) == 8, "head");
	#endif
	EOF
	cp trace/format.h trace/ring_read.h
	sed -i "s/CT_TRACE_FORMAT_H/CT_TRACE_RING_READ_H/; /ct_head/d" trace/ring_read.h
	printf '%s\n#include "trace/format.h"\nchar *strdup(const char *); void abort(void); int getcpu(unsigned *, unsigned *); double sin(double);\n' "$licence" >interpose/guard.c
	echo '__attribute__((visibility("default"))) int wrapped(void) { return 0; }' >>interpose/guard.c
	echo '__attribute__((visibility("default"))) int ncclSend(void) { return 0; }' >>interpose/guard.c
	echo '__attribute__((visibility("default"))) int MPI_Send(void) { return 0; }' >>interpose/guard.c
	echo '__attribute__((visibility("default"))) int PMPI_Send(void) { return 0; }' >>interpose/guard.c
	printf '%s\nMPI_CALL_HAND(Send, (int to), (to))\n' "$licence" >interpose/abi/mpi_calls.def
	printf '%s\nMPI_SKIP("is a query", Comm_rank *_f2c)\n' "$licence" >interpose/abi/mpi_skip.def
	mkdir -p build
	echo 'int MPI_Send(int to); int MPI_Comm_rank(void); int MPI_Comm_f2c(int c);' >build/mpi.h
	printf '%s\nGLOO_CALL("wrapped", barrier, int)\n' "$licence" >interpose/gloo/gloo_calls.def
	cat >interpose/abi/nccl_calls.def <<-EOF
	$licence
	NCCL_CALL("ncclSend", ncclSend, 2703, Send,
	  (int to), (to), to)
	NCCL_SKIP(int, ncclCommCount, 2000, (void), "a query")
	NCCL_SKIP(int, ncclLater, 29902, (void), "a query")
	NCCL_SKIP_DEVICE(ncclTeamWorld, "computes")
	EOF
	nccl ncclSend pncclSend ncclCommCount ncclTeamWorld
	mkdir -p tests/interpose
	printf '%s\nstatic void sends_are_sent(void **state)\n{\n}\n\ncmocka_unit_test(sends_are_sent)\n' "$licence" >tests/interpose/test_nccl.c
	printf '## Functions\n`ncclSend`\n## Cases\n| case | what |\n|---|---|\n| a send | sent |\n' >docs/reference/NCCL.md
	mkdir -p tests/mpi
	echo 'ct_mpi_test(NAME mpi.kinds COMMAND kinds.sh)' >tests/mpi/CMakeLists.txt
	printf '## Functions\n`MPI_Send` \n## Communicators\n| case | what |\n|---|---|\n| a copy | known |\n' >docs/reference/MPI.md
	printf 'Collectives; `barrier`. Their\n| case | what |\n|---|---|\n| all | well |\n' >docs/reference/GLOO.md
	mkdir -p tests/e2e
	printf '#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n' >tests/e2e/all.sh
	for file in interpose/abi/nccl.h analyzer/match.h tools/workload/walk.h; do
		header $file
	done
	for file in tools/workload/walk.c tools/sim/job/simjob.c; do
		printf '%s\n#include "tools/workload/walk.h"\n#include "trace/ops.def"\n' "$licence" >$file
	done
	printf '%s\n#include "interpose/abi/nccl.h"\n' "$licence" >tools/sim/event.c
	printf '%s\nint find(void) { return ct_finding_evidence(list, f, "one", 1, "ns", 0) || ct_order_evidence(k, a ? "two" : "more", "", 1); }\n' "$licence" >analyzer/find.c
	printf '## Evidence\n| name | unit | of | what |\n|---|---|---|---|\n| `one` | ns | X | it |\n| `two`, `more` | | X | they |\n' >docs/dev/algorithms/evidence.md
	mkdir -p analyzer/model analyzer/base
	printf '%s\n#ifndef CT_ANALYZER_BASE_LIMITS_H\n#define CT_ANALYZER_BASE_LIMITS_H\n/* Of steps: with fewer a mean says nothing */\n#define CT_SHARE 0.1\n#endif\n' "$licence" >analyzer/base/limits.h
	printf '%s\n#ifndef CT_ANALYZER_MODEL_FINDING_H\n#define CT_ANALYZER_MODEL_FINDING_H\n#define CT_VERDICT_MAP(XX) \\\n\tXX(GOOD, 1) \\\n\tXX(BAD, 2)\n#define CT_FINDING_MAP(XX) \\\n\tXX(ONE, 0, "One") \\\n\tXX(TWO, 0, "Two")\n#endif\n' "$licence" >analyzer/model/finding.h
	printf '## Verdicts\n| verdict | meaning |\n|---|---|\n| GOOD | well |\n| BAD | not |\n## Findings\n### ONE, TWO\n' >docs/reference/FINDINGS.md
	printf '1 ring: keep the tail\n1 tools/sim, trace: say %068d\n0 test.sh: begin\n' 0 | cut -c 1-74 >commits
	every_room
	cp "$rules/words.txt" tests/rules/
	printf '%s\t%s\t%s\n' NCCL 'a send' test_nccl:sends_are_sent GLOO all 'all.sh mpi.kinds' MPI 'a copy' mpi.kinds >tests/rules/cases.txt
	every_object
	compile
}

plant() {
	rm -rf "${tree:?}"/*
	cp -r "$seed"/. "$tree"/
}

# nccl FUNCTIONS...: a libnccl that has them, and a header that has the first.
nccl() {
	local name
	mkdir -p build
	echo "int $1(void);" >build/nccl.h
	{
		echo 'const char *version(void); const char *version(void) { return "NCCL version 2.28.9+cuda13.0"; }'
		for name in "$@"; do
			echo "int $name(void); int $name(void) { return 0; }"
		done
	} >build/nccl.c
	cc -shared -fPIC build/nccl.c -o build/libnccl.so.2
}
sow
cp -r "$tree"/. "$seed"/
export CT_COMMITS=$tree/commits
export CT_MPI_HEADERS=$tree/build/mpi.h:$tree/build/mpi.h
export CT_NCCL=$tree/build/libnccl.so.2 CT_NCCL_INCLUDE=$tree/build

# script RULE: its script, with its argument.
script() {
	case $1 in
	*.py\ *) echo "$1" ;;
	*) echo "$1.sh" ;;
	esac
}

# quiet RULE [COMMAND]: it has nothing to say about the tree as planted, or as it is after the command, but how much that is.
quiet() {
	plant
	eval "${2:-}"
	if ! said=$(CT_ROOT=$tree CT_BUILD=$tree/build "$rules"/$(script "$1") 2>"$seed.judged") || [ -n "$said" ]; then
		echo "$1: speaks up although all is well: $said"
		exit 1
	fi
	grep -qE '^judged [1-9][0-9]* ' "$seed.judged" || { echo "$1: does not say how much it has judged"; exit 1; }
}

# bites RULE BREAKAGE: a shell command, run in the tree.
bites() {
	plant
	eval "$2"
	if said=$(CT_ROOT=$tree CT_BUILD=$tree/build "$rules"/$(script "$1") 2>/dev/null) || [ -z "$said" ]; then
		echo "$1: keeps quiet about: $2"
		exit 1
	fi
}

# include FILE PATH
include() {
	echo "#include \"$2\"" >>"$1"
}

for rule in arrows style constants no_paths words format_doc settings_doc metrics_doc findings_doc evidence_doc nccl_table nccl_doc gloo_doc mpi_table mpi_doc cases_doc exports symbols glibc_versions needed banned commits; do
	quiet $rule
done
long='one two three four five six seven eight nine ten'
quiet 'sentences.py pages' "echo '$long. $long $long.' >README.md"

bites arrows 'include trace/format.h analyzer/match.h'
bites arrows 'include interpose/guard.c trace/ring_read.h'
bites arrows 'include interpose/guard.c analyzer/match.h'
bites arrows 'include interpose/abi/nccl.h trace/format.h'
bites arrows 'include analyzer/match.h interpose/abi/nccl.h'
bites arrows 'include tools/commtrace/main.c interpose/abi/nccl.h'
bites arrows 'include examples/job.c trace/format.h'
bites arrows 'include tools/workload/walk.h interpose/abi/nccl.h'
bites arrows 'include tools/workload/walk.h trace/format.h'
bites arrows 'include tools/sim/event.c trace/ops.def'
bites arrows 'include tools/sim/event.c interpose/guard.c'
bites arrows 'include tools/sim/job/simjob.c trace/format.h'
bites arrows 'include interpose/guard.c tools/workload/walk.h'
bites arrows 'include analyzer/match.h tools/workload/walk.h'
bites arrows 'include interpose/guard.c format.h'
bites arrows 'echo "#include <trace/format.h>" >>analyzer/match.h'
bites arrows 'mkdir trace/utils && touch trace/utils/a.c'
bites arrows 'touch trace/misc.h'
bites arrows 'rm tests/rules/rooms.txt'
bites arrows 'find . -name "*.[ch]" -o -name "*.def" | xargs rm'

# Each room, by a header of one of its top-level folder that its row does not have; a row may have them all.
for room in $(rooms); do
	file=$room
	[[ $room == *.[ch] ]] || file=$room/room.h
	for other in $(rooms); do
		[[ $other != *.[ch] && $other != "$room" && ${other%%/*} == "${room%%/*}" ]] || continue
		grep -qE "^$room:(.* )?$other( |\$)" "$rules/rooms.txt" && continue
		bites arrows "include $file $other/room.h"
		break
	done
done
bites arrows 'mkdir interpose/new && cp interpose/abi/nccl_calls.def interpose/new/'
bites arrows 'mkdir tools/commtrace/new && header tools/commtrace/new/a.h'
bites arrows 'echo "interpose/gone:" >>tests/rules/rooms.txt'
bites arrows 'echo "interpose/abi:" >>tests/rules/rooms.txt'
bites arrows 'echo "interpose/abi interpose" >>tests/rules/rooms.txt'
bites arrows 'sed -i "s|^interpose/python:.*|& interpose/gone|" tests/rules/rooms.txt'
bites arrows 'sed -i "s|^interpose/python:.*|& interpose/stacks|" tests/rules/rooms.txt'
bites arrows 'cp interpose/gpu/room.h interpose/gpu/b.h; include interpose/gpu/room.c interpose/gpu/b.h; include interpose/gpu/b.c interpose/gpu/room.h'
bites arrows 'for ab in "a b" "b c" "c a"; do include interpose/gpu/${ab% *}.h interpose/gpu/${ab#* }.h; done'

bites style 'echo "int x; // T""ODO" >>interpose/guard.c'
bites style 'echo "int f(_Atomic int *x) { return atomic_load(x); }" >>interpose/guard.c'
bites style 'echo >interpose/real.c'
bites style 'echo >tools/run.sh'
bites style 'echo >tools/page.js'
bites style 'sed -i "/#define/d" trace/format.h'
bites style 'mv trace/format.h trace/segment.h'
bites style 'mv analyzer/match.h analyzer/load.h'
bites style 'echo "static int take(void);" >>interpose/guard.c'
bites style 'echo "struct ring { int x; };" >>interpose/guard.c; echo "struct ring { int y; };" >>trace/format.h'
# Each folder of this project.
for folder in $(cd "$root" && sources '/.*[.](c|cc|h|def|S|py|sh|awk|js|css)$' | sed 's,/[^/]*$,,' | sort -u); do
	bites style "mkdir -p $folder && echo 'int x;' >$folder/x.c"
done

bites constants 'echo "#define FEW 16u" >>analyzer/find.c'
bites constants 'printf "/* With fewer nothing is known */\n#define FEW 16u\n" >>analyzer/find.c'
quiet constants 'printf "/* size: words of the list */\n#define MOST 16u\n#define REST 8u\n" >>analyzer/find.c'
bites constants 'printf "/* size: words of the list */\n#define MOST 16u\n\n#define REST 8u\n" >>analyzer/find.c'
quiet constants 'echo "#define WIDTH 16u" >>analyzer/render/room.h'
bites constants 'echo "#define CT_LEAST 0.5" >>analyzer/base/limits.h'
bites constants 'for i in $(seq 150); do printf "/* Reason */\n#define CT_LEAST_%d 7\n" $i; done >>analyzer/base/limits.h'
quiet constants 'for i in $(seq 150); do printf "/* Reason */\n#define CT_LEAST_%d (1 - CT_SHARE)\n" $i; done >>analyzer/base/limits.h'
bites constants 'for i in $(seq 61); do printf "/* Reason */\n#define CT_LEAST_%d 7\n" $i; echo "int a = CT_LEAST_$i;" >>analyzer/lateness/room.h; done >>analyzer/base/limits.h'
bites constants 'echo "int f(double x) { return x > 0.3; }" >>analyzer/find.c'
quiet constants 'echo "int f(double x) { return x > 0.5 * 1e9; /* 0.3 */ }" >>analyzer/find.c'
bites constants 'rm analyzer/base/limits.h'
bites constants 'rm -r trace/r* interpose tools/commtrace'
# Those of the job and the command say why; there tuning constants have no table, formats and interfaces are facts.
for room in trace interpose/mpi tools/commtrace; do
	bites constants "echo '#define FEW 16u' >>$room/room.c"
	bites constants "echo '#define FEW (2 * OTHER)' >>$room/room.c"
	bites constants "echo '#define FEW 16u /* words of the list */' >>$room/room.c"
	bites constants "echo '#define FEW 16u /* size: words */' >>$room/room.c"
	bites constants "echo 'enum { FEW = 16 };' >>$room/room.c"
	bites constants "printf 'enum {\n\tNONE = 0,\n\tFEW_MAX = 16\n};\n' >>$room/room.c"
	quiet constants "echo '#define FEW 16u /* tuning: with fewer it fails */' >>$room/room.c"
	quiet constants "echo '#define FEW (sizeof(few) / sizeof(few[0]))' >>$room/room.c"
	quiet constants "printf 'enum { NONE = 0, SOME = 1 };\nenum { FEW = ROOMS + 1 };\n' >>$room/room.c"
done
quiet constants 'echo "#define FEW 16u" | tee -a trace/format.h >>interpose/abi/nccl.h'
bites constants 'echo "#define FEW 16u /* tuning: with fewer it fails */" >>analyzer/find.c'

bites words 'echo "Nothing is told: a rank that died is no hang." >README.md'
bites words 'echo "int is_told;" >>interpose/guard.c'
bites words 'echo "int n_places;" >>interpose/guard.c'
bites words 'echo "int place_of_rank(void);" >>interpose/guard.c'
bites words 'echo "/* counted in a second" >>interpose/abi/nccl.h; echo " * place */" >>interpose/abi/nccl.h'
bites words 'echo "Every rank marks at the same place." >README.md'
quiet words 'echo "int is_in_place; /* MPI_IN_PLACE, in-place and out-of-place */" >>interpose/guard.c'
bites words 'echo "A rank that died is no" >README.md; echo "hang." >>README.md'
bites words 'echo "/* What nobody knows. */" >>interpose/abi/nccl.h'
bites words 'printf "/*\n * Of what\n * nobody knows: what\n * nobody knows.\n */\n" >>interpose/abi/nccl.h'
bites words 'echo "# it waits in vain" >>tests/e2e/all.sh'
bites words 'echo "# nobody waits for it" >>tests/e2e/all.sh'
bites words 'echo "/* which cannot be told apart */" >>interpose/abi/nccl.h'
bites words 'echo "const char *s = \"it keeps \"" >>analyzer/find.c; echo "\"others waiting\";" >>analyzer/find.c'
bites words 'printf "/*\n * A.\n */\nconst char *s = \"it holds against it\";\n" >>analyzer/find.c'
bites words 'mkdir -p analyzer/render && echo "<p>and goes on</p>" >analyzer/render/page.html'
bites words 'printf "doc,prose\tx y\tz\n" >>tests/rules/words.txt'
bites words 'rm tests/rules/words.txt'

bites 'sentences.py pages' "echo '$long $long' >README.md; echo '$long.' >>README.md"
bites 'sentences.py pages' "rm -r docs; echo '$long $long.' >README.md"
bites 'sentences.py pages' 'find . -name "*.md" -delete'
bites 'sentences.py findings' "mkdir -p analyzer/findings; echo 'const char *s = \"$long \"' >analyzer/findings/a.c; echo '\"$long %s \" PRIu32 \" $long\";' >>analyzer/findings/a.c"
bites 'sentences.py findings' 'rm -rf analyzer/findings'
# code and tables of findings, in which all is well
findings='mkdir -p analyzer/findings; echo "const char *s = \"late\";" >analyzer/findings/a.c; echo "X(A, \"late to calls\")" >analyzer/findings/a.def; '
quiet 'sentences.py tables' "$findings"
quiet 'sentences.py tables' "$findings"'echo "/* \"late to calls\" */ f(\"%s at most %u {who}\", \"one_key_of_it\");" >>analyzer/findings/a.c'
bites 'sentences.py tables' "$findings"'echo "const char *s = \"late to \"" >>analyzer/findings/a.c; echo "\"calls %s\";" >>analyzer/findings/a.c'
bites 'sentences.py tables' "$findings"'echo "#define LATE \"late to calls\"" >>analyzer/findings/a.c'
bites 'sentences.py tables' "$findings"'echo "X(B, \"late to calls\")" >>analyzer/findings/a.def'
bites 'sentences.py tables' "$findings"'rm analyzer/findings/a.c'
bites 'sentences.py tables' "$findings"'rm analyzer/findings/a.def'

bites no_paths 'echo "see /w""ork/main" >README.md'
bites no_paths 'echo "cd /r""oot" >README.md'
bites no_paths 'echo "from https"://packages.example.org/x >README.md'
bites no_paths 'echo "pip install --index""-url x" >README.md'
bites no_paths 'echo "/* as gone.c does */" >>interpose/abi/nccl.h'
bites no_paths 'echo "see elsewhere/facts.""md, section 3" >README.md'

bites format_doc 'rm docs/dev/TRACE_FORMAT.md'
bites format_doc 'echo "X(THREE, 3)" >>trace/kinds.def'
bites format_doc 'sed -i "s/X(ONE, 1)/X(ONE, 1, SLOT, OPERATION, 1)/" trace/kinds.def'
bites format_doc 'sed -i "s/X(TWO, 2)/X(TWO, 3)/" trace/losses.def'
bites format_doc 'sed -i "s/| 4 | 4 | .b. |/| 4 | 2 | \`b\` |/" docs/dev/TRACE_FORMAT.md'
bites format_doc 'sed -i "/| .b. |/d" docs/dev/TRACE_FORMAT.md'
bites format_doc 'sed -i "s/int a, b/int b, a/" trace/format.h'
bites format_doc 'sed -i "s/struct ct_head/struct ct_tail/" docs/dev/TRACE_FORMAT.md'

bites metrics_doc 'sed -i "s/of a rank/of two/" tools/metrics/metrics.def'
bites metrics_doc 'sed -i "s/gauge, \"rank\"/counter, \"rank\"/" tools/metrics/metrics.def'
bites metrics_doc 'echo "| \`commtrace_gone\` | gauge | rank | gone |" >>docs/reference/METRICS.md'
bites settings_doc 'sed -i "s/DIR/DIRS/" trace/settings.def'
bites settings_doc 'sed -i "s/STR, \"\"/STR, \"x\"/" trace/settings.def'
bites settings_doc 'echo "| \`COMMTRACE_X\` | str |  | gone |" >>docs/reference/ENVIRONMENT.md'

bites findings_doc 'sed -i "s/^### ONE, TWO/### ONE, THREE/" docs/reference/FINDINGS.md'
bites findings_doc 'sed -i "/^| GOOD/d" docs/reference/FINDINGS.md'
bites findings_doc 'rm analyzer/model/finding.h'
bites evidence_doc 'sed -i "s/\"one\"/\"three\"/" analyzer/find.c'
bites evidence_doc 'echo "| \`gone\` | ns | X | no |" >>docs/dev/algorithms/evidence.md'
bites evidence_doc 'rm analyzer/find.c'

nccl_calls=interpose/abi/nccl_calls.def
bites nccl_table "sed -i s/ncclCommCount/ncclCommCounts/ $nccl_calls"
bites nccl_table "sed -i /ncclTeamWorld/d $nccl_calls"
bites nccl_table "sed -i /ncclLater/p $nccl_calls"
bites nccl_table "sed -i 's/29902/22809/' $nccl_calls"
bites nccl_table "sed -i 's/\"a query\"/\"\"/' $nccl_calls"
bites nccl_table 'nccl ncclSend ncclCommCount ncclTeamWorld ncclNew'
bites nccl_table 'nccl ncclSend ncclCommCount ncclTeamWorld pncclNew'
bites nccl_table 'nccl ncclSend ncclTeamWorld'
bites nccl_table 'echo "int ncclNew(void);" >>build/nccl.h'
bites nccl_table 'nccl other'
bites nccl_table 'rm build/libnccl.so.2'

bites mpi_table 'echo "int MPI_New(void);" >>build/mpi.h'
bites mpi_table 'echo "int MPI_Comm_rank_c(void); int MPI_New_f2cc(void);" >>build/mpi.h'
bites mpi_table 'sed -i "s/is a query//" interpose/abi/mpi_skip.def'
bites mpi_table 'sed -i "s/Comm_rank/Comm_rank Comm_rank/" interpose/abi/mpi_skip.def'
bites mpi_table 'sed -i "s/Comm_rank/Comm_rank Send/" interpose/abi/mpi_skip.def'
bites mpi_table 'rm interpose/abi/mpi_skip.def'
bites mpi_table 'echo >build/mpi.h'

bites mpi_doc 'rm docs/reference/MPI.md'
bites mpi_doc 'sed -i "s/.MPI_Send. //" docs/reference/MPI.md'
bites mpi_doc 'sed -i "s/.MPI_Send./& \`MPI_Sent\`/" docs/reference/MPI.md'
bites mpi_doc 'echo "MPI_CALL_HAND(New, (int to), (to))" >>interpose/abi/mpi_calls.def'

bites nccl_doc 'rm docs/reference/NCCL.md'
bites nccl_doc 'sed -i s/ncclSend/ncclSent/ docs/reference/NCCL.md'
bites nccl_doc 'sed -i "s/.ncclSend./& \`ncclSent\`/" docs/reference/NCCL.md'
bites nccl_doc "sed -i 's/ ncclSend,/ ncclSent,/' $nccl_calls"
quiet nccl_doc 'sed -i "s/.ncclSend./& \`ncclTeamWorld\`/" docs/reference/NCCL.md'

bites gloo_doc 'rm docs/reference/GLOO.md'
bites gloo_doc 'sed -i "s/ .barrier.//" docs/reference/GLOO.md'
bites gloo_doc 'sed -i "s/.barrier./& \`gather\`/" docs/reference/GLOO.md'

bites cases_doc 'rm tests/rules/cases.txt'
bites cases_doc 'rm docs/reference/MPI.md'
bites cases_doc 'sed -i s/sends_are_sent/sends_are_lost/ tests/rules/cases.txt'
bites cases_doc 'sed -i "s/unit_test(sends_are_sent/unit_test(sends_are_lost/" tests/interpose/test_nccl.c'
bites cases_doc 'rm tests/interpose/test_nccl.c'
bites cases_doc 'rm tests/e2e/all.sh'
bites cases_doc 'sed -i s/mpi.kinds/mpi.kind/ tests/mpi/CMakeLists.txt'
bites cases_doc 'sed -i "s/test_nccl:.*//" tests/rules/cases.txt'
bites cases_doc 'sed -i "/^MPI/d" tests/rules/cases.txt'
bites cases_doc 'echo "| a receive | is well |" >>docs/reference/NCCL.md'
bites cases_doc 'sed -i "/a copy/d" docs/reference/MPI.md'

bites exports 'sed -i "s/ncclSend(void)/ncclSent(void)/" interpose/guard.c && compile'
bites exports 'sed -i s/wrapped/renamed/ interpose/guard.c && compile'
bites exports 'echo "__attribute__((visibility(\"default\"))) int more;" >>interpose/guard.c && compile'
bites exports 'rm build/lib/libcommtrace.so'

bites symbols 'sed s/ncclSend/ncclReceive/ interpose/guard.c >interpose/twice.c && cc -w -I . -c interpose/twice.c -o build/twice.o && ar rs build/lib/libct_guard.a build/twice.o'
bites symbols 'rm build/lib/libct_guard.a'

# getcpu() is younger than the oldest glibc that the library must load with.
bites glibc_versions 'echo "int f(void); int f(void) { return getcpu(0, 0); }" >>interpose/guard.c && compile'

bites needed 'compile -lm'
bites needed 'compile -Wl,-rpath,lib'
bites needed 'compile -Wl,-z,execstack'
bites needed 'echo "__thread char big[65] __attribute__((tls_model(\"initial-exec\"))); char *f(void); char *f(void) { return big; }" >>interpose/guard.c && compile'

bites commits 'echo "2 ring: keep the tail" >>commits'
bites commits 'echo "1 Ring: keep the tail" >>commits'
bites commits 'echo "1 keep the tail" >>commits'
bites commits 'echo "1 ring:keep the tail" >>commits'
bites commits 'echo "1 ring: " >>commits'
bites commits 'echo "1 ring, : keep the tail" >>commits'
bites commits 'printf "1 ring: %067d\n" 0 >>commits'
bites commits '>commits'

bites banned 'echo "char *f(void); char *f(void) { return strdup(\"\"); }" >>interpose/guard.c && compile'
bites banned 'echo "void f(void); void f(void) { abort(); }" >>interpose/guard.c && compile'
bites banned 'echo "void *dlsym(void *, char *); void *f(void); void *f(void) { return dlsym(0, \"f\"); }" >>interpose/guard.c && compile'
bites banned 'echo "void f(void); void f(void) { char *p = alloca(9); (void)p; }" >>interpose/guard.c'
bites banned 'rm -r build/interpose'
bites banned 'rm -r build/interpose build/trace'
spoiled='char *strdup(const char *); char *f(void); char *f(void) { return strdup(""); }'
for folder in $(job_folders); do
	bites banned "echo '$spoiled' >>$folder/room.c && object $folder/room.c"
	bites banned "rm build/$folder/*.o"
done
# The write thread may call this, and no more; a row that nothing needs goes.
allowed='void *realloc(void *, unsigned long); void free(void *); void f(void *p); void f(void *p) { free(realloc(p, 9)); }'
spoil="echo '$allowed' >>interpose/output.c && object interpose/output.c"
quiet banned "$spoil"
bites banned "$spoil && sed -i 's/free(realloc(p, 9))/realloc(p, 9)/' interpose/output.c && object interpose/output.c"
bites banned "$spoil && echo '$spoiled' | sed 's/f(/g(/g' >>interpose/output.c && object interpose/output.c"
