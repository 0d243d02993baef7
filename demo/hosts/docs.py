"""Documentation of a library in Sphinx's markup, with translations in Shift_JIS and GB18030."""

from __future__ import annotations

import html
import posixpath
from typing import TYPE_CHECKING

from demo.hosts.parts import Link, a, chunks, moment, odds_and_ends, paragraph, slug, token, unique_titles
from demo.nodes import Node, el, items
from demo.prose import Prose, read_grammar

if TYPE_CHECKING:
    from demo.site import Site

CHAPTERS = ("Tutorial", "Guides", "Operations", "API reference", "Internals")
TRANSLATED = 5
SPONSORS = (
    "Tidepool is sponsored by Skerry Bay Hosting.",
    "Learn Tidepool in a day: workshop in Saltby.",
    "Read the Tidepool handbook, second edition.",
    "Need support? Ask the maintainers.",
)
CODE_SAMPLES = read_grammar("docs")["code"]


class Docs:
    """Builds the documentation."""

    def __init__(self, site: Site, pages: int) -> None:
        self.site, self.rng = site, site.rng
        self.prose = Prose(self.rng, "names", "docs")
        self.japanese = Prose(self.rng, "japanese", english=False, spaces=False)
        self.chinese = Prose(self.rng, "chinese", english=False, spaces=False)
        titles = unique_titles(pages - 2 * TRANSLATED, lambda: self.prose.fill("[title]"))
        size = -(-len(titles) // len(CHAPTERS))
        self.chapters = {
            chapter: [Link(f"/en/stable/{slug(chapter)}/{slug(title)}.html", title) for title in part]
            for chapter, part in zip(CHAPTERS, chunks(titles, size), strict=False)
        }
        self.order = [link for part in self.chapters.values() for link in part]
        self.ja = self._translated("ja", self.japanese)
        self.zh = self._translated("zh", self.chinese)
        self.extras: list[Link] = []

    @staticmethod
    def _translated(language: str, prose: Prose) -> list[Link]:
        titles = unique_titles(TRANSLATED, lambda: prose.fill("[title]"))
        return [Link(f"/{language}/stable/page{number}.html", title) for number, title in enumerate(titles, start=1)]

    def build(self) -> None:
        """Add every page of the documentation."""
        lost = el("div", el("h1", "404"), el("p", "This page has been moved by the tide."), template=False)
        hidden = el("div", el("h1", "Nightly build"), el("p", "Not for robots."), template=False)
        self.extras = odds_and_ends(
            self.site,
            moved=self.order[0],
            rgb=(20, 110, 120),
            hidden=self._frame(None, "/private/drafts", hidden),
            lost=self._frame(None, "/404", lost),
        )
        self._index(
            "/", "Tidepool documentation", [part[0] for part in self.chapters.values()] + [self.ja[0], self.zh[0]]
        )
        for chapter, part in self.chapters.items():
            self._index(f"/en/stable/{slug(chapter)}/", chapter, part)
        for number, link in enumerate(self.order):
            self._page(link, broken=number % 10 == 6)
        for prose, links, charset, declared, language in (
            (self.japanese, self.ja, "shift_jis", "meta", "ja"),
            (self.chinese, self.zh, "gb18030", "header", "zh"),
        ):
            for link in links:
                body = self._foreign(link, prose, links)
                self.site.page(
                    link.path,
                    "article",
                    f"{link.title} \u2014 Tidepool",
                    self._frame(None, link.path, body),
                    charset=charset,
                    declared=declared,
                    language=language,
                    head=self._head(),
                )

    def _index(self, path: str, title: str, links: list[Link]) -> None:
        entries = el("ul", *(el("li", a(link), " \u2014 ", self.prose.say("intro")) for link in links))
        main = el(
            "div",
            el("h1", title),
            el("p", self.prose.say("sentence")),
            el("div.toctree-wrapper", entries),
            template=False,
            itemprop="articleBody",
        )
        self.site.page(path, "listing", f"{title} \u2014 Tidepool", self._frame(None, path, main), head=self._head())

    def _page(self, link: Link, *, broken: bool) -> None:
        rng, prose = self.rng, self.prose
        main = el(
            "section",
            self._heading("h1", link.title),
            el("p", prose.paragraph("intro", 1, 2)),
            id=slug(link.title),
            template=False,
            itemprop="articleBody",
        )
        for _ in range(rng.randint(2, 5)):
            title = prose.fill("[section]")
            section = el("section", self._heading("h2", title), id=f"{slug(title)}-{rng.randrange(99)}")
            section.add(
                *(paragraph(rng, prose.paragraph("sentence", 2, 4), self.order) for _ in range(rng.randint(1, 3)))
            )
            section.add(self._extra())
            main.add(section)
        body = self._frame(link, link.path, main)
        self.site.page(
            link.path, "article", f"{link.title} \u2014 Tidepool 4.2", body, head=self._head(), broken=broken
        )

    @staticmethod
    def _heading(tag: str, title: str) -> Node:
        return el(tag, title, el("a.headerlink", "\u00b6", href=f"#{slug(title)}", template=True))

    def _extra(self) -> Node:
        rng, prose = self.rng, self.prose
        choice = rng.choice(("code", "code", "options", "note", "signature", "list"))
        if choice == "code":
            return self._code()
        if choice == "options":
            head = el("tr", el("th", "Option"), el("th", "Default"), el("th", "Meaning"))
            rows = [
                el(
                    "tr",
                    el("td", el("code", prose.raw("[option]"))),
                    el("td", str(rng.randint(0, 900))),
                    el("td", prose.fill("[option_text]")),
                )
                for _ in range(rng.randint(3, 6))
            ]
            return el("table.docutils.align-default", head, *rows)
        if choice == "note":
            kind = rng.choice(("Note", "Warning"))
            return el(
                "div", el("p.admonition-title", kind), el("p", prose.say("note")), class_=f"admonition {kind.lower()}"
            )
        if choice == "signature":
            bound = {"verb": prose.raw("[verb]"), "option": prose.raw("[option]"), "noun": prose.raw("[noun]")}
            call = el(
                "dt.sig.sig-object.py", el("code", prose.raw("Pool.[verb]_[noun]([noun], *, [option]=None)", bound))
            )
            meaning = el(
                "dd", el("p", prose.say("docstring", bound)), el("p", prose.paragraph("sentence", 1, 2, bound))
            )
            return el("dl.py.method", call, meaning)
        return items("ul", (prose.say("sentence") for _ in range(rng.randint(3, 5))))

    def _code(self) -> Node:
        raw = self.prose.raw
        bound = {"verb": raw("[verb]"), "noun": raw("[noun]"), "option": raw("[option]")}
        code = raw(self.rng.choice(CODE_SAMPLES), bound) + "\n"
        return el("div.highlight-python.notranslate", el("div.highlight", el("pre", code)))

    def _foreign(self, link: Link, prose: Prose, links: list[Link]) -> Node:
        rng = self.rng
        main = el("section", el("h1", link.title), template=False, itemprop="articleBody")
        for _ in range(rng.randint(4, 7)):
            main.add(el("p", prose.paragraph("sentence", 2, 4)))
        main.add(self._code(), el("p", prose.paragraph("sentence", 2, 3)))
        rest = items("ul.toctree-l1", (a(other) for other in links), template=True)
        return el("div", main, rest)

    def _head(self) -> list[Node]:
        return [
            el("link", rel="stylesheet", href=f"/static/site.css?digest={token(self.rng, 40)}"),
            el("script", "document.documentElement.classList.add('js');"),
        ]

    def _frame(self, current: Link | None, path: str, main: Node) -> Node:
        rng = self.rng
        menu = el("ul.toctree")
        for chapter, part in self.chapters.items():
            inside = current in part
            entry = el(
                "li",
                el("a", chapter, href=f"/en/stable/{slug(chapter)}/"),
                class_="toctree-l1" + (" current" if inside else ""),
            )
            if inside:
                entry.add(el("ul", *(self._entry(link, current, path) for link in part)))
            menu.add(entry)
        where = self.order.index(current) if current else None
        before = self.order[where - 1] if where else None
        after = self.order[where + 1] if where is not None and where + 1 < len(self.order) else None
        turn = el(
            "div.rst-footer-buttons",
            el("a", el("span", "Previous"), " ", before.title, href=before.path, rel="prev") if before else None,
            el("a", el("span", "Next"), " ", after.title, href=after.path, rel="next") if after else None,
        )
        trail = el(
            "ul.wy-breadcrumbs",
            el("li", el("a", "Docs", href="/"), " \u00bb"),
            el("li", current.title if current else "Contents"),
        )
        return el(
            "body.wy-body-for-nav",
            el(
                "nav.wy-nav-side",
                el(
                    "div.wy-side-nav-search",
                    el("a.icon.icon-home", "Tidepool", href="/"),
                    el("div.version", "stable 4.2"),
                    el(
                        "form",
                        el("input", name="q", placeholder="Search docs"),
                        el("input", type="hidden", name="check_keywords", value="yes"),
                        action="/private/search",
                    ),
                ),
                el("div.wy-menu.wy-menu-vertical", menu),
                el("p.sponsor.promo", rng.choice(SPONSORS), data_campaign=token(rng, 8)),
                el(
                    "p",
                    "Languages: ",
                    el("a", "English", href="/"),
                    " ",
                    el("a", "日本語", href=self.ja[0].path),
                    " ",
                    el("a", "中文", href=self.zh[0].path),
                ),
            ),
            el(
                "div.wy-nav-content",
                el(
                    "div",
                    trail,
                    el("a", "Edit on forge", href=f"https://forge.example/edit{html.escape(path)}"),
                    role="navigation",
                ),
                el("div.document", main, role="main"),
                turn,
                el(
                    "footer",
                    el("p", "\u00a9 Copyright 2019\u20132026, Tidepool contributors."),
                    el(
                        "p",
                        f"Last updated on {moment(rng):%b %d, %Y at %H:%M:%S}. Revision ",
                        el("code", token(rng, 7)),
                        ".",
                    ),
                    items("ul", (a(link) for link in self.extras)),
                ),
            ),
            template=True,
        )

    @staticmethod
    def _entry(link: Link, current: Link | None, path: str) -> Node:
        href = posixpath.relpath(link.path, posixpath.dirname(path))
        return el(
            "li.toctree-l2",
            el(
                "a",
                link.title,
                href=href,
                class_="current reference internal" if link == current else "reference internal",
            ),
        )


def build(site: Site, pages: int) -> None:
    """Add the documentation's pages, ``pages`` of them in all languages together."""
    Docs(site, pages).build()
