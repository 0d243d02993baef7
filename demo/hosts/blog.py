"""A kitchen and travel blog in WordPress's markup: widgets, tags, comments; some posts in undeclared UTF-8."""

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
from demo.nodes import Node, el, items
from demo.prose import Prose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demo.site import Site, Writing

POLISH_POSTS = 4
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


class Blog:
    """Builds the blog."""

    def __init__(self, site: Site, pages: int) -> None:
        self.site, self.rng = site, site.rng
        self.prose = Prose(self.rng, "names", "blog")
        self.polish = Prose(self.rng, "names", "polish", english=False)
        self.bound: dict[str, dict[str, str]] = {}
        titles = unique_titles(pages - 1 - POLISH_POSTS, self._title)
        titles += unique_titles(POLISH_POSTS, lambda: self.polish.fill("[title]"))
        titles.insert(pages // 2, STORY_TITLE)
        self.links = [
            Link(f"/2026/{self.rng.randint(1, 12):02}/{self.rng.randint(1, 28):02}/{slug(title)}-{number}/", title)
            for number, title in enumerate(titles)
        ]
        self.extras: list[Link] = []

    def _title(self) -> str:
        raw = self.prose.raw
        bound = {"dish": raw("[dish]"), "place": raw("[place]"), "friend": raw("[first]")}
        title = self.prose.fill("[title]", bound)
        self.bound[title] = bound
        return title

    def build(self) -> None:
        """Add every page of the blog."""
        lost = el(
            "article", el("h1", "Nothing found"), el("p", "It seems the cat has eaten this page."), template=False
        )
        hidden = el("article", el("h1", "Drafts"), el("p", "Not for robots."), template=False)
        self.extras = odds_and_ends(
            self.site,
            moved=self.links[0],
            rgb=(150, 60, 70),
            hidden=self._frame("", hidden),
            lost=self._frame("", lost),
        )
        parts = chunks(self.links, 9)
        for number, part in enumerate(parts):
            path = f"/page/{number + 1}/" if number else "/"
            self._listing(path, part, f"/page/{number + 2}/" if number + 1 < len(parts) else None)
        size = -(-len(self.links) // len(CATEGORIES))
        for category, members in zip(CATEGORIES, chunks(self.links, size), strict=False):
            self._listing(f"/category/{category.lower()}/", members[:8], None, category)
            for link in members:
                self._post(link, category)

    def _post(self, link: Link, category: str) -> None:
        rng, number = self.rng, self.links.index(link)
        bound = self.bound.get(link.title)
        if link.title == STORY_TITLE:
            self._entry(link, category, [el("p", text) for text in STORY_PARAGRAPHS], comments=1, story=STORY_ID)
        elif bound is None:
            body = [el("p", self.polish.paragraph("sentence", 1, 3)) for _ in range(rng.randint(4, 7))]
            self._entry(link, category, body, comments=0, declared="nowhere", language="pl")
        else:
            self._entry(link, category, self._text(bound), comments=rng.randint(0, 5), broken=number % 8 == 5)

    def _text(self, bound: dict[str, str]) -> list[Node]:
        rng, prose = self.rng, self.prose
        out = [el("p", prose.say("opening", bound) + " " + prose.say("sentence", bound))]
        for _ in range(rng.randint(3, 8)):
            out.append(paragraph(rng, prose.paragraph("sentence", 1, 4, bound), self.links))
            if rng.random() < 0.15:
                picture = el(
                    "img",
                    src="/static/picture.png",
                    width=640,
                    height=400,
                    alt="",
                    class_=f"wp-image-{rng.randrange(9999)}",
                )
                out.append(
                    el("figure.wp-block-image", picture, el("figcaption", prose.fill("[place], [month]. [dish].")))
                )
            if rng.random() < 0.15:
                out.append(el("h3", prose.fill("[subhead]", bound)))
        if rng.random() < 0.5:
            out.append(el("h3", prose.fill("For the [dish]", bound)))
            out.append(items("ul", (prose.say("ingredient") for _ in range(rng.randint(4, 8)))))
            out.append(items("ol", (prose.say("step") for _ in range(rng.randint(3, 6)))))
        return out

    def _entry(self, link: Link, category: str, text: list[Node], *, comments: int, **writing: Unpack[Writing]) -> None:
        rng, when = self.rng, moment(self.rng)
        meta = el(
            "div.entry-meta",
            el("span.posted-on", f"{when:%B %d, %Y}"),
            " ",
            el("span.byline", "by Odile Ravensworth"),
            template=False,
        )
        share = el(
            "div.sharedaddy.sd-sharing-enabled",
            el("h3", "Share this:"),
            items(
                "ul",
                (
                    el("a", name, href=f"/login?share={name}&nb={rng.randrange(2)}")
                    for name in ("Twitter", "Print", "Email")
                ),
            ),
            template=True,
        )
        related = el(
            "div.jp-relatedposts",
            el("h3", "Related"),
            el(
                "div",
                *(
                    el("p", a(other), el("span", f" {moment(rng):%B %d, %Y}"))
                    for other in others(rng, self.links, 3, link)
                ),
            ),
            template=True,
        )
        foot = el(
            "footer.entry-footer",
            "Posted in ",
            el("a", category, href=f"/category/{category.lower()}/", rel="category"),
            " and tagged ",
            *(el("a", name, href="/", rel="tag") for name in rng.sample(TAGS, 3)),
        )
        article = el(
            "article",
            el("header.entry-header", el("h1.entry-title", link.title, template=False), meta),
            el("div.entry-content", el("div", *text, template=False), share, related),
            foot,
            id=f"post-{rng.randint(100, 9999)}",
            class_=f"post type-post format-standard category-{category.lower()}",
        )
        said = [self._comment() for _ in range(comments)]
        heading = "One thought" if comments == 1 else f"{comments} thoughts"
        discussion = (
            el(
                "div.comments-area",
                el("h2", f"{heading} on \u201c{link.title}\u201d"),
                el("ol.comment-list", *said),
                template=False,
            )
            if said
            else None
        )
        form = el(
            "div#respond",
            el("h3", "Leave a reply"),
            el(
                "form",
                el("p", "Your email address will not be published. Required fields are marked *"),
                el("textarea", name="comment"),
                el("input", type="hidden", name="akismet_nonce", value=token(rng, 10)),
                el("button", "Post Comment"),
                action="/login",
            ),
        )
        main = el("div", article, self._turn(link), discussion, form)
        self.site.page(
            link.path,
            "article",
            f"{link.title} \u2013 A Bowl and the Radio",
            self._frame(category, main),
            head=self._head(),
            **writing,
        )

    def _turn(self, link: Link) -> Node:
        where = self.links.index(link)
        before = self.links[where - 1] if where else None
        after = self.links[where + 1] if where + 1 < len(self.links) else None
        return el(
            "nav.navigation.post-navigation",
            el("h2.screen-reader-text", "Post navigation"),
            el("div", el("a", f"\u2190 {before.title}", href=before.path, rel="prev")) if before else None,
            el("div", el("a", f"{after.title} \u2192", href=after.path, rel="next")) if after else None,
        )

    def _comment(self) -> Node:
        rng, prose = self.rng, self.prose
        reader = prose.raw("[first]")
        node = el(
            "li.comment",
            el("div.comment-author", el("b.fn", prose.raw(f"{reader} [last]")), el("span.says", " says:")),
            el("div.comment-metadata", f"{moment(rng):%B %d, %Y at %I:%M %p}"),
            el("p", prose.say("comment")),
            el("a.comment-reply-link", "Reply", href=f"/login?replytocom={rng.randrange(9999)}", template=True),
            id=f"comment-{rng.randrange(99999)}",
        )
        if rng.random() < 0.3:
            answer = el("p", prose.say("reply", {"first": reader}))
            node.add(el("ol.children", el("li", el("b.fn", "Odile"), answer)))
        return node

    def _listing(self, path: str, links: Sequence[Link], more: str | None, category: str = "") -> None:
        entries = [
            el(
                "article.post",
                el("h2.entry-title", a(link)),
                el("p", f"{moment(self.rng):%B %d, %Y}"),
                el("div.entry-summary", el("p", self.prose.say("sentence"))),
            )
            for link in links
        ]
        title = f"Category: {category}" if category else "Latest posts"
        older = el("nav.navigation", el("a", "Older posts", href=more)) if more else None
        main = el("div", el("h1.page-title", title, template=False), el("div", *entries, template=False), older)
        self.site.page(
            path, "listing", f"{title} \u2013 A Bowl and the Radio", self._frame(category, main), head=self._head()
        )

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


def build(site: Site, pages: int) -> None:
    """Add the blog's pages, ``pages`` of them posts."""
    Blog(site, pages).build()
