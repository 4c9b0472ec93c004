"""A browser for tests: chromium, driven over HTTP as WebDriver says. Needs only Python's standard library."""

import base64
import contextlib
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

BROWSER = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
DRIVER = shutil.which("chromedriver")
#: What is said where tests cannot run; CTest knows a skipped test by it.
WHY_NOT = "no browser here: install chromium and chromium-driver (scripts/setup browser)"


def there():
    return bool(BROWSER and DRIVER)


class Browser:
    """One window, without a profile and without a network."""

    def __init__(self, folder, width=1280, height=900):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        # What the browser writes stays in the folder of the test.
        env = {**os.environ, "HOME": folder, "TMPDIR": folder}
        self.process = subprocess.Popen([DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, env=env)
        self.url = f"http://127.0.0.1:{port}/session"
        options = {"binary": BROWSER, "args": [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--disable-background-networking", "--no-first-run", f"--window-size={width},{height}"]}
        wanted = {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "unhandledPromptBehavior": "ignore",
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}}
        for attempt in range(100):
            try:
                session = self._ask("POST", "", wanted)
                break
            except (ConnectionError, urllib.error.URLError):
                if self.process.poll() is not None or attempt == 99:
                    self.close()
                    raise
                time.sleep(0.2)
        self.url += "/" + session["sessionId"]
        self.resize(width, height)

    def _ask(self, verb, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=verb,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise AssertionError(json.load(e)["value"]["message"]) from None

    def open(self, path):
        self._ask("POST", "/url", {"url": "file://" + os.path.abspath(path)})

    def do(self, script, *arguments):
        """The value that a script returns; one that is promised is waited for."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def until(self, script, wanted, *arguments):
        """The value of a script once it is the one that is wanted, or what it is after half a minute."""
        for _ in range(300):
            value = self.do(script, *arguments)
            if value == wanted:
                break
            time.sleep(0.1)
        return value

    def devtools(self, command, **parameters):
        return self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def resize(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                      mobile=False)

    def dark(self, on=True):
        self.devtools("Emulation.setEmulatedMedia",
                      features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def log(self, kind="browser"):
        return self._ask("POST", "/se/log", {"type": kind})

    def requests(self):
        """What was asked of anybody but the file itself."""
        asked = []
        for entry in self.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"])
        return [url for url in asked if not url.startswith(("data:", "blob:", "file:", "chrome:", "about:"))]

    def alert(self):
        """The words of a dialog that is open, or None."""
        try:
            return self._ask("GET", "/alert/text")
        except AssertionError:
            return None

    def drag(self, x0, y0, x1, y1, *, shift=False):
        keys = [{"type": "keyDown", "value": "\ue008"}] if shift else []
        pointer = [{"type": "pointerMove", "x": x0, "y": y0, "duration": 0}, {"type": "pointerDown", "button": 0},
                   {"type": "pointerMove", "x": (x0 + x1) // 2, "y": (y0 + y1) // 2, "duration": 20},
                   {"type": "pointerMove", "x": x1, "y": y1, "duration": 20}, {"type": "pointerUp", "button": 0}]
        pauses = [{"type": "pause", "duration": 0}] * len(keys)
        actions = [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
                    "actions": pauses + pointer}]
        if keys:  # the driver falls over a keyboard that does nothing
            actions.insert(0, {"type": "key", "id": "keys", "actions": keys})
        self._ask("POST", "/actions", {"actions": actions})
        self._ask("DELETE", "/actions")

    def point(self, x, y):
        self._ask("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
             "actions": [{"type": "pointerMove", "x": x, "y": y, "duration": 0}]}]})

    def click(self, selector):
        """As people click: once it is there, scrolled to, and refused where something lies above it."""
        self.until("return document.querySelector(arguments[0]) !== null", True, selector)
        self.do("document.querySelector(arguments[0]).scrollIntoView({behavior: 'instant', block: 'center'})", selector)
        found = self._ask("POST", "/element", {"using": "css selector", "value": selector})
        self._ask("POST", f"/element/{next(iter(found.values()))}/click", {})

    def in_view(self, selector):
        return self.do("""const b = document.querySelector(arguments[0]).getBoundingClientRect();
            return b.top < innerHeight && b.bottom > 0 && b.height > 0;""", selector)

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._ask("GET", "/screenshot")))

    def close(self):
        with contextlib.suppress(Exception):
            self._ask("DELETE", "")
        self.process.terminate()
        self.process.wait(timeout=20)
