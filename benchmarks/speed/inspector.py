"""How long the inspector takes to show a page, and to answer a slider, in Chromium.

python -m benchmarks.speed.inspector PAGE...
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import time
from pathlib import Path

from playwright.sync_api import Page as Tab
from playwright.sync_api import sync_playwright

from scrapy_winnow.inspector.documents import Documents
from scrapy_winnow.inspector.inspector import Inspector
from scrapy_winnow.inspector.server import InspectorServer

_SLIDES = 12


def main() -> None:
    """Measure each page and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="+", type=Path, metavar="PAGE")
    options = parser.parse_args()
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    print(f"{'page':<28}{'bytes':>12}{'elements':>10}{'shown, s':>10}{'slider, ms: median':>20}{'worst':>8}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for page in options.pages:
            inspector = Inspector(Documents(str(page)))
            with InspectorServer(inspector) as server:
                tab = browser.new_page(viewport={"width": 1400, "height": 900})
                begin = time.perf_counter()
                tab.goto(server.url)
                tab.wait_for_selector("html[data-boxes]", state="attached", timeout=120_000)
                shown = time.perf_counter() - begin
                answers = [_slide(tab, 0.2 + 0.05 * number) for number in range(_SLIDES)]
                tab.close()
            size = len(inspector.page(0).document.html)
            print(
                f"{page.name[:26]:<28}{size:>12,}{inspector.page(0).page.n:>10,}{shown:>10.2f}"
                f"{statistics.median(answers):>20.0f}{max(answers):>8.0f}",
                flush=True,
            )
        browser.close()


def _slide(tab: Tab, threshold: float) -> float:
    """Move the threshold, and return the milliseconds until what came out is shown."""
    tab.evaluate(
        "value => { delete document.documentElement.dataset.answered;"
        " const slider = document.getElementById('threshold');"
        " slider.value = value; slider.dispatchEvent(new Event('input')); }",
        threshold,
    )
    tab.wait_for_selector("html[data-answered]", state="attached", timeout=120_000)
    return float(tab.evaluate("document.documentElement.dataset.answered"))


if __name__ == "__main__":
    main()
