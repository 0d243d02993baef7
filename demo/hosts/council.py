"""A district council's old site: layout tables, font tags, fees, notices and minutes; some pages in windows-1252."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from demo.hosts.parts import STORY_ID, STORY_TITLE, Host, Link, a, chunks, slug, told_story, unique_titles
from demo.nodes import Node, el, items, markup

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


class Council(Host):
    """Builds the council's site."""

    def __init__(self, site: Site, pages: int) -> None:
        super().__init__(site, "names", "council")
        minutes = round(MINUTES_SHARE * pages)
        titles = unique_titles(
            pages - 1 - minutes, lambda: self.new_title("[title]", service="[service]", office="[office]")
        )
        heading = "Minutes of the [office] committee, [1-28] [month]"
        titles += unique_titles(minutes, lambda: self.prose.fill(heading).replace("the the", "the"))
        titles.append(STORY_TITLE)
        self.links = [Link(f"/{slug(title, 30)}-{number}.htm", title) for number, title in enumerate(titles)]
        size = -(-len(self.links) // len(AREAS))
        self.areas = dict(zip(AREAS, chunks(self.links, size), strict=False))

    def build(self) -> None:
        """Add every page of the council's site."""
        self.add_odds_and_ends(
            self.links[0],
            (90, 20, 30),
            markup("<td content><h1>Exempt papers</h1><p>Not for robots.</p></td>"),
            markup("<td content><h1>Error 404</h1><p>The document requested could not be located.</p></td>"),
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
            return self._page(link, area, told_story(), story=STORY_ID)
        if bound is None:
            return self._page(link, area, self._minutes())
        # The pages written before the server was renewed carry the old code page.
        old = {"charset": "windows-1252", "declared": "meta"} if number % 9 == 1 else {}
        return self._page(link, area, self._guidance(bound, pounds=bool(old)), broken=number % 6 == 3, **old)

    def _guidance(self, bound: dict[str, str], *, pounds: bool) -> list[Node]:
        rng, prose = self.rng, self.prose
        out = [self.paragraph(prose.paragraph("sentence", 1, 4, bound), self.links) for _ in range(rng.randint(2, 5))]
        for _ in range(rng.randint(0, 3)):
            out.append(markup("<p><b>{}</b></p>", prose.fill("[question]", bound)))
            out.append(self.paragraph(prose.paragraph("sentence", 1, 3, bound)))
        if pounds or rng.random() < 0.5:
            row = "<tr><td>{}</td><td align=right>£{}.{}</td></tr>"
            rows = [
                markup(row, prose.say("fee"), rng.randint(2, 480), rng.choice(("00", "50")))
                for _ in range(rng.randint(3, 8))
            ]
            fees = "<table border=1 cellpadding=4><tr><th>Charge</th><th>From 1 April</th></tr>{}</table>"
            out.append(markup(fees, rows))
        if rng.random() < 0.3:
            out.append(items("ul", (prose.say("sentence", bound) for _ in range(rng.randint(2, 5)))))
        return out

    def _minutes(self) -> list[Node]:
        rng, prose = self.rng, self.prose
        names = ", ".join(f"Cllr {prose.raw('[last]')}" for _ in range(rng.randint(5, 9)))
        matters = [
            markup("<li><b>{}</b><br>{}</li>", prose.fill("[service]"), prose.paragraph("minute", 1, 4))
            for _ in range(rng.randint(4, 8))
        ]
        closed = "<p>The meeting closed at {}.{} p.m.</p>"
        return [
            el("p", f"Present: {names}."),
            el("ol", *matters),
            markup(closed, rng.randint(8, 10), rng.randint(10, 59)),
        ]

    def _page(self, link: Link, area: str, text: list[Node], **writing: Unpack[Writing]) -> None:
        rng, when = self.rng, self.moment()
        see = [markup("<div>\u00bb {}</div>", a(other)) for other in self.others(self.links, 3, link)]
        cell = markup(
            """
            <td valign=top width=70%>
            <font size=1><a href=/>Home</a> &gt; <a href=/{0}.htm>{1}</a> &gt; {2}</font>
            <h1 content><font color=#660000>{2}</font></h1>
            <div content>{3}</div>
            <p content><i>Document reference WDC/{4}/{5:%y}, issued {5:%d %B %Y}</i></p>
            <div template><b>See also</b>{6}</div>
            <p><a href=/print>Print this page</a> | <a href=#top>Back to top</a></p></td>""",
            *(area.lower(), area, link.title, text, rng.randint(100, 999), when, see),
        )
        self.publish(link.path, "article", f"WDC - {link.title}", cell, area, **writing)

    def _listing(self, path: str, title: str, links: Sequence[Link], active: str) -> None:
        rows = [
            markup("<tr><td>\u00bb</td><td>{}<br>{}</td></tr>", a(link), self.prose.say("sentence")) for link in links
        ]
        cell = """
            <td valign=top width=70%><h1 content><font color=#660000>{}</font></h1><table content>{}</table></td>"""
        self.publish(path, "listing", f"WDC - {title}", markup(cell, title, rows), active)

    def _head(self) -> list[Node]:
        return [
            el("meta", name="generator", content="PageWright 3.1"),
            el("meta", name="build", content=self.token(12)),
        ]

    def _frame(self, main: Node, active: str) -> Node:
        rng = self.rng
        menu = [
            markup(
                "<tr><td bgcolor={}><a href=/{}.htm>{}</a></td></tr>",
                *("#eeddcc" if name == active else "#ffffff", name.lower(), el("b", name) if name == active else name),
            )
            for name in AREAS
        ]
        return markup(
            """
            <body bgcolor=#ffffff link=#660000 template><a name=top></a><!--main layout table-->
            <table width=100% border=0 cellpadding=6 summary={9}>
            <tr><td colspan=3 bgcolor=#660000>
            <img src=/static/logo.png width=180 height=60 alt="Council crest"> <font size=5 color=#ffffff>
            Westmarch District Council</font></td></tr>
            <tr><td colspan=3>Today is {6:%A, %d %B %Y}. <a href=/>Text only</a> | <a href=/>Cymraeg</a></td></tr>
            <tr><td valign=top bgcolor=#f4f0e8><table cellspacing=2 width=160>{0}</table>
            <p><font size=2><b>Notice board</b><br>{1}</font></p>
            <form action=/private/search>Search <input name=q size=12>
            <input type=hidden name=__VIEWSTATE value={2}></form></td>
            {3}
            <td valign=top width=150><b>Do it online</b>{4}<p>Visitors today: {5}</p></td></tr>
            <tr><td colspan=3><hr><center>{7}</center>
            <center>\u00a9 Westmarch District Council, Priory House, Westmarch. Telephone 01632 960 100.</center>
            <center>Page last generated {8:%d/%m/%Y %H:%M:%S}</center></td></tr></table></body>""",
            *(menu, rng.choice(NOTICES), self.token(48), main),
            *([el("div", a(link)) for link in self.others(self.links, 4)], rng.randint(20, 900), self.moment()),
            *([markup("<span>{} | </span>", a(link)) for link in self.extras], self.moment(), self.token(8)),
        )
