#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/img, taken of what tools/demo.sh made (demo-out), of a run of 1024 ranks and of a pipeline: by hand, when
the page or a picture has changed; look at each of them. pngquant, where there is one, makes them a third as large.

    tests/browser/screenshots.py [--demo demo-out] [--out docs/img] [--bin build/bin]
"""
import argparse
import base64
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from webdriver import Browser  # noqa: E402

READY = "return 'ready' in document.documentElement.dataset"
BUILT = "return 'built' in document.documentElement.dataset"

# file, page, scheme, width and height of the window, and what is to be seen: the selector of an element, else the top
SHOTS = [
    ("report", "gpu", "light", 1400, 1000, None),
    ("report-900", "gpu", "light", 900, 1000, None),
    ("report-phone", "gpu", "light", 390, 844, None),
    ("report-dark", "gpu", "dark", 1400, 1000, None),
    ("report-1024", "wide", "light", 1400, 1000, None),
    ("waits", "gpu", "light", 1000, 900, "#pic-waits"),
    ("steps-1024", "wide", "dark", 1000, 900, "#pic-steps"),
    ("slowdown", "pipeline", "light", 1000, 900, "#pic-slowdown"),
    ("traffic-1024", "wide", "light", 1000, 1000, "#pic-traffic"),
]


def take(browser, url, scheme, width, height, part):
    browser.cdp("Emulation.setScrollbarsHidden", hidden=True)
    browser.size(width, height)
    browser.scheme(scheme)
    browser.open(url, READY)
    browser.wait(BUILT, 30)
    browser.run("document.documentElement.style.scrollbarGutter = 'auto'")
    if not part:
        return browser.screenshot(full=False)
    # What comes into the window is drawn then.
    browser.run("for (const fold of document.querySelectorAll('main > details')) fold.open = true;"
                "document.querySelector(arguments[0]).scrollIntoView()", part)
    browser.wait(f"return [...document.querySelectorAll('{part} .plot')].every(e => e.childElementCount)")
    box = browser.run("const b = document.querySelector(arguments[0]).getBoundingClientRect();"
                      "return {x: b.x + scrollX - 12, y: b.y + scrollY - 12, width: b.width + 24, height: b.height + 24, scale: 1}", part)
    return browser.cdp("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=box)["data"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demo", default="demo-out", type=pathlib.Path)
    parser.add_argument("--out", default="docs/img", type=pathlib.Path)
    parser.add_argument("--bin", default="build/bin", type=pathlib.Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        wide = pathlib.Path(folder, "wide")
        subprocess.run([options.bin / "commtrace-synth", "-o", wide, "--hosts", "128", "--gpus-per-host", "8", "--steps", "60",
                        "--noise-pct", "1", "--fault", "slow-rank:rank=677,ms=6"], check=True, stdout=subprocess.DEVNULL)
        pipeline = pathlib.Path(folder, "pipeline")
        subprocess.run([options.bin / "commtrace-synth", "-o", pipeline, "--hosts", "4", "--gpus-per-host", "8", "--steps", "24",
                        "--workload", "megatron", "--tp", "1", "--pp", "4", "--dp", "8", "--fault", "slow-rank:rank=11,pct=40"], check=True, stdout=subprocess.DEVNULL)
        urls = {}
        for name, run in (("gpu", options.demo / "gpu"), ("wide", wide), ("pipeline", pipeline)):
            page = pathlib.Path(folder, name + ".html")
            subprocess.run([options.bin / "commtrace", "report", run, "-o", page], check=True)
            urls[name] = page.as_uri()
        with Browser(folder) as browser:
            for name, page, *how in SHOTS:
                file = options.out / (name + ".png")
                file.write_bytes(base64.b64decode(take(browser, urls[page], *how)))
                if shutil.which("pngquant"):
                    subprocess.run(["pngquant", "--force", "--skip-if-larger", "--output", file, "128", file])
                print(f"{file.stat().st_size:8} {file}")


if __name__ == "__main__":
    main()
