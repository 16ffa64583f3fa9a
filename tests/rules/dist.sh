#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tarball works for someone who has nothing: another user, an empty environment, an empty directory.
. "$(dirname "$0")/rule.sh"

rm -rf "$build/packages"
cmake --build "$build" --target dist >/dev/null
tarball=$(find "$build/packages" -maxdepth 1 -name 'commtrace-*-linux-*.tar.gz')
need "$tarball"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/empty"
tar -C "$work" -xzf "$tarball"
cd "$work"/commtrace-*/
judged "files of the tarball" "$(find . -type f | wc -l)"
commtrace=$PWD/bin/commtrace

# as_nobody COMMAND...: without rights where there are some to give up.
as_nobody() {
	local drop=()
	if [ "$(id -u)" = 0 ]; then
		chown nobody "$work/empty"
		drop=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
	fi
	(cd "$work/empty" && "${drop[@]}" env -i "$@")
}

for program in bin/*; do
	if readelf --wide -l "$program" | awk '/INTERP/ { found = 1 } END { exit !found }'; then
		echo "$program needs a loader; it must be static"
		exit 1
	fi
done

library=$(as_nobody "$commtrace" preload)
[ "$library" = "$PWD/lib/libcommtrace.so" ] || { echo "commtrace preload printed '$library'"; exit 1; }
as_nobody LD_PRELOAD="$library" /bin/true

"$commtrace" import jsonl "$root/tests/cli/data/four_ranks.jsonl" -o "$work/run" >/dev/null
chmod 755 "$work/run"
chmod 644 "$work"/run/*
as_nobody "$commtrace" report "$work/run" >"$work/report"
awk '/[Rr]ank/ { found = 1 } END { exit !found }' "$work/report" || { echo "no rank in the report:"; cat "$work/report"; exit 1; }
[ -z "$(ls -A "$work/empty")" ] || { echo "left behind: $(ls -A "$work/empty")"; exit 1; }

# What is installed is just that: nothing of the simulator, no static libraries.
installed=$(find bin include lib share -type f -not -path 'share/doc/*' | sort | tr '\n' ' ')
expected="bin/commtrace "
[ ! -e "$build/bin/commtrace-stacks" ] || expected="${expected}bin/commtrace-stacks "
expected="${expected}include/commtrace.h lib/libcommtrace.so lib/python3/dist-packages/commtrace.py share/bash-completion/completions/commtrace"
for profile in 235b 7b general hardware; do
	expected="$expected share/commtrace/profiles/$profile.json"
done
for command in $("$commtrace" help | awk '/^  [a-z]+  / { print $1 }' | sort); do
	expected="$expected share/man/man1/commtrace-$command.1"
done
expected="$expected share/man/man1/commtrace.1 share/zsh/site-functions/_commtrace "
[ "$installed" = "$expected" ] || { echo "in the tarball: $installed"; exit 1; }
