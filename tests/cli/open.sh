#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A timeline on its way to the browser: who gets it, and when that ends; and each way in which there is none.
root=$data/../../..
export root
commtrace import jsonl "$data/four_ranks.jsonl" -o run1 >/dev/null
commtrace timeline run1 -o run1.pftrace >/dev/null
mkdir bin
cat >bin/xdg-open <<'END'
#!/bin/sh
echo "$1" >opened
address=${1#*url=}
python3 -c 'import sys, urllib.parse, urllib.request
urllib.request.urlopen(urllib.parse.unquote(sys.argv[1])).read()' "${address%%&*}"
END
chmod +x bin/xdg-open
python3 "$data/open.py" run1 run1.pftrace

port=$(python3 "$root/tools/free_port.py")
try() {
	printf '$ commtrace open %s\n' "$*" >&2
	commtrace open "$@" --port "$port" || echo "exit $?" >&2
}
echo '{}' >no.pftrace
: >empty.pftrace
mkdir dir.pftrace empty
mkfifo pipe.pftrace
try
try missing
try missing.pftrace
try no.pftrace
try empty.pftrace
try dir.pftrace
try pipe.pftrace
try empty
try run1 run1.pftrace
try run1 --port 0
try run1 --idle 0
TMPDIR=/proc try run1
ls "$TMPDIR"
