"""A local newspaper: div soup, a ticker, sidebars that change from page to page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from demo.hosts.parts import STORY_ID, STORY_TITLE, Host, Link, a, chunks, listed, slug, told_story, unique_titles
from demo.nodes import Node, el, items, markup
from demo.prose import Prose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demo.site import Site, Writing

SECTIONS = ("Harbour", "Town", "Courts", "Sport", "Culture", "Letters")
PROMOTIONS = (
    "Subscribe for £4 a month and get the crossword book free.",
    "Tide tables 2027: order your copy now.",
    "Our app has every fixture and every sailing.",
    "Sign up for the morning briefing, in your inbox by six.",
    "Win two tickets for the winter ball.",
    "Advertise here and reach 40,000 readers.",
)
FRENCH_PAGES = 4
_TITLE = "{} - The Saltby Courier"


class News(Host):
    """Builds the newspaper."""

    def __init__(self, site: Site, pages: int) -> None:
        super().__init__(site, "names", "news")
        self.french = Prose(self.rng, "names", "french", english=False)
        titles = unique_titles(pages - 1 - FRENCH_PAGES, self._title)
        titles += unique_titles(FRENCH_PAGES, lambda: self.french.fill("[title]"))
        titles.append(STORY_TITLE)
        self.links = [
            Link(f"/{2026}/{self.rng.randint(1, 12):02}/{slug(title)}-{48000 + number}.html", title)
            for number, title in enumerate(titles)
        ]
        self.section_of = {link.path: SECTIONS[number % len(SECTIONS)] for number, link in enumerate(self.links)}

    def _title(self) -> str:
        named = {name: f"[{name}]" for name in ("subject", "body", "role", "trade")}
        return self.new_title("[headline]", **named, leader="[first] [last]", critic="[first] [last]", town="[place]")

    def build(self) -> None:
        """Add every page of the newspaper."""
        self.add_odds_and_ends(
            self.links[0],
            (30, 60, 90),
            markup("<div content><h1>Drafts</h1><p>Nothing here is meant for robots.</p></div>"),
            markup("<div content><h1>Page not found</h1><p>The story you are looking for has sailed.</p></div>"),
        )
        self._listing("/", "Front page", self.links[-14:], "")
        for section in SECTIONS:
            parts = chunks([link for link in self.links if self.section_of[link.path] == section], 10)
            for number, part in enumerate(parts):
                more = self._section_path(section, number + 1) if number + 1 < len(parts) else None
                self._listing(self._section_path(section, number), section, part, section, more)
        for number, link in enumerate(self.links):
            bound = self.bound.get(link.title)
            if bound is not None:
                self._article(link, self._story(bound), broken=number % 9 == 4)
            elif link.title == STORY_TITLE:
                self._article(link, told_story(), story=STORY_ID)
            else:
                body = [el("p", self.french.paragraph("sentence", 1, 3)) for _ in range(self.rng.randint(4, 8))]
                self._article(link, body, charset="windows-1252", declared="header", language="fr")

    @staticmethod
    def _section_path(section: str, number: int) -> str:
        return f"/section/{section.lower()}/" + (f"page/{number + 1}/" if number else "")

    def _story(self, bound: dict[str, str]) -> list[Node]:
        prose, rng = self.prose, self.rng
        out = [el("p.standfirst", prose.say("lead", bound) + " " + prose.say("sentence", bound))]
        for number in range(rng.randint(4, 11)):
            name = "quote" if number % 3 == 1 else "sentence"
            out.append(self.paragraph(prose.paragraph(name, 1, 1 if name == "quote" else 3, bound), self.links))
            if rng.random() < 0.15:
                out.append(el("h2", prose.fill("[subhead]", bound)))
                out.append(self.paragraph(prose.paragraph("sentence", 2, 4, bound)))
            if rng.random() < 0.08:
                out.append(markup("<blockquote><p>{}</p></blockquote>", prose.say("quote", bound)))
            if rng.random() < 0.07:
                out.append(items("ul", (prose.say("sentence", bound) for _ in range(rng.randint(2, 4)))))
        return [*out, el("p", prose.say("closing", bound))]

    def _article(self, link: Link, body: list[Node], **writing: Unpack[Writing]) -> None:
        rng, when = self.rng, self.moment()
        picture = markup(
            """
            <div class=art-img><img src=/static/picture.png?v={} width=640 height=400 alt="{}">
            <span>{}</span></div>""",
            *(self.token(8), link.title),
            self.prose.fill("[caption]", {"body": "the board", "critic": self.prose.raw("[person]")}),
        )
        share = "<a class=shr href=https://{}.example/share?u={} rel=nofollow>{}</a>"
        shares = [
            markup(share, name.lower(), self.token(12), name) for name in ("Facebook", "Mastodon", "WhatsApp", "Email")
        ]
        article = markup(
            """
            <div class="col-main article" id=main><h1 class=headline content>{2}</h1>
            <div class=meta content><span class=byline>By {1}</span> <span class=dt>{3:%d %B %Y, %H:%M}</span></div>
            <div class="share-bar clearfix" template>{4}</div>
            <div class=txt id=txt-{7} content>{5}{6}</div>
            <div class=ad-slot data-slot=mpu-{8} data-nonce={9}>Advertisement</div>
            <div class=txt content>{10}</div>
            <div class="related box" template><div class=hd>Related stories</div><ul>{0}</ul></div></div>""",
            *(listed(self.others(self.links, 4, link)), self.prose.raw("[person]"), link.title, when, shares, picture),
            *(body[:3], self.token(6), rng.randrange(9), self.token(), body[3:]),
        )
        self.publish(link.path, "article", _TITLE.format(link.title), article, self.section_of[link.path], **writing)

    def _listing(self, path: str, title: str, links: Sequence[Link], active: str, more: str | None = None) -> None:
        teaser = "<div class=teaser><h3>{}</h3><p>{}</p></div>"
        teasers = [markup(teaser, a(link), self.prose.say("sentence", self._loose())) for link in links]
        main = markup(
            "<div class=col-main id=main><h1 content>{}</h1><div class=list content>{}</div>{}</div>",
            *(title, teasers),
            markup("<div class=pager><a href={}>Older stories</a></div>", more) if more else None,
        )
        self.publish(path, "listing", _TITLE.format(title), main, active)

    def _loose(self) -> dict[str, str]:
        raw = self.prose.raw
        return {"leader": raw("[person]"), "critic": raw("[person]"), "town": raw("[place]")}

    def _head(self) -> list[Node]:
        rng = self.rng
        return [
            el("meta", name="csrf-token", content=self.token()),
            el("link", rel="stylesheet", href=f"/static/site.css?v={self.token(10)}"),
            el("script", f"var page = {{ts: {rng.randrange(10**9)}, n: '{self.token()}'}};", nonce=self.token(16)),
        ]

    def _frame(self, main: Node, active: str) -> Node:
        rng, when = self.rng, self.moment()
        menu = [
            el("li", el("a", name, href=self._section_path(name, 0)), class_="active" if name == active else None)
            for name in SECTIONS
        ]
        return markup(
            """
            <body data-session={17} template>
            <div id=cookie data-consent={7}><p>We use cookies to remember you. By reading on you agree.</p>
            <button>Accept all</button></div>
            <!--edge node {8}-->
            <div id=topbar><span>{9:%A %d %B %Y}</span> <span>Saltby {10}°C</span>
            <a href=/login?next={11}>Log in</a></div>
            <div id=header><a href=/>
            <img src=/static/logo.png alt="The Saltby Courier" width=180 height=60></a>
            <div id=nav><ul>{12}</ul></div></div>
            <div id=ticker><b>Breaking:</b> {0}</div>
            <div id=wrap class="page p{15}">
            <div class=crumbs><a href=/>Home</a> \u203a {13}</div>{14}
            <div class=col-side><div class=box id=mostread><div class=hd>Most read</div><ol>{1}</ol></div>
            <div class=box><div class=hd>The morning briefing</div>
            <form action=/login><label>Your e-mail</label><input type=text name=mail>
            <input type=hidden name=_csrf value={2}><button>Sign up</button></form></div>
            <div class="box promo"><p>{3}</p></div></div></div>
            <div id=footer>
            <ul><li><a href=/>Contact</a></li><li><a href=/>Privacy</a></li><li><a href=/>Corrections</a></li>
            <li><a href=/>Jobs</a></li></ul><ul>{4}</ul>
            <p>\u00a9 2026 The Saltby Courier Ltd. All rights reserved. Registered in England.</p>
            <p class=built>Page built {5:%a %d %b %Y %H:%M:%S} GMT in {6:.3f} s</p></div>
            <script>track('{16}')</script></body>""",
            *([a(link) for link in self.others(self.links, 2)], listed(self.others(self.links, 5)), self.token()),
            *(rng.choice(PROMOTIONS), listed(self.extras), when, rng.uniform(0.01, 0.4)),
            *(self.token(16), rng.randrange(40), when, rng.randint(-2, 24), self.token(8), menu, active or "News"),
            *(main, rng.randrange(10**6), self.token(), self.token(20)),
        )
