"""The theme of the blog: menu, widgets, footer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demo.hosts.parts import Link, a, moment, others, token
from demo.nodes import Node, el, items

if TYPE_CHECKING:
    import random

    from demo.prose import Prose

CATEGORIES = ("Soups", "Bread", "Journeys", "Preserves", "Letters")
TAGS = (
    "winter",
    "market",
    "slow",
    "five ingredients",
    "train",
    "neighbours",
    "failures",
    "picnic",
    "stock",
    "yeast",
    "foraging",
)
PROMOTIONS = (
    "My book, A Bowl and the Radio, is out in paperback.",
    "Supper club in November: three chairs left.",
    "Support this kitchen with the price of an onion.",
    "The tea towels are back in stock.",
)


class BlogTheme:
    """Puts the blog's furniture around what is on a page."""

    rng: random.Random
    prose: Prose
    links: list[Link]
    extras: list[Link]

    def _head(self) -> list[Node]:
        rng = self.rng
        return [
            el("link", rel="stylesheet", href=f"/static/site.css?ver=6.{rng.randint(1, 9)}.{rng.randint(1, 9)}"),
            el("script", f'window._wpemojiSettings = {{"source": "{token(rng, 8)}"}};'),
        ]

    def _frame(self, active: str, main: Node) -> Node:
        rng = self.rng
        menu = [
            el(
                "li",
                el("a", name, href=f"/category/{name.lower()}/"),
                class_=f"menu-item menu-item-{number + 30}" + (" current-menu-item" if name == active else ""),
            )
            for number, name in enumerate(CATEGORIES)
        ]
        recent = items("ul", (a(link) for link in others(rng, self.links, 5)))
        cloud = el("div.tagcloud", *(el("a.tag-cloud-link", name, href="/") for name in rng.sample(TAGS, 7)))
        talk = el(
            "ul",
            *(el("li", el("span", self.prose.raw("[first]")), " on ", a(link)) for link in others(rng, self.links, 3)),
        )
        widgets = el(
            "aside#secondary.widget-area",
            el(
                "section.widget.widget_text",
                el("h2", "About"),
                el("p", "I am Odile. I cook slowly, travel by train and answer most letters."),
            ),
            el("section.widget.widget_recent_entries", el("h2", "Recent posts"), recent),
            el("section.widget.widget_recent_comments", el("h2", "Recent comments"), talk),
            el("section.widget.promo", el("p", rng.choice(PROMOTIONS)), id=f"custom_html-{rng.randrange(99)}"),
            el("section.widget.widget_tag_cloud", el("h2", "Tags"), cloud),
        )
        return el(
            "body",
            el("a.skip-link.screen-reader-text", "Skip to content", href="#content"),
            el(
                "header#masthead",
                el("p.site-title", el("a", "A Bowl and the Radio", href="/")),
                el("p.site-description", "Suppers, trains, weather"),
                el("nav.main-navigation", el("button", "Menu"), el("ul.menu", *menu)),
            ),
            el("div.site-content", el("main#content", main), widgets),
            el(
                "footer#colophon",
                el("p", "Proudly powered by butter."),
                items("ul", (a(link) for link in self.extras)),
                el("p.site-info", f"Cached {moment(rng):%Y-%m-%d %H:%M:%S}, {rng.randint(20, 90)} queries"),
            ),
            template=True,
            class_=f"post-template-default single postid-{rng.randrange(9999)}",
        )
