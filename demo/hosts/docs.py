"""Documentation of a library in Sphinx's markup, with translations in Shift_JIS and GB18030."""

from __future__ import annotations

import posixpath
from html import escape
from typing import TYPE_CHECKING

from demo.hosts.parts import Host, Link, a, chunks, listed, slug, unique_titles
from demo.nodes import Node, el, items, markup
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


class Docs(Host):
    """Builds the documentation."""

    def __init__(self, site: Site, pages: int) -> None:
        super().__init__(site, "names", "docs")
        self.japanese = Prose(self.rng, "japanese", english=False, spaces=False)
        self.chinese = Prose(self.rng, "chinese", english=False, spaces=False)
        titles = unique_titles(pages - 2 * TRANSLATED, lambda: self.prose.fill("[title]"))
        size = -(-len(titles) // len(CHAPTERS))
        self.chapters = {
            chapter: [Link(f"/en/stable/{slug(chapter)}/{slug(title)}.html", title) for title in part]
            for chapter, part in zip(CHAPTERS, chunks(titles, size), strict=False)
        }
        self.order = [link for part in self.chapters.values() for link in part]
        self.ja, self.zh = self._translated("ja", self.japanese), self._translated("zh", self.chinese)

    @staticmethod
    def _translated(language: str, prose: Prose) -> list[Link]:
        titles = unique_titles(TRANSLATED, lambda: prose.fill("[title]"))
        return [Link(f"/{language}/stable/page{number}.html", title) for number, title in enumerate(titles, start=1)]

    def build(self) -> None:
        """Add every page of the documentation."""
        hidden = markup("<div content><h1>Nightly build</h1><p>Not for robots.</p></div>")
        lost = markup("<div content><h1>404</h1><p>This page has been moved by the tide.</p></div>")
        self.add_odds_and_ends(self.order[0], (20, 110, 120), hidden, lost, lambda path: (None, path))
        firsts = [part[0] for part in self.chapters.values()]
        self._index("/", "Tidepool documentation", [*firsts, self.ja[0], self.zh[0]])
        for chapter, part in self.chapters.items():
            self._index(f"/en/stable/{slug(chapter)}/", chapter, part)
        for number, link in enumerate(self.order):
            self._page(link, broken=number % 10 == 6)
        for prose, links, charset, declared, language in (
            (self.japanese, self.ja, "shift_jis", "meta", "ja"),
            (self.chinese, self.zh, "gb18030", "header", "zh"),
        ):
            for link in links:
                main, title = self._foreign(link, prose, links), f"{link.title} \u2014 Tidepool"
                written = {"charset": charset, "declared": declared, "language": language}
                self.publish(link.path, "article", title, main, None, link.path, **written)  # type: ignore[arg-type]

    def _index(self, path: str, title: str, links: list[Link]) -> None:
        entries = [markup("<li>{} \u2014 {}</li>", a(link), self.prose.say("intro")) for link in links]
        main = """
            <div itemprop=articleBody content><h1>{}</h1><p>{}</p><div class=toctree-wrapper><ul>{}</ul></div></div>"""
        self.publish(
            path,
            "listing",
            f"{title} \u2014 Tidepool",
            markup(main, title, self.prose.say("sentence"), entries),
            None,
            path,
        )

    def _page(self, link: Link, *, broken: bool) -> None:
        rng, prose = self.rng, self.prose
        main = markup(
            "<section id={} itemprop=articleBody content>{}<p>{}</p></section>",
            *(slug(link.title), self._heading("h1", link.title), prose.paragraph("intro", 1, 2)),
        )
        for _ in range(rng.randint(2, 5)):
            title = prose.fill("[section]")
            section = el("section", self._heading("h2", title), id=f"{slug(title)}-{rng.randrange(99)}")
            section.add(
                *(self.paragraph(prose.paragraph("sentence", 2, 4), self.order) for _ in range(rng.randint(1, 3)))
            )
            main.add(section.add(self._extra()))
        self.publish(link.path, "article", f"{link.title} \u2014 Tidepool 4.2", main, link, link.path, broken=broken)

    @staticmethod
    def _heading(tag: str, title: str) -> Node:
        return el(tag, title, el("a.headerlink", "\u00b6", href=f"#{slug(title)}", template=True))

    def _extra(self) -> Node:
        rng, prose = self.rng, self.prose
        choice = rng.choice(("code", "code", "options", "note", "signature", "list"))
        if choice == "code":
            return self._code()
        if choice == "options":
            row = "<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>"
            rows = [
                markup(row, prose.raw("[option]"), rng.randint(0, 900), prose.fill("[option_text]"))
                for _ in range(rng.randint(3, 6))
            ]
            head = "<tr><th>Option</th><th>Default</th><th>Meaning</th></tr>"
            return markup(f'<table class="docutils align-default">{head}{{}}</table>', rows)
        if choice == "note":
            kind = rng.choice(("Note", "Warning"))
            note = '<div class="admonition {}"><p class=admonition-title>{}</p><p>{}</p></div>'
            return markup(note, kind.lower(), kind, prose.say("note"))
        if choice == "signature":
            bound = {"verb": prose.raw("[verb]"), "option": prose.raw("[option]"), "noun": prose.raw("[noun]")}
            call = prose.raw("Pool.[verb]_[noun]([noun], *, [option]=None)", bound)
            return markup(
                """
                <dl class="py method"><dt class="sig sig-object py"><code>{}</code></dt>
                <dd><p>{}</p><p>{}</p></dd></dl>""",
                *(call, prose.say("docstring", bound), prose.paragraph("sentence", 1, 2, bound)),
            )
        return items("ul", (prose.say("sentence") for _ in range(rng.randint(3, 5))))

    def _code(self) -> Node:
        raw = self.prose.raw
        bound = {"verb": raw("[verb]"), "noun": raw("[noun]"), "option": raw("[option]")}
        code = raw(self.rng.choice(CODE_SAMPLES), bound) + "\n"
        return markup('<div class="highlight-python notranslate"><div class=highlight><pre>{}</pre></div></div>', code)

    def _foreign(self, link: Link, prose: Prose, links: list[Link]) -> Node:
        main = markup("<section itemprop=articleBody content><h1>{}</h1></section>", link.title)
        for _ in range(self.rng.randint(4, 7)):
            main.add(el("p", prose.paragraph("sentence", 2, 4)))
        main.add(self._code(), el("p", prose.paragraph("sentence", 2, 3)))
        return markup("<div>{}<ul class=toctree-l1 template>{}</ul></div>", main, listed(links))

    def _head(self) -> list[Node]:
        return [
            el("link", rel="stylesheet", href=f"/static/site.css?digest={self.token(40)}"),
            el("script", "document.documentElement.classList.add('js');"),
        ]

    def _frame(self, main: Node, current: Link | None, path: str) -> Node:
        rng = self.rng
        menu = []
        for chapter, part in self.chapters.items():
            entry = el("li", el("a", chapter, href=f"/en/stable/{slug(chapter)}/"), class_="toctree-l1")
            if current in part:
                entry = el("li", *entry.children, class_="toctree-l1 current")
                entry.add(el("ul", *(self._entry(link, current, path) for link in part)))
            menu.append(entry)
        where = self.order.index(current) if current else None
        before = self.order[where - 1] if where else None
        after = self.order[where + 1] if where is not None and where + 1 < len(self.order) else None
        turn = "<a href={1} rel=%s><span>%s</span> {0}</a>"
        return markup(
            """
            <body class=wy-body-for-nav template>
            <nav class=wy-nav-side>
            <div class=wy-side-nav-search><a class="icon icon-home" href=/>Tidepool</a>
            <div class=version>stable 4.2</div>
            <form action=/private/search><input name=q placeholder="Search docs">
            <input type=hidden name=check_keywords value=yes></form></div>
            <div class="wy-menu wy-menu-vertical"><ul class=toctree>{0}</ul></div>
            <p class="sponsor promo" data-campaign={2}>{1}</p>
            <p>Languages: <a href=/>English</a> <a href={3}>日本語</a> <a href={4}>中文</a></p></nav>
            <div class=wy-nav-content>
            <div role=navigation><ul class=wy-breadcrumbs><li><a href=/>Docs</a> \u00bb</li><li>{5}</li></ul>
            <a href=https://forge.example/edit{6}>Edit on forge</a></div>
            <div class=document role=main>{7}</div>
            <div class=rst-footer-buttons>{8}{9}</div>
            <footer><p>\u00a9 Copyright 2019\u20132026, Tidepool contributors.</p>
            <p>Last updated on {10:%b %d, %Y at %H:%M:%S}. Revision <code>{11}</code>.</p><ul>{12}</ul></footer>
            </div></body>""",
            *(menu, rng.choice(SPONSORS), self.token(8), self.ja[0].path, self.zh[0].path),
            *(current.title if current else "Contents", escape(path), main),
            markup(turn % ("prev", "Previous"), before.title, before.path) if before else None,
            markup(turn % ("next", "Next"), after.title, after.path) if after else None,
            *(self.moment(), self.token(7), listed(self.extras)),
        )

    @staticmethod
    def _entry(link: Link, current: Link | None, path: str) -> Node:
        kind = "current reference internal" if link == current else "reference internal"
        href = posixpath.relpath(link.path, posixpath.dirname(path))
        return markup('<li class=toctree-l2><a href={} class="{}">{}</a></li>', href, kind, link.title)
