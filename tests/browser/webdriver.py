# SPDX-License-Identifier: Apache-2.0
"""A browser for tests: chromedriver spoken to in the WebDriver protocol (https://www.w3.org/TR/webdriver2/), by the standard library.

    with Browser(downloads=DIR) as browser:
        browser.open("file:///...")
        browser.run("return document.title")

What the WebDriver protocol lacks (colour scheme, media, printing, width of a phone) goes through cdp(), the DevTools protocol
by way of chromedriver. One thread; an Error says what chromedriver said. The browser and its profile are gone after close().
"""
import http.client
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

CHROMEDRIVER = os.environ.get("CT_CHROMEDRIVER", "/usr/bin/chromedriver")
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-extensions", "--force-color-profile=srgb", "--window-size=1280,900", "about:blank"]
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the protocol's key of a reference to an element
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Left": "\ue012", "Up": "\ue013", "Right": "\ue014",
        "Down": "\ue015", "Home": "\ue011", "End": "\ue010", "Space": " "}


class Error(Exception):
    pass


class Browser:
    def __init__(self, downloads):
        self.profile = tempfile.mkdtemp(prefix="commtrace-browser.")
        # A session of its own, so that the browser that the driver starts can be ended with it.
        self.driver = subprocess.Popen([CHROMEDRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                       start_new_session=True)
        try:
            self.wire = http.client.HTTPConnection("127.0.0.1", self._port(), timeout=60)
            self._start(downloads)
        except BaseException:
            self.close()
            raise

    def _port(self):
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                return int(line.rsplit("port", 1)[1].strip(" .\n"))
        raise Error("chromedriver did not start")

    def _start(self, downloads):
        options = {"args": ARGUMENTS + ["--user-data-dir=" + self.profile],
                   "prefs": {"download.default_directory": str(downloads), "download.prompt_for_download": False}}
        self.session = ""
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        self.session = "/session/" + answer["sessionId"]
        self.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the session, the driver and the browser, whatever state they are in."""
        try:
            if getattr(self, "session", ""):
                self._call("DELETE", "", None)
        except (Error, OSError, http.client.HTTPException):
            pass
        try:
            os.killpg(self.driver.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.driver.wait()
        self.driver.stdout.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _call(self, method, path, body):
        text = None if body is None else json.dumps(body)
        self.wire.request(method, getattr(self, "session", "") + path, text, {"Content-Type": "application/json"})
        answer = json.loads(self.wire.getresponse().read())["value"]
        if isinstance(answer, dict) and "error" in answer:
            raise Error(f"{path}: {answer['error']}: {answer['message'].splitlines()[0]}")
        return answer

    def open(self, url, ready="return document.readyState === 'complete'", seconds=20):
        """Loads the page and waits until the script `ready` is true."""
        self._call("POST", "/url", {"url": url})
        self.wait(ready, seconds)

    def wait(self, script, seconds=5):
        """Until the script gives something true, which is returned."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(script)
            if value:
                return value
            if time.monotonic() > end:
                raise Error(f"waited {seconds} s for: {script}")
            time.sleep(0.01)

    def run(self, script, *args):
        """The value of a function body; arguments are its `arguments`."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(args)})

    def frame(self):
        """Until the page was painted twice: what follows from a change has happened."""
        self._call("POST", "/execute/async", {"args": [], "script":
                   "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"})

    def cdp(self, command, **params):
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def find(self, selector):
        """A reference to the first element, for click() and run()."""
        return self._call("POST", "/element", {"using": "css selector", "value": selector})

    def click(self, element):
        """A click of the mouse, where the element can be hit; the driver scrolls to it."""
        self._call("POST", f"/element/{element[ELEMENT]}/click", {})

    def press(self, *keys):
        """Keys to what has the focus: names of KEYS, or text."""
        actions = [{"type": kind, "value": key} for name in keys for key in KEYS.get(name, name)
                   for kind in ("keyDown", "keyUp")]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def point(self, x, y, *then):
        """The mouse to a position in the window, in CSS pixels."""
        self._call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
                   "actions": [{"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)}, *then]}]})

    def press_at(self, x, y):
        self.point(x, y, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})

    def size(self, width, height=900, scale=1):
        """The window as a device of that many CSS pixels has it."""
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def scheme(self, scheme, media=""):
        """`light` or `dark`, as the system prefers it, and nothing glides; media `print` to see what is printed."""
        self.cdp("Emulation.setEmulatedMedia", media=media, features=[
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}])

    def console(self):
        """What was printed there since the last call: [{level, message}]."""
        return self._call("POST", "/se/log", {"type": "browser"})

    def requests(self):
        """The URLs that were asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self._call("POST", "/se/log", {"type": "performance"})]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]

    def screenshot(self, full=True):
        """A PNG in base64 of the window, or of the whole page."""
        return self.cdp("Page.captureScreenshot", format="png", captureBeyondViewport=full)["data"]
