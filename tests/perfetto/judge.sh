#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# judge.sh TRACE TUPLES [ARROWS]: does Perfetto's own engine see in TRACE exactly what TUPLES says is in it? Most mistakes in
# such a file pass without an error: slices get wrong durations, or are not there. Says what differs, exit 1.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
trace=$1 tuples=$2 arrows=${3:-}
engine=$("$here/fetch.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What the engine counts as an error, and what it only mentions although something was dropped.
stats="select name, severity, value from stats where value != 0 and (severity in ('error', 'data_loss') or name in (
	'interned_data_tokenizer_errors', 'packet_skipped_seq_needs_incremental_state_invalid',
	'track_hierarchy_missing_uuid', 'track_event_parser_errors', 'track_event_missing_sequence_id',
	'track_event_counter_invalid_track_uuid', 'misplaced_end_event'))"
paths="with recursive path(id, path) as (select id, name from track where parent_id is null
	union all select t.id, p.path || ' > ' || t.name from track t join path p on t.parent_id = p.id)"
slices="$paths select ts, dur, depth, path, s.name from slice s left join path p on p.id = s.track_id"
counters="$paths select ts, printf('%.6f', value), 'counter', path from counter c left join path p on p.id = c.track_id"
flows="select count(*) from flow"

# Optimizing the engine takes longer than loading a small file into it.
quick=
[ "$(stat -c %s "$trace")" -gt 2000000 ] || quick=--liftoff-only
# shellcheck disable=SC2086
node $quick "$here/tp.mjs" "$engine" "$trace" "$stats" "$flows" "$slices" "$counters" >"$work/out"
# Four answers, a line -- after each.
awk -v dir="$work" 'BEGIN { n = split("stats flows slices counters", name, " "); i = 1 }
	/^--$/ { i++; next } { print >(dir "/" name[i]) }' "$work/out"
touch "$work"/{stats,flows,slices,counters}

failed=0
if [ -s "$work/stats" ]; then
	echo "$trace: the engine complains:"
	cat "$work/stats"
	failed=1
fi
sort "$tuples" >"$work/want"
cat "$work/slices" "$work/counters" | sort >"$work/got"
if [ ! -s "$work/want" ] || ! cmp -s "$work/want" "$work/got"; then
	echo "$trace: $(wc -l <"$work/want") slices and values are meant, $(wc -l <"$work/got") are seen; < meant, > seen:"
	diff "$work/want" "$work/got" | head -n 20
	failed=1
fi
if [ -n "$arrows" ] && [ "$(cat "$work/flows")" != "$arrows" ]; then
	echo "$trace: $arrows arrows are meant, $(cat "$work/flows") are seen"
	failed=1
fi
exit $failed
