"""A headless Chromium that lays out pages, driven over the DevTools protocol."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

_START: Final = 60.0  # seconds
_NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS: Final = (
    "--headless",
    "--no-sandbox",  # the benchmark may be run as root, in a container
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # nothing is fetched from outside
    "--remote-debugging-port=0",
)


class BrowserError(RuntimeError):
    """The browser is not there, did not start, refused a command, or did not finish a page in time."""


class Browser:
    """One tab of one browser, scripts of pages off, for many pages; use it as a context manager.

    Args:
        width, height: size of the window in px.
        timeout: seconds that a page may take.

    Raises:
        BrowserError: there is no Chromium, or no websockets, or the browser does not start.
    """

    def __init__(self, width: int, height: int, timeout: float = 30.0) -> None:
        program = next(filter(None, map(shutil.which, _NAMES)), None)
        if program is None:
            raise BrowserError("no Chromium is installed; benchmarks/layout/install-chromium.sh installs it, as root")
        if find_spec("websockets") is None:
            raise BrowserError("websockets is not installed: pip install -e '.[dev,peers]'")
        self._timeout = timeout
        self._number = 0
        self._events: list[dict[str, Any]] = []
        self._session: str | None = None
        self._profile = tempfile.mkdtemp(prefix="winnow-chromium-")
        self._process = subprocess.Popen(
            [program, *_OPTIONS, f"--user-data-dir={self._profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self._connection = self._connected()
            self._prepare(width, height)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the browser and remove its profile."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._profile, ignore_errors=True)

    def open(self, url: str) -> None:
        """Load a page, its style sheets and images included.

        Raises:
            BrowserError: it cannot be loaded, or not in time.
        """
        self._events.clear()
        answer = self._call("Page.navigate", url=url)
        if "errorText" in answer:
            raise BrowserError(f"{url}: {answer['errorText']}")
        loader, deadline = answer["loaderId"], time.monotonic() + self._timeout
        while not any(_is_loaded(event, loader) for event in self._events):
            self._events[:] = [self._receive(deadline)]

    def evaluate(self, script: str) -> Any:
        """Evaluate an expression in the page and return its value, which JSON must be able to express.

        Raises:
            BrowserError: the script fails.
        """
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise BrowserError(f"a script failed: {answer['exceptionDetails'].get('text')}")
        return answer["result"].get("value")

    def _connected(self) -> ClientConnection:
        """Connect to the address that the browser writes into its profile."""
        from websockets.sync.client import connect  # noqa: PLC0415  only those who measure need it

        file = Path(self._profile) / "DevToolsActivePort"
        deadline = time.monotonic() + _START
        while time.monotonic() < deadline and self._process.poll() is None:
            lines = file.read_text().split() if file.is_file() else []
            if len(lines) == 2:
                return connect(f"ws://127.0.0.1:{lines[0]}{lines[1]}", max_size=None, compression=None, proxy=None)
            time.sleep(0.05)
        raise BrowserError(f"Chromium did not start; its exit code is {self._process.poll()}")

    def _prepare(self, width: int, height: int) -> None:
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._call("Page.enable")
        self._call("Page.setLifecycleEventsEnabled", enabled=True)
        self._call("Emulation.setScriptExecutionDisabled", value=True)
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def _call(self, method: str, **parameters: object) -> dict[str, Any]:
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._connection.send(json.dumps(message))
        deadline = time.monotonic() + self._timeout
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error'].get('message')}")
                result: dict[str, Any] = answer["result"]
                return result
            self._events.append(answer)

    def _receive(self, deadline: float) -> dict[str, Any]:
        try:
            received = self._connection.recv(timeout=max(deadline - time.monotonic(), 0.0))
        except TimeoutError:
            raise BrowserError(f"the browser did not finish within {self._timeout:g} seconds") from None
        message: dict[str, Any] = json.loads(received)
        return message


def _is_loaded(event: dict[str, Any], loader: str) -> bool:
    parameters = event.get("params", {})
    return (
        event.get("method") == "Page.lifecycleEvent"
        and parameters.get("name") == "load"
        and parameters.get("loaderId") == loader
    )
