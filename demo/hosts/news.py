"""A local newspaper: div soup, a ticker, sidebars that change from page to page."""

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


class News:
    """Builds the newspaper."""

    def __init__(self, site: Site, pages: int) -> None:
        self.site, self.rng = site, site.rng
        self.prose = Prose(self.rng, "names", "news")
        self.french = Prose(self.rng, "names", "french", english=False)
        self.subjects: list[dict[str, str]] = []
        titles = unique_titles(pages - 1 - FRENCH_PAGES, self._new_title)
        titles += unique_titles(FRENCH_PAGES, lambda: self.french.fill("[title]"))
        titles.append(STORY_TITLE)
        self.links = [
            Link(f"/{2026}/{self.rng.randint(1, 12):02}/{slug(title)}-{48000 + number}.html", title)
            for number, title in enumerate(titles)
        ]
        self.section_of = {link.path: SECTIONS[number % len(SECTIONS)] for number, link in enumerate(self.links)}

    def _new_title(self) -> str:
        raw, anyone = self.prose.raw, "[first] [last]"
        bound = {name: raw(f"[{name}]") for name in ("subject", "body", "role", "trade")}
        bound |= {"leader": raw(anyone), "critic": raw(anyone), "town": raw("[place]")}
        title = self.prose.fill("[headline]", bound)
        self.subjects.append({**bound, "title": title})
        return title

    def build(self) -> None:
        """Add every page of the newspaper."""
        site = self.site
        lost = el(
            "div", el("h1", "Page not found"), el("p", "The story you are looking for has sailed."), template=False
        )
        hidden = el("div", el("h1", "Drafts"), el("p", "Nothing here is meant for robots."), template=False)
        self.extras: list[Link] = []
        extras = odds_and_ends(
            site, moved=self.links[0], rgb=(30, 60, 90), hidden=self._frame("", hidden), lost=self._frame("", lost)
        )
        self.extras = extras
        self._listing("/", "Front page", self.links[-14:], "")
        for section in SECTIONS:
            members = [link for link in self.links if self.section_of[link.path] == section]
            parts = chunks(members, 10)
            for number, part in enumerate(parts):
                path = self._section_path(section, number)
                more = self._section_path(section, number + 1) if number + 1 < len(parts) else None
                self._listing(path, section, part, section, more)
        bound_of = {bound["title"]: bound for bound in self.subjects}
        for number, link in enumerate(self.links):
            bound = bound_of.get(link.title)
            if bound is not None:
                self._article(link, self._story(bound), broken=number % 9 == 4)
            elif link.title == STORY_TITLE:
                self._article(link, [el("p", text) for text in STORY_PARAGRAPHS], story=STORY_ID)
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
            out.append(paragraph(rng, prose.paragraph(name, 1, 1 if name == "quote" else 3, bound), self.links))
            if rng.random() < 0.15:
                out.append(el("h2", prose.fill("[subhead]", bound)))
                out.append(paragraph(rng, prose.paragraph("sentence", 2, 4, bound)))
            if rng.random() < 0.08:
                out.append(el("blockquote", el("p", prose.say("quote", bound))))
            if rng.random() < 0.07:
                out.append(items("ul", (prose.say("sentence", bound) for _ in range(rng.randint(2, 4)))))
        return [*out, el("p", prose.say("closing", bound))]

    def _article(self, link: Link, body: list[Node], **writing: Unpack[Writing]) -> None:
        rng, when = self.rng, moment(self.rng)
        picture = el(
            "div.art-img",
            el("img", src=f"/static/picture.png?v={token(rng, 8)}", width=640, height=400, alt=link.title),
            el("span", self.prose.fill("[caption]", {"body": "the board", "critic": self.prose.raw("[person]")})),
        )
        share = el(
            "div.share-bar.clearfix",
            *(
                el("a.shr", name, href=f"https://{name.lower()}.example/share?u={token(rng, 12)}", rel="nofollow")
                for name in ("Facebook", "Mastodon", "WhatsApp", "Email")
            ),
            template=True,
        )
        related = el(
            "div.related.box",
            el("div.hd", "Related stories"),
            items("ul", (a(other) for other in others(rng, self.links, 4, link))),
            template=True,
        )
        author = self.prose.raw("[person]")
        article = el(
            "div.col-main.article#main",
            el("h1.headline", link.title, template=False),
            el(
                "div.meta",
                el("span.byline", f"By {author}"),
                " ",
                el("span.dt", f"{when:%d %B %Y, %H:%M}"),
                template=False,
            ),
            share,
            el("div.txt", picture, *body[:3], id=f"txt-{token(rng, 6)}", template=False),
            el("div.ad-slot", "Advertisement", data_slot=f"mpu-{rng.randrange(9)}", data_nonce=token(rng)),
            el("div.txt", *body[3:], template=False),
            related,
        )
        section = self.section_of[link.path]
        self.site.page(
            link.path,
            "article",
            f"{link.title} - The Saltby Courier",
            self._frame(section, article),
            head=self._head(),
            **writing,
        )

    def _listing(self, path: str, title: str, links: Sequence[Link], active: str, more: str | None = None) -> None:
        teasers = [
            el("div.teaser", el("h3", a(link)), el("p", self.prose.say("sentence", self._loose()))) for link in links
        ]
        main = el(
            "div.col-main#main",
            el("h1", title, template=False),
            el("div.list", *teasers, template=False),
            el("div.pager", el("a", "Older stories", href=more)) if more else None,
        )
        self.site.page(path, "listing", f"{title} - The Saltby Courier", self._frame(active, main), head=self._head())

    def _loose(self) -> dict[str, str]:
        raw = self.prose.raw
        return {"leader": raw("[person]"), "critic": raw("[person]"), "town": raw("[place]")}

    def _head(self) -> list[Node]:
        rng = self.rng
        return [
            el("meta", name="csrf-token", content=token(rng)),
            el("link", rel="stylesheet", href=f"/static/site.css?v={token(rng, 10)}"),
            el("script", f"var page = {{ts: {rng.randrange(10**9)}, n: '{token(rng)}'}};", nonce=token(rng, 16)),
        ]

    def _frame(self, active: str, main: Node) -> Node:
        rng, when = self.rng, moment(self.rng)
        menu = [
            el("li", el("a", name, href=self._section_path(name, 0)), class_="active" if name == active else None)
            for name in SECTIONS
        ]
        ticker = [el("a", link.title, href=link.path) for link in others(rng, self.links, 2)]
        crumbs = el("div.crumbs", el("a", "Home", href="/"), " \u203a ", active or "News")
        most_read = items("ol", (a(link) for link in others(rng, self.links, 5)))
        newsletter = el(
            "form",
            el("label", "Your e-mail"),
            el("input", type="text", name="mail"),
            el("input", type="hidden", name="_csrf", value=token(rng)),
            el("button", "Sign up"),
            action="/login",
        )
        side = el(
            "div.col-side",
            el("div.box#mostread", el("div.hd", "Most read"), most_read),
            el("div.box", el("div.hd", "The morning briefing"), newsletter),
            el("div.box.promo", el("p", rng.choice(PROMOTIONS))),
        )
        footer = el(
            "div#footer",
            items("ul", (el("a", name, href="/") for name in ("Contact", "Privacy", "Corrections", "Jobs"))),
            items("ul", (a(link) for link in self.extras)),
            el("p", "\u00a9 2026 The Saltby Courier Ltd. All rights reserved. Registered in England."),
            el("p.built", f"Page built {when:%a %d %b %Y %H:%M:%S} GMT in {rng.uniform(0.01, 0.4):.3f} s"),
        )
        return el(
            "body",
            el(
                "div#cookie",
                el("p", "We use cookies to remember you. By reading on you agree."),
                el("button", "Accept all"),
                data_consent=token(rng, 16),
            ),
            comment(f"edge node {rng.randrange(40)}"),
            el(
                "div#topbar",
                el("span", f"{when:%A %d %B %Y}"),
                " ",
                el("span", f"Saltby {rng.randint(-2, 24)}°C"),
                el("a", "Log in", href=f"/login?next={token(rng, 8)}"),
            ),
            el(
                "div#header",
                el("a", el("img", src="/static/logo.png", alt="The Saltby Courier", width=180, height=60), href="/"),
                el("div#nav", el("ul", *menu)),
            ),
            el("div#ticker", el("b", "Breaking:"), " ", *ticker),
            el("div#wrap", crumbs, main, side, class_=f"page p{rng.randrange(10**6)}"),
            footer,
            el("script", f"track('{token(rng)}')"),
            template=True,
            data_session=token(rng, 20),
        )


def build(site: Site, pages: int) -> None:
    """Add the newspaper's pages, ``pages`` of them articles."""
    News(site, pages).build()
