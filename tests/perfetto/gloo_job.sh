#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A recorded job with threads, messages and collectives, and one of which a process died in the middle, in Perfetto's own engine.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir rings
export COMMTRACE_RING_DIR=$work/rings

# record RUN OPTION...: two ranks; the options are rank 1's.
record() {
	local run=$1
	shift
	mkdir store
	printf 'RANK=%d WORLD_SIZE=2 "$CT_GLOO_JOB" --rank %d --size 2 --threads 3 --store store --ops 40 --timeout-s 3 %s &\n' 0 0 '' 1 1 "$*" >job
	echo wait >>job
	"$CT_BUILD/bin/commtrace" run -q -o "$run" -- bash job >/dev/null 2>&1
	rm -r store
}
record ended
record died --end abort --end-at 20
"$here/check.sh" ended died
