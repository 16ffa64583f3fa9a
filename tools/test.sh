#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test.sh — everything that is checked before a change goes in. The main run comes last, so that the closing lines
# are those of ctest over the whole suite.
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

# shellcheck disable=SC2086
packages $BUILD_PACKAGES $DEMO_PACKAGES $TEST_PACKAGES

say "format"
git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format-14 --dry-run -Werror ||
	die "clang-format-14 -i would change the lines above"

say "gcc, release"
tree release

say "clang, without its sanitizers"
tree clang

say "address and undefined behaviour sanitizers: unit, cli and fuzz tests"
tree asan
labelled asan '^(unit|cli|fuzz)$'

say "thread sanitizer: the tests that have threads"
tree tsan
labelled tsan '^tsan$'

say "all tests of the release build"
# Many of them wait for what a job does: one more than there are cores.
exec ctest --preset release -j $((jobs + 1)) --no-tests=error
