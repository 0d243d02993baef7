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
_COLOURS, _FILM_COLOURS = 160, 48
_PAGES_COUNTED = 1, 2, 5, 30
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
#caption { position: fixed; inset: auto 0 0; padding: 11px 26px; background: #1f3a5a; color: #fff; z-index: 9;
  font: 17px "DejaVu Sans", sans-serif }
.seen { position: absolute; z-index: 8; padding: 0 5px; border-radius: 8px; background: #c2410c; color: #fff;
  font: 10px/14px "DejaVu Sans", sans-serif; transform: translate(-75%, -45%) }
"""
# The largest elements all of whose text was cut, without those of the call before.
_GREY_OUT = """paths => {
  document.querySelectorAll(".cut").forEach(one => one.classList.remove("cut"));
  const find = path => document.evaluate(path, document, null, 9, null).singleNodeValue;
  const kept = paths.kept.map(find);
  for (let cut of paths.cut.map(find)) {
    if (kept.includes(cut)) continue;
    while (cut.parentElement !== document.body && !kept.some(one => cut.parentElement.contains(one)))
      cut = cut.parentElement;
    cut.classList.add("cut");
  }
}"""


# What is said of a frame, and on the blocks that other pages have, how many have them.
_CAPTION = """([caption, seen]) => {
  document.querySelectorAll("#caption, .seen").forEach(one => one.remove());
  const bar = document.body.appendChild(document.createElement("div"));
  bar.id = "caption"; bar.textContent = caption;
  for (const [path, pages] of seen) {
    const box = document.evaluate(path, document, null, 9, null).singleNodeValue.getBoundingClientRect();
    const badge = document.body.appendChild(document.createElement("span"));
    badge.className = "seen"; badge.textContent = pages;
    badge.style.left = box.left + "px"; badge.style.top = box.top + "px";
    if (!box.left) badge.remove();
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
        with DemoWeb(options.folder / "web") as web:
            tab, html, others = _story(browser, web)
            _grey_out(tab, tamis.clean(html, tab.url).blocks)
            _save(tab, _IMAGES / "greyed.png")
            tab.evaluate(_GREY_OUT, {"kept": [], "cut": []})
            _counted(tab, html, others, _IMAGES / "counted.gif")
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


def _story(browser: Browser, web: DemoWeb) -> tuple[Page, str, list[bytes]]:
    """Open a story of the newspaper; with its HTML, and that of the other pages."""
    resources = web.sites["news"].resources
    story = next(path for path in resources if "petition" in path)
    others = [each.body for path, each in sorted(resources.items()) if path != story and each.body.startswith(b"<!")]
    tab = browser.new_page(viewport={"width": 1000, "height": 640})
    tab.goto(web.urls["news"].rstrip("/") + story)
    tab.add_style_tag(content=_NEWSPAPER)
    return tab, resources[story].body.decode(), others


def _grey_out(tab: Page, blocks: list[tamis.Segment]) -> None:
    """Grey out what Tamis cuts."""
    paths = {False: set[str](), True: set[str]()}
    for block in blocks:
        paths[block.template].add(block.path.partition("/#text")[0])
    tab.evaluate(_GREY_OUT, {"kept": sorted(paths[False]), "cut": sorted(paths[True])})


def _counted(tab: Page, html: str, others: list[bytes], path: Path) -> None:
    """Film the story as served, cleaned alone, and cleaned while more and more pages of its site are counted."""
    from PIL import Image  # noqa: PLC0415  (of matplotlib, for development only)

    site, page, frames = tamis.Site(), tamis.Page.parse(html, tab.url), []

    def film(caption: str, seen: list[tuple[str, int]]) -> None:
        tab.evaluate(_CAPTION, [caption, seen])
        tab.wait_for_timeout(200)
        with Image.open(io.BytesIO(tab.screenshot())) as picture:
            frames.append(picture.convert("RGB").quantize(_FILM_COLOURS, dither=Image.Dither.NONE))

    film("The page as it was served", [])
    for pages in _PAGES_COUNTED:
        while site.pages < pages - 1:
            site.count(others.pop())
        blocks = tamis.clean(page, site=site if site.pages else None).blocks
        counts, _ = site.frequencies(page)
        _grey_out(tab, blocks)
        seen = [
            (block.path.partition("/#text")[0], int(count))
            for block, count in zip(blocks, counts[page.n : page.n + page.m], strict=True)
            if count > 1
        ]
        of = "its first page: the model alone decides" if pages == 1 else f"{pages} pages, and how many of them have it"
        film(f"What Tamis knows of the site: {of}", seen)
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=[1800, 2600, 2200, 2200, 4000], loop=0)
    sys.stdout.write(f"{path}  {path.stat().st_size:,} bytes\n")


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
