#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wheel.py PREFIX OUT VERSION PLATFORM: a wheel in OUT of what is installed below PREFIX.

The only Python in it is the module that jobs may import. pip puts bin/ where the environment keeps its programs, and the rest below its prefix, so that
`commtrace` finds its library as in any other prefix."""
import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

SUMMARY = "Find the rank that slows down or hangs a distributed training job"


def main():
    prefix, out, version, platform = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    name = "commtrace-" + version
    # The same files make the same wheel: a zip file cannot hold times before 1980.
    when = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]
    files = {}
    for path in sorted(p for p in prefix.rglob("*") if p.is_file()):
        inside = path.relative_to(prefix)
        kind = "scripts" if inside.parts[0] == "bin" else "data"
        to = inside.relative_to("bin") if kind == "scripts" else inside
        entry = inside.name if inside.parts[-2] == "dist-packages" else "%s.data/%s/%s" % (name, kind, to)
        files[entry] = (path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)
    files[name + ".dist-info/METADATA"] = (("Metadata-Version: 2.1\nName: commtrace\nVersion: %s\nSummary: %s\nLicense: Apache-2.0\n"
                                            % (version, SUMMARY)).encode(), 0o644)
    files[name + ".dist-info/WHEEL"] = (("Wheel-Version: 1.0\nGenerator: commtrace\nRoot-Is-Purelib: false\nTag: py3-none-%s\n"
                                         % platform).encode(), 0o644)
    record = "%s.dist-info/RECORD" % name
    rows = ["%s,sha256=%s,%d" % (at, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), len(data))
            for at, (data, _) in files.items()]
    files[record] = ("\n".join(rows + [record + ",,"]).encode() + b"\n", 0o644)
    wheel = out / ("%s-py3-none-%s.whl" % (name, platform))
    out.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for at, (data, mode) in files.items():
            info = zipfile.ZipInfo(at, when)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100000 | mode) << 16
            archive.writestr(info, data)
    print(wheel)


main()
