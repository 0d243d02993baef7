"""A district council's old site: layout tables, font tags, fees, notices and minutes; some pages in windows-1252."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from demo.hosts.parts import (
    STORY_ID,
    STORY_PARAGRAPHS,
    STORY_TITLE,
    Link,
    a,
    chunks,
    moment,
    odds_and_ends,
    others,
    paragraph,
    slug,
    token,
    unique_titles,
)
from demo.nodes import Node, comment, el, items
from demo.prose import Prose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demo.site import Site, Writing

AREAS = ("Residents", "Business", "Planning", "Leisure", "Meetings")
NOTICES = (
    "Polling stations: check your card.",
    "Free compost on Saturday at the Tanyard depot.",
    "Report a pothole in two minutes.",
    "Flu clinics now open.",
    "Have your say on the local plan.",
)
MINUTES_SHARE = 0.2


class Council:
    """Builds the council's site."""

    def __init__(self, site: Site, pages: int) -> None:
        self.site, self.rng = site, site.rng
        self.prose = Prose(self.rng, "names", "council")
        self.bound: dict[str, dict[str, str]] = {}
        minutes = round(MINUTES_SHARE * pages)
        titles = unique_titles(pages - 1 - minutes, self._title)
        titles += unique_titles(
            minutes,
            lambda: self.prose.fill("Minutes of the [office] committee, [1-28] [month]").replace("the the", "the"),
        )
        titles.append(STORY_TITLE)
        self.links = [Link(f"/{slug(title, 30)}-{number}.htm", title) for number, title in enumerate(titles)]
        size = -(-len(self.links) // len(AREAS))
        self.areas = dict(zip(AREAS, chunks(self.links, size), strict=False))
        self.extras: list[Link] = []

    def _title(self) -> str:
        bound = {name: self.prose.raw(f"[{name}]") for name in ("service", "office")}
        title = self.prose.fill("[title]", bound)
        self.bound[title] = bound
        return title

    def build(self) -> None:
        """Add every page of the council's site."""
        lost = el("td", el("h1", "Error 404"), el("p", "The document requested could not be located."), template=False)
        hidden = el("td", el("h1", "Exempt papers"), el("p", "Not for robots."), template=False)
        self.extras = odds_and_ends(
            self.site, moved=self.links[0], rgb=(90, 20, 30), hidden=self._frame("", hidden), lost=self._frame("", lost)
        )
        self._listing("/", "Westmarch District Council", self.links[:10], "")
        for area, members in self.areas.items():
            self._listing(f"/{area.lower()}.htm", area, members, area)
            for link in members:
                self._document(link, area)

    def _document(self, link: Link, area: str) -> None:
        number = self.links.index(link)
        bound = self.bound.get(link.title)
        if link.title == STORY_TITLE:
            return self._page(link, area, [el("p", text) for text in STORY_PARAGRAPHS], story=STORY_ID)
        if bound is None:
            return self._page(link, area, self._minutes())
        # The pages written before the server was renewed carry the old code page.
        old = {"charset": "windows-1252", "declared": "meta"} if number % 9 == 1 else {}
        return self._page(link, area, self._guidance(bound, pounds=bool(old)), broken=number % 6 == 3, **old)

    def _guidance(self, bound: dict[str, str], *, pounds: bool) -> list[Node]:
        rng, prose = self.rng, self.prose
        out = [paragraph(rng, prose.paragraph("sentence", 1, 4, bound), self.links) for _ in range(rng.randint(2, 5))]
        for _ in range(rng.randint(0, 3)):
            out.append(el("p", el("b", prose.fill("[question]", bound))))
            out.append(paragraph(rng, prose.paragraph("sentence", 1, 3, bound)))
        if pounds or rng.random() < 0.5:
            rows = [
                el(
                    "tr",
                    el("td", prose.say("fee")),
                    el("td", f"£{rng.randint(2, 480)}.{rng.choice(('00', '50'))}", align="right"),
                )
                for _ in range(rng.randint(3, 8))
            ]
            out.append(
                el("table", el("tr", el("th", "Charge"), el("th", "From 1 April")), *rows, border=1, cellpadding=4)
            )
        if rng.random() < 0.3:
            out.append(items("ul", (prose.say("sentence", bound) for _ in range(rng.randint(2, 5)))))
        return out

    def _minutes(self) -> list[Node]:
        rng, prose = self.rng, self.prose
        names = ", ".join(f"Cllr {prose.raw('[last]')}" for _ in range(rng.randint(5, 9)))
        items = [
            el("li", el("b", prose.fill("[service]")), el("br"), prose.paragraph("minute", 1, 4))
            for _ in range(rng.randint(4, 8))
        ]
        return [
            el("p", f"Present: {names}."),
            el("ol", *items),
            el("p", f"The meeting closed at {rng.randint(8, 10)}.{rng.randint(10, 59)} p.m."),
        ]

    def _page(self, link: Link, area: str, text: list[Node], **writing: Unpack[Writing]) -> None:
        rng, when = self.rng, moment(self.rng)
        see = el(
            "div",
            el("b", "See also"),
            *(el("div", "\u00bb ", a(other)) for other in others(rng, self.links, 3, link)),
            template=True,
        )
        cell = el(
            "td",
            el(
                "font",
                el("a", "Home", href="/"),
                " > ",
                el("a", area, href=f"/{area.lower()}.htm"),
                " > ",
                link.title,
                size=1,
            ),
            el("h1", el("font", link.title, color="#660000"), template=False),
            el("div", *text, template=False),
            el(
                "p",
                el("i", f"Document reference WDC/{rng.randint(100, 999)}/{when:%y}, issued {when:%d %B %Y}"),
                template=False,
            ),
            see,
            el("p", el("a", "Print this page", href="/print"), " | ", el("a", "Back to top", href="#top")),
            valign="top",
            width="70%",
        )
        self.site.page(
            link.path, "article", f"WDC - {link.title}", self._frame(area, cell), head=self._head(), **writing
        )

    def _listing(self, path: str, title: str, links: Sequence[Link], active: str) -> None:
        rows = [el("tr", el("td", "\u00bb"), el("td", a(link), el("br"), self.prose.say("sentence"))) for link in links]
        cell = el(
            "td",
            el("h1", el("font", title, color="#660000"), template=False),
            el("table", *rows, template=False),
            valign="top",
            width="70%",
        )
        self.site.page(path, "listing", f"WDC - {title}", self._frame(active, cell), head=self._head())

    def _head(self) -> list[Node]:
        return [
            el("meta", name="generator", content="PageWright 3.1"),
            el("meta", name="build", content=token(self.rng, 12)),
        ]

    def _frame(self, active: str, cell: Node) -> Node:
        rng = self.rng
        menu = [
            el(
                "tr",
                el(
                    "td",
                    el("a", el("b", name) if name == active else name, href=f"/{name.lower()}.htm"),
                    bgcolor="#eeddcc" if name == active else "#ffffff",
                ),
            )
            for name in AREAS
        ]
        left = el(
            "td",
            el("table", *menu, cellspacing=2, width=160),
            el("p", el("font", el("b", "Notice board"), el("br"), rng.choice(NOTICES), size=2)),
            el(
                "form",
                "Search ",
                el("input", name="q", size=12),
                el("input", type="hidden", name="__VIEWSTATE", value=token(rng, 48)),
                action="/private/search",
            ),
            valign="top",
            bgcolor="#f4f0e8",
        )
        right = el(
            "td",
            el("b", "Do it online"),
            *(el("div", a(link)) for link in others(rng, self.links, 4)),
            el("p", f"Visitors today: {rng.randint(20, 900)}"),
            valign="top",
            width=150,
        )
        return el(
            "body",
            el("a", name="top"),
            comment("main layout table"),
            el(
                "table",
                el(
                    "tr",
                    el(
                        "td",
                        el("img", src="/static/logo.png", width=180, height=60, alt="Council crest"),
                        " ",
                        el("font", "Westmarch District Council", size=5, color="#ffffff"),
                        colspan=3,
                        bgcolor="#660000",
                    ),
                ),
                el(
                    "tr",
                    el(
                        "td",
                        f"Today is {moment(rng):%A, %d %B %Y}. ",
                        el("a", "Text only", href="/"),
                        " | ",
                        el("a", "Cymraeg", href="/"),
                        colspan=3,
                    ),
                ),
                el("tr", left, cell, right),
                el(
                    "tr",
                    el(
                        "td",
                        el("hr"),
                        el("center", *(_piped(link) for link in self.extras)),
                        el(
                            "center",
                            "\u00a9 Westmarch District Council, Priory House, Westmarch. Telephone 01632 960 100.",
                        ),
                        el("center", f"Page last generated {moment(rng):%d/%m/%Y %H:%M:%S}"),
                        colspan=3,
                    ),
                ),
                width="100%",
                border=0,
                cellpadding=6,
                summary=token(rng, 8),
            ),
            template=True,
            bgcolor="#ffffff",
            link="#660000",
        )


def _piped(link: Link) -> Node:
    return el("span", a(link), " | ")


def build(site: Site, pages: int) -> None:
    """Add the council's pages, ``pages`` of them documents."""
    Council(site, pages).build()
