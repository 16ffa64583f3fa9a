#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test.sh — everything that is checked before a change goes in. The tests of the release build wait more than they compute, so
# the other trees are built beneath them. The closing lines are those of ctest over the whole suite.
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
	grep 'tests passed' "$LOGS/$1-test.log"
}

trees() {
	for preset in asan tsan clang; do
		tree "$preset"
	done
}

# In the time of the processors that nobody else wants: what the tests wait for comes no later for it.
if [ "${1-}" = beneath ]; then
	chrt -i -p 0 $$ 2>/dev/null || renice -n 19 -p $$ >/dev/null || :
	trees
	touch "$LOGS/trees-built"
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
rm -f "$LOGS/trees-built"
setsid tools/test.sh beneath 2>/dev/null &
beneath=$!
trap 'kill -- "-$beneath" 2>/dev/null || :' EXIT
trap 'exit 1' HUP INT TERM

say "all tests of the release build; beneath them, clang builds the trees of its sanitizers and one without"
# Many of them wait for what a job does: one more than there are cores.
failed=0
ctest --preset release -j $((jobs + 1)) --no-tests=error --output-log "$LOGS/release-test.log" || failed=1

# Where others want all the time there is, it goes on as one of them.
if [ ! -e "$LOGS/trees-built" ]; then
	kill -- "-$beneath" 2>/dev/null || :
	wait "$beneath" || :
	trees
fi
trap - EXIT

say "address and undefined behaviour sanitizers: unit, cli and fuzz tests"
labelled asan '^(unit|cli|fuzz)$'

say "thread sanitizer: the tests that have threads"
labelled tsan '^tsan$'

say "all tests of the release build, as said above"
sed -n '/% tests passed/,$p' "$LOGS/release-test.log"
exit "$failed"
