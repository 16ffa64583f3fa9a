#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# report -o x.html: the page holds the report as --format=json has it, names of the run are text in it, and its policy lets
# only its own script run. Hosts and communicators have names that are markup elsewhere.
python=$(command -v /usr/bin/python3 || command -v python3)
sed 's|"node1"|"<script>alert(1)\&amp;"|; s|"world"|"</script>\\"\\\\u003c<!--<script>\&amp;"|' "$data/four_ranks.jsonl" >hostile.jsonl
commtrace import jsonl hostile.jsonl -o run1 >/dev/null
commtrace report run1 -o report.html
commtrace report run1 --format=html | cmp - report.html
commtrace report run1 -o report.json
commtrace report run1 -o report.html || echo "exit $?"
commtrace info run1 -o info.html || echo "exit $?"
"$python" - <<'END'
import base64, hashlib, json, re

page = open("report.html", encoding="utf-8", newline="").read()
data = re.search(r'<script type="application/json" id="report">(.*?)</script>', page, re.S).group(1)
script = re.search(r"<script>(.*?)</script>", page, re.S).group(1)
policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
def exactly(text):
    return json.loads(text, object_pairs_hook=list, parse_int=str, parse_float=str)
print("the report is in the page:", exactly(data) == exactly(open("report.json", encoding="utf-8").read()))
hash = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
print("the policy is:", policy.replace(hash, "HASH"))
markup = page.replace(data, "").replace(script, "")
print("elements that could load something:", re.findall(r"<(?:img|iframe|object|embed|audio|video|base)\b|src=|url\(|@import|https?:", markup))
print("ways around text:", re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|javascript:", script))
print("size without data below 300 KB:", len(page.encode()) - len(data.encode()) < 300000)
END
