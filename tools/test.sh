#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test.sh — everything that is checked before a change goes in. The tests of the release build wait more than they compute, so
# the other trees are built, and what computes in them is run, beneath them. The closing lines are those of ctest over the whole suite.
set -eu
cd "$(dirname "$0")/.."
. tools/steps.sh

jobs=$(nproc)

# tree PRESET: configures and builds it.
tree() {
	quietly "$1-configure" cmake --preset "$1"
	quietly "$1-build" cmake --build --preset "$1"
}

# labelled PRESET REGEX: runs the tests that carry such a label.
labelled() {
	quietly "$1-test" ctest --preset "$1" -j "$jobs" -L "$2" --no-tests=error
}

# once NAME COMMAND...: unless it has succeeded in this run.
once() {
	[ ! -e "$LOGS/$1.done" ] || return 0
	once=$1
	shift
	"$@"
	touch "$LOGS/$once.done"
}

# What waits for nothing, and nothing in it for time to pass.
others() {
	once asan-tree tree asan
	once tsan-tree tree tsan
	once asan-tests labelled asan '^(unit|cli|fuzz)$'
}

# In idle processor time, so that the tests wait no longer for it.
if [ "${1-}" = beneath ]; then
	chrt -i -p 0 $$ || renice -n 19 -p $$ || :
	others
	exit
fi

# shellcheck disable=SC2086
packages $BUILD_PACKAGES $DEMO_PACKAGES $TEST_PACKAGES

say "format"
git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format-14 --dry-run -Werror ||
	die "clang-format-14 -i would change the lines above"

say "gcc, release"
tree release

# A session of its own: it is ended as a whole.
rm -f "$LOGS"/*.done
setsid tools/test.sh beneath >/dev/null 2>&1 &
beneath=$!
trap 'kill -- "-$beneath" 2>/dev/null || :' EXIT
trap 'exit 1' HUP INT TERM

say "all tests of the release build; beneath them, clang builds the trees of its sanitizers"
# Many of them wait for what a job does: one more than there are cores.
again=
ctest --preset release -j $((jobs + 1)) --no-tests=error --output-log "$LOGS/release-test.log" || again=1

# What was not done or has failed in idle time is done now, and decides.
kill -- "-$beneath" 2>/dev/null || :
wait "$beneath" 2>/dev/null || :
for _ in $(seq 50); do # compilers are ended by then, and half of a file taken away
	kill -0 -- "-$beneath" 2>/dev/null || break
	sleep 0.1
done
trap - EXIT HUP INT TERM
say "address and undefined behaviour sanitizers: unit, cli and fuzz tests"
others
grep 'tests passed' "$LOGS/asan-test.log"

say "thread sanitizer: the tests that have threads"
labelled tsan '^tsan$'
grep 'tests passed' "$LOGS/tsan-test.log"

say "all tests of the release build, as said above"
sed -n '/% tests passed/,$p' "$LOGS/release-test.log"
[ -n "$again" ] || exit 0

# One that passes now failed because of what ran beside it. That is a bug, too, and named here, but hides no other one.
say "those that failed, alone"
ctest --preset release --rerun-failed --no-tests=error
say "failed beside other tests, passed alone: see $LOGS/release-test.log"
