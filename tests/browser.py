"""A real headless Chromium for tests, driven through the DevTools protocol over a pair of pipes.

No package is needed for that: commands and answers are JSON, each ended by a zero byte.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless_shell")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe", "--window-size=1280,900",
)  # fmt: skip
PATIENCE = 60
"""Seconds to wait for an answer before the test fails."""


def chromium() -> str:
    """The browser's path; the test skips where there is none."""
    given = os.environ.get("HEADWAY_CHROMIUM")
    found = given or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("Chromium is not installed; install Debian's package chromium, or set HEADWAY_CHROMIUM")
    return found


class Page:
    """One open page: what it says on its console, what it fetches, and what its scripts answer."""

    def __init__(self, send: int, receive: int) -> None:
        self._send, self._receive, self._rest, self._number = send, receive, b"", 0
        self.session: str | None = None
        self.console: list[str] = []
        self.requests: list[str] = []

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Run one command of the protocol and return its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return dict(answer["result"])

    def open(self, path: Path) -> None:
        """Open a file and wait until its charts are drawn."""
        self.open_address(path.resolve().as_uri())

    def open_address(self, address: str) -> None:
        """Open a page and wait until its charts are drawn."""
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.command(f"{domain}.enable")
        self.command("Page.navigate", url=address)
        self.wait_for("document.documentElement?.dataset.state === 'drawn'")
        self.settle()

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page; promises are awaited."""
        result = self.command("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Wait until an expression is true in the page."""
        until = time.monotonic() + PATIENCE
        while not self.evaluate(condition):
            assert time.monotonic() < until, f"{condition} did not become true; console: {self.console}"
            time.sleep(0.02)

    def settle(self) -> None:
        """Wait until everything asked for has been drawn."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """A pointer event: mouseMoved, mousePressed, mouseReleased or mouseWheel."""
        self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x: float, y: float) -> None:
        """Press and release the left button."""
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)
        self.settle()

    def box(self, selector: str) -> tuple[float, float, float, float]:
        """Left, top, width and height of an element, scrolled into the middle of the window."""
        script = f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: "center", behavior: "instant"}}); const b = e.getBoundingClientRect();
            return [b.left, b.top, b.width, b.height]; }})()"""
        left, top, width, height = self.evaluate(script)
        self.settle()
        return left, top, width, height

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """A picture of what is seen, or of the whole page."""
        shot = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready = select.select([self._receive], [], [], max(0.0, until - time.monotonic()))[0]
            assert ready, "the browser does not answer"
            more = os.read(self._receive, 1 << 20)
            assert more, "the browser has ended"
            self._rest += more
        raw, self._rest = self._rest.split(b"\0", 1)
        message: dict[str, Any] = json.loads(raw)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, data: dict[str, Any]) -> None:
        if method == "Runtime.consoleAPICalled":
            self.console.append(" ".join(str(each.get("value")) for each in data["args"]))
        elif method == "Runtime.exceptionThrown":
            details = data["exceptionDetails"]
            self.console.append(str(details.get("exception", details).get("description", details)))
        elif method == "Log.entryAdded":
            self.console.append(data["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(data["request"]["url"])


@contextmanager
def browser() -> Iterator[Page]:
    """A new browser with an empty profile, ended with the block."""
    program = chromium()
    # The browser reads commands from its file 3 and answers on its file 4.
    theirs_in, send = os.pipe()
    receive, theirs_out = os.pipe()
    theirs_in, theirs_out = (_high(end) for end in (theirs_in, theirs_out))

    def connect() -> None:
        os.dup2(theirs_in, 3)
        os.dup2(theirs_out, 4)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=connect, close_fds=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for end in (theirs_in, theirs_out):
            os.close(end)
        try:
            yield Page(send, receive)
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            for end in (send, receive):
                os.close(end)


def _high(end: int) -> int:
    """The same pipe under a number that files 3 and 4 do not collide with."""
    import fcntl

    number = fcntl.fcntl(end, fcntl.F_DUPFD, 50)
    os.close(end)
    return number
