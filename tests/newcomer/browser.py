"""A browser for the new user's session: Chromium by its driver's own protocol, no package needed.

The protocol is W3C WebDriver: JSON over HTTP. Only what the session needs is here.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import tempfile
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self

WAIT = 30  # seconds for one request


class Browser:
    """One window of headless Chromium."""

    def __enter__(self) -> Self:
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True
        )
        assert self._driver.stdout is not None
        for line in self._driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                self._address = f"http://127.0.0.1:{found[1]}"
                break
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"]
        arguments += ["--no-first-run", "--disable-background-networking", "--disable-sync"]
        arguments += ["--disable-component-update", f"--user-data-dir={self._home.name}"]
        wanted = {"browserName": "chrome", "goog:chromeOptions": {"args": arguments}}
        made = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{made['sessionId']}"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._call("DELETE", self._session)
        self._driver.terminate()
        self._driver.wait(WAIT)
        self._home.cleanup()

    def open(self, address: str) -> None:
        """Load a page."""
        self._call("POST", f"{self._session}/url", {"url": address})

    def ask(self, script: str) -> Any:
        """Return the value of a JavaScript expression on the page."""
        asked = {"script": f"return {script}", "args": []}
        return self._call("POST", f"{self._session}/execute/sync", asked)

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        steps = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        keyboard = {"type": "key", "id": "keyboard", "actions": steps}
        self._call("POST", f"{self._session}/actions", {"actions": [keyboard]})

    def save_picture(self, path: Path) -> None:
        """Save what the window shows as a PNG file."""
        path.write_bytes(base64.b64decode(self._call("GET", f"{self._session}/screenshot")))

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._address + path, data, method=method)
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=WAIT) as reply:
            return json.load(reply)["value"]
