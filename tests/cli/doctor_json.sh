#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# As JSON: the documented keys and no others, and every answer with advice or none; also with names that are no UTF-8.
. "$data/doctor.bash"
python=$(command -v /usr/bin/python3 || command -v python3)
strange=./$(printf 'name-\xff-\x01')
echo 'int main(void) { return 0; }' | compiled "$strange"
for arguments in "" "-- $strange" "-- ./gone"; do
	code=0
	# shellcheck disable=SC2086
	env COMMTRACE_NO_DLSYM=1 commtrace doctor --format=json $arguments >said || code=$?
	"$python" - said "$data/../../../docs/reference/JSON.md" $code "$arguments" <<'EOF2'
import json, re, sys
said = json.load(open(sys.argv[1], encoding="utf-8"))
row = re.search(r"^schema (traced.*)$", open(sys.argv[2], encoding="utf-8").read(), re.M).group(1)
keys = re.search(r"checks\[\{(.*)\}\]", row).group(1).split(",")
assert list(said) == ["schema", "traced", "checks"], list(said)
assert said["schema"] == "commtrace.doctor/1"
blocked = any(check["blocks"] for check in said["checks"])
assert blocked is (sys.argv[3] != "0"), said
assert said["traced"] is (False if blocked else True if sys.argv[4] else None), said
for check in said["checks"]:
    assert list(check) == keys, (list(check), keys)
    assert check["ok"] in (True, False, None) and (check["advice"] is None) == (check["ok"] is True), check
    assert not (check["blocks"] and check["ok"] is not False), check
assert [c["ok"] for c in said["checks"] if c["id"] == "DLSYM_OFF"] == [False]
print(said["traced"], len({check["id"] for check in said["checks"]}) > 5)
EOF2
done
