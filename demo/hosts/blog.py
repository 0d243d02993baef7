"""A kitchen and travel blog in WordPress's markup: widgets, tags, comments; some posts in undeclared UTF-8."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from demo.hosts.parts import STORY_ID, STORY_TITLE, Host, Link, a, chunks, listed, slug, told_story, unique_titles
from demo.nodes import Node, el, items, markup
from demo.prose import Prose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demo.site import Site, Writing

POLISH_POSTS = 4
CATEGORIES = ("Soups", "Bread", "Journeys", "Preserves", "Letters")
TAGS = [
    *("winter", "market", "slow", "five ingredients", "train", "neighbours", "failures", "picnic", "stock", "yeast"),
    "foraging",
]
PROMOTIONS = (
    "My book, A Bowl and the Radio, is out in paperback.",
    "Supper club in November: three chairs left.",
    "Support this kitchen with the price of an onion.",
    "The tea towels are back in stock.",
)
_TITLE = "{} \u2013 A Bowl and the Radio"


class Blog(Host):
    """Builds the blog."""

    def __init__(self, site: Site, pages: int) -> None:
        super().__init__(site, "names", "blog")
        self.polish = Prose(self.rng, "names", "polish", english=False)
        titles = unique_titles(pages - 1 - POLISH_POSTS, self._title)
        titles += unique_titles(POLISH_POSTS, lambda: self.polish.fill("[title]"))
        titles.insert(pages // 2, STORY_TITLE)
        self.links = [
            Link(f"/2026/{self.rng.randint(1, 12):02}/{self.rng.randint(1, 28):02}/{slug(title)}-{number}/", title)
            for number, title in enumerate(titles)
        ]

    def _title(self) -> str:
        return self.new_title("[title]", dish="[dish]", place="[place]", friend="[first]")

    def build(self) -> None:
        """Add every page of the blog."""
        self.add_odds_and_ends(
            self.links[0],
            (150, 60, 70),
            markup("<article content><h1>Drafts</h1><p>Not for robots.</p></article>"),
            markup("<article content><h1>Nothing found</h1><p>It seems the cat has eaten this page.</p></article>"),
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
            self._entry(link, category, told_story(), comments=1, story=STORY_ID)
        elif bound is None:
            body = [el("p", self.polish.paragraph("sentence", 1, 3)) for _ in range(rng.randint(4, 7))]
            self._entry(link, category, body, comments=0, declared="nowhere", language="pl")
        else:
            self._entry(link, category, self._text(bound), comments=rng.randint(0, 5), broken=number % 8 == 5)

    def _text(self, bound: dict[str, str]) -> list[Node]:
        rng, prose = self.rng, self.prose
        out = [el("p", prose.say("opening", bound) + " " + prose.say("sentence", bound))]
        for _ in range(rng.randint(3, 8)):
            out.append(self.paragraph(prose.paragraph("sentence", 1, 4, bound), self.links))
            if rng.random() < 0.15:
                figure = """
                    <figure class=wp-block-image>
                    <img src=/static/picture.png width=640 height=400 alt="" class=wp-image-{}>
                    <figcaption>{}</figcaption></figure>"""
                out.append(markup(figure, rng.randrange(9999), prose.fill("[place], [month]. [dish].")))
            if rng.random() < 0.15:
                out.append(el("h3", prose.fill("[subhead]", bound)))
        if rng.random() < 0.5:
            out.append(el("h3", prose.fill("For the [dish]", bound)))
            out.append(items("ul", (prose.say("ingredient") for _ in range(rng.randint(4, 8)))))
            out.append(items("ol", (prose.say("step") for _ in range(rng.randint(3, 6)))))
        return out

    def _entry(self, link: Link, category: str, text: list[Node], *, comments: int, **writing: Unpack[Writing]) -> None:
        rng, when = self.rng, self.moment()
        shares = [
            markup("<li><a href=/login?share={}&amp;nb={}>{0}</a></li>", name, rng.randrange(2))
            for name in ("Twitter", "Print", "Email")
        ]
        related = [
            markup("<p>{}<span> {:%B %d, %Y}</span></p>", a(other), self.moment())
            for other in self.others(self.links, 3, link)
        ]
        article = markup(
            """
            <article id=post-{7} class="post type-post format-standard category-{8}">
            <header class=entry-header><h1 class=entry-title content>{0}</h1>
            <div class=entry-meta content>
            <span class=posted-on>{1:%B %d, %Y}</span> <span class=byline>by Odile Ravensworth</span></div></header>
            <div class=entry-content><div content>{2}</div>
            <div class="sharedaddy sd-sharing-enabled" template><h3>Share this:</h3><ul>{3}</ul></div>
            <div class=jp-relatedposts template><h3>Related</h3><div>{4}</div></div></div>
            <footer class=entry-footer>Posted in <a href=/category/{8}/ rel=category>{5}</a> and tagged {6}</footer>
            </article>""",
            *(link.title, when, text, shares, related, category),
            [el("a", name, href="/", rel="tag") for name in rng.sample(TAGS, 3)],
            *(rng.randint(100, 9999), category.lower()),
        )
        said = [self._comment() for _ in range(comments)]
        heading = "One thought" if comments == 1 else f"{comments} thoughts"
        discussion = """
            <div class=comments-area content><h2>{} on \u201c{}\u201d</h2><ol class=comment-list>{}</ol></div>"""
        form = """
            <div id=respond><h3>Leave a reply</h3><form action=/login>
            <p>Your email address will not be published. Required fields are marked *</p>
            <textarea name=comment></textarea><input type=hidden name=akismet_nonce value={}>
            <button>Post Comment</button></form></div>"""
        main = el(
            "div",
            article,
            self._turn(link),
            markup(discussion, heading, link.title, said) if said else None,
            markup(form, self.token(10)),
        )
        self.publish(link.path, "article", _TITLE.format(link.title), main, category, **writing)

    def _turn(self, link: Link) -> Node:
        where = self.links.index(link)
        before = self.links[where - 1] if where else None
        after = self.links[where + 1] if where + 1 < len(self.links) else None
        return markup(
            """
            <nav class="navigation post-navigation">
            <h2 class=screen-reader-text>Post navigation</h2>{}{}</nav>""",
            markup("<div><a href={1} rel=prev>\u2190 {0}</a></div>", before.title, before.path) if before else None,
            markup("<div><a href={1} rel=next>{0} \u2192</a></div>", after.title, after.path) if after else None,
        )

    def _comment(self) -> Node:
        rng, prose = self.rng, self.prose
        reader = prose.raw("[first]")
        node = markup(
            """
            <li class=comment id=comment-{4}>
            <div class=comment-author><b class=fn>{0}</b><span class=says> says:</span></div>
            <div class=comment-metadata>{1:%B %d, %Y at %I:%M %p}</div><p>{2}</p>
            <a class=comment-reply-link href=/login?replytocom={3} template>Reply</a></li>""",
            *(prose.raw(f"{reader} [last]"), self.moment(), prose.say("comment"), rng.randrange(9999)),
            rng.randrange(99999),
        )
        if rng.random() < 0.3:
            answer = "<ol class=children><li><b class=fn>Odile</b><p>{}</p></li></ol>"
            node.add(markup(answer, prose.say("reply", {"first": reader})))
        return node

    def _listing(self, path: str, links: Sequence[Link], more: str | None, category: str = "") -> None:
        entry = """
            <article class=post><h2 class=entry-title>{}</h2><p>{:%B %d, %Y}</p>
            <div class=entry-summary><p>{}</p></div></article>"""
        entries = [markup(entry, a(link), self.moment(), self.prose.say("sentence")) for link in links]
        title = f"Category: {category}" if category else "Latest posts"
        older = markup("<nav class=navigation><a href={}>Older posts</a></nav>", more) if more else None
        main = markup("<div><h1 class=page-title content>{}</h1><div content>{}</div>{}</div>", title, entries, older)
        self.publish(path, "listing", _TITLE.format(title), main, category)

    def _head(self) -> list[Node]:
        rng = self.rng
        style = "<link rel=stylesheet href=/static/site.css?ver=6.{}.{}>"
        script = '<script>window._wpemojiSettings = {"source": "{}"};</script>'
        return [markup(style, rng.randint(1, 9), rng.randint(1, 9)), markup(script, self.token(8))]

    def _frame(self, main: Node, active: str) -> Node:
        rng = self.rng
        menu = [
            markup(
                '<li class="menu-item menu-item-{}{}"><a href=/category/{}/>{}</a></li>',
                *(number + 30, " current-menu-item" if name == active else "", name.lower(), name),
            )
            for number, name in enumerate(CATEGORIES)
        ]
        recent = listed(self.others(self.links, 5))
        cloud = [el("a.tag-cloud-link", name, href="/") for name in rng.sample(TAGS, 7)]
        talk = [
            markup("<li><span>{}</span> on {}</li>", self.prose.raw("[first]"), a(link))
            for link in self.others(self.links, 3)
        ]
        return markup(
            """
            <body class="post-template-default single postid-{10}" template>
            <a class="skip-link screen-reader-text" href=#content>Skip to content</a>
            <header id=masthead><p class=site-title><a href=/>A Bowl and the Radio</a></p>
            <p class=site-description>Suppers, trains, weather</p>
            <nav class=main-navigation><button>Menu</button><ul class=menu>{0}</ul></nav></header>
            <div class=site-content><main id=content>{1}</main>
            <aside class=widget-area id=secondary>
            <section class="widget widget_text"><h2>About</h2>
            <p>I am Odile. I cook slowly, travel by train and answer most letters.</p></section>
            <section class="widget widget_recent_entries"><h2>Recent posts</h2><ul>{2}</ul></section>
            <section class="widget widget_recent_comments"><h2>Recent comments</h2><ul>{3}</ul></section>
            <section class="widget promo" id=custom_html-{5}><p>{4}</p></section>
            <section class="widget widget_tag_cloud"><h2>Tags</h2><div class=tagcloud>{6}</div></section>
            </aside></div>
            <footer id=colophon><p>Proudly powered by butter.</p><ul>{7}</ul>
            <p class=site-info>Cached {8:%Y-%m-%d %H:%M:%S}, {9} queries</p></footer></body>""",
            *(menu, main, recent, talk, rng.choice(PROMOTIONS), rng.randrange(99), cloud, listed(self.extras)),
            *(self.moment(), rng.randint(20, 90), rng.randrange(9999)),
        )
