"""``make screenshots``: the pictures of the documentation (``docs/images``), made of the demo web in a browser."""

from __future__ import annotations

import argparse
import io
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import tamis
from demo.__main__ import DEFAULT_FOLDER
from demo.server import DemoWeb
from scrapy_tamis.inspector.documents import Documents, FolderReplay
from scrapy_tamis.inspector.inspector import Inspector
from scrapy_tamis.inspector.server import InspectorServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_IMAGES = Path("docs/images")
_SIZE = {"width": 1280, "height": 800}
_COLOURS = 160
_STORY = 20  # number of a page of the newspaper that has all there is

# The demo web has no style sheets: this one lays the newspaper out as newspapers are.
_NEWSPAPER = """
body { font: 15px/1.45 Georgia, serif; margin: 0 }
#topbar, #cookie, #ticker, #header { display: flex; gap: 18px; align-items: center; padding: 5px 26px; margin: 0 }
#topbar, #cookie, #nav, .share-bar, .box, .meta, .ad-slot, .crumbs, #footer { font: 13px/1.5 "DejaVu Sans", sans-serif }
#cookie { background: #fdf3d0 } #cookie p { margin: 0 } #ticker { background: #f7e1dd }
#header ul { display: flex; gap: 16px; list-style: none; padding: 0 } #header { border-bottom: 3px solid #1f3a5a }
#wrap { display: grid; grid-template-columns: 1fr 250px; gap: 2px 28px; padding: 4px 26px }
.crumbs { grid-column: 1 / 3 } h1 { margin: 0 0 4px; font-size: 29px; line-height: 1.15 } p { margin: 9px 0 }
.share-bar { display: flex; gap: 12px; margin: 5px 0 } .art-img { display: none }
.ad-slot { background: #ddd; text-align: center; padding: 16px; margin: 8px 0 }
.col-side .box { border: 1px solid #bbb; padding: 9px 12px; margin-bottom: 10px }
.box ol { padding-left: 20px; margin: 4px 0 }
.cut { filter: grayscale(1); opacity: .3 }
"""
# The largest elements all of whose text was cut.
_GREY_OUT = """paths => {
  const find = path => document.evaluate(path, document, null, 9, null).singleNodeValue;
  const kept = paths.kept.map(find);
  for (let cut of paths.cut.map(find)) {
    if (kept.includes(cut)) continue;
    while (cut.parentElement !== document.body && !kept.some(one => cut.parentElement.contains(one)))
      cut = cut.parentElement;
    cut.classList.add("cut");
  }
}"""


def find_browser() -> str | None:
    """Return the program of a Chromium; the one without windows first, which takes half the time of the others."""
    names = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
    return next(filter(None, map(shutil.which, names)), None)


def main() -> int:
    """Take the pictures; the demo has to have run.

    Returns:
        The exit code: 0, or 1 where there is no demo or no browser.
    """
    parser = argparse.ArgumentParser(prog="python -m demo.screenshots", description=__doc__)
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER, help="folder of the demo (%(default)s)")
    options = parser.parse_args()
    program = find_browser()
    sites, report = options.folder / "web" / "sites", options.folder / "report.html"
    if program is None or not report.exists():
        sys.stderr.write("It takes `make demo` before, and Chromium, which `make chromium` installs.\n")
        return 1
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        _IMAGES.mkdir(exist_ok=True)
        with _served(sites / "news") as server:
            tab = _opened(browser, f"{server.url}?page={_STORY}")
            move_slider(tab, "seen", 40)
            tab.locator("#panel li.template").first.click()
            tab.wait_for_selector("#card .weights")
            _save(tab, _IMAGES / "inspector.png")
            tab = _opened(browser, f"{server.url}?page={_STORY}", dark=True)
            tab.click("#pin")
            move_slider(tab, "threshold", 0.1)
            tab.click("#tab-Text")
            _save(tab, _IMAGES / "inspector-compare.png")
        _save(_greyed(browser, options.folder / "web"), _IMAGES / "greyed.png")
        tab = browser.new_page(viewport=_SIZE)  # type: ignore[arg-type]
        tab.goto(report.resolve().as_uri())
        _save(tab, _IMAGES / "report.png")
        browser.close()
    return 0


def _served(folder: Path) -> InspectorServer:
    documents = Documents(str(folder))
    return InspectorServer(Inspector(documents, replay=FolderReplay(documents)))


def _opened(browser: Browser, url: str, *, dark: bool = False) -> Page:
    tab = browser.new_page(viewport=_SIZE, color_scheme="dark" if dark else "light")  # type: ignore[arg-type]
    tab.goto(url)
    tab.wait_for_selector("html[data-boxes]", state="attached")
    return tab


def _greyed(browser: Browser, folder: Path) -> Page:
    """Open a story of the newspaper with what Tamis cuts from it greyed out."""
    with DemoWeb(folder) as web:
        story = next(path for path in web.sites["news"].resources if "petition" in path)
        tab = browser.new_page(viewport={"width": 1000, "height": 640})
        tab.goto(web.urls["news"].rstrip("/") + story)
        tab.add_style_tag(content=_NEWSPAPER)
        blocks = tamis.clean(tab.content(), tab.url).blocks
        paths = {False: set[str](), True: set[str]()}
        for block in blocks:
            paths[block.template].add(block.path.partition("/#text")[0])
        tab.evaluate(_GREY_OUT, {"kept": sorted(paths[False]), "cut": sorted(paths[True])})
        return tab


def move_slider(tab: Page, control: str, value: float | str) -> None:
    """Move a slider of the inspector, or choose, and wait for the answer."""
    tab.evaluate(
        "([id, value]) => { const slider = document.getElementById(id); slider.value = value;"
        " slider.dispatchEvent(new Event('input')); }",
        [control, value],
    )
    tab.wait_for_selector("html[data-answered]", state="attached")


def _save(tab: Page, path: Path) -> None:
    """Take a picture, with few colours so that it is small."""
    from PIL import Image  # noqa: PLC0415  (of matplotlib, for development only)

    tab.wait_for_timeout(300)
    with Image.open(io.BytesIO(tab.screenshot())) as picture:
        picture.convert("RGB").quantize(_COLOURS).save(path, optimize=True)
    sys.stdout.write(f"{path}  {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    sys.exit(main())
