#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# format.js writes numbers as analyzer/base/units.c does, to the digit: C writes many values and their texts, node compares.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$CT_FORMAT_LINES" | node "$here/format_same.mjs" "$CT_ROOT/analyzer/render/html/format.js"
