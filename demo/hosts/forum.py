"""A forum of gardeners and menders in phpBB's markup: posts beside profiles, signatures, quotes, pagers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    token,
    unique_titles,
)
from demo.nodes import Node, el, items
from demo.prose import Prose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demo.site import Site

MEMBERS = 40
BOARDS = ("Workshop", "Kitchen garden", "House and roof", "Bicycles and boats", "The shed")
NOTICES = (
    "Reminder: the plant swap is on the last Sunday of the month.",
    "The server moves house on Thursday night.",
    "Please read the rules before you post pictures.",
    "Calendar 2027: send us your best shed.",
)


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody who posts, with what stands beside each of the posts."""

    name: str
    rank: str
    posts: int
    joined: str
    place: str
    signature: str | None


class Forum:
    """Builds the forum."""

    def __init__(self, site: Site, pages: int) -> None:
        self.site, self.rng = site, site.rng
        self.prose = Prose(self.rng, "names", "forum")
        self.members = [self._member() for _ in range(MEMBERS)]
        self.bound: dict[str, dict[str, str]] = {}
        titles = [*unique_titles(pages - 1, self._title), STORY_TITLE]
        self.links = [Link(f"/viewtopic.php?t={1200 + number}", title) for number, title in enumerate(titles)]
        self.extras: list[Link] = []

    def _member(self) -> Member:
        rng, raw = self.rng, self.prose.raw
        signature = self.prose.draw("signature") if rng.random() < 0.5 else None
        return Member(
            raw("[handle]").replace(" ", "_"),
            raw("[rank]"),
            rng.randint(2, 9000),
            f"{moment(rng):%d %b} {rng.randint(2006, 2025)}",
            raw("[place]"),
            signature,
        )

    def _title(self) -> str:
        bound = {"thing": self.prose.raw("[thing]"), "symptom": self.prose.raw("[symptom]")}
        title = self.prose.fill("[topic]", bound)
        self.bound[title] = bound
        return title

    def build(self) -> None:
        """Add every page of the forum."""
        lost = el("div.panel", el("h2", "Information"), el("p", "The requested topic does not exist."), template=False)
        hidden = el("div", el("h2", "Moderators"), el("p", "Not for robots."), template=False)
        self.extras = odds_and_ends(
            self.site,
            moved=self.links[0],
            rgb=(120, 80, 30),
            hidden=self._frame("", hidden),
            lost=self._frame("", lost),
        )
        boards = [Link(f"/viewforum.php?f={number + 2}", name) for number, name in enumerate(BOARDS)]
        self._index(boards)
        size = -(-len(self.links) // len(boards))
        for board, members in zip(boards, chunks(self.links, size), strict=False):
            parts = chunks(members, 12)
            for number, part in enumerate(parts):
                path = board.path + (f"&start={12 * number}" if number else "")
                more = f"{board.path}&start={12 * (number + 1)}" if number + 1 < len(parts) else None
                self._board(Link(path, board.title), part, more)
            for number, link in enumerate(members):
                self._topic(link, board, broken=number % 7 == 2)

    def _index(self, boards: list[Link]) -> None:
        rows = [
            el(
                "li.row",
                el(
                    "dl",
                    el("dt", a(board, class_="forumtitle"), el("br"), self.prose.say("detail")),
                    el("dd.topics", f"{self.rng.randint(9, 90)} Topics"),
                    el("dd.lastpost", f"Last post {moment(self.rng):%a %b %d, %Y %I:%M %p}"),
                ),
            )
            for board in boards
        ]
        main = el("div.forabg", el("ul.topiclist.forums", *rows, template=False))
        self.site.page("/", "listing", "Mend & Grow - Index page", self._frame("", main), head=self._head())

    def _board(self, board: Link, links: Sequence[Link], more: str | None) -> None:
        rng = self.rng
        rows = [
            el(
                "tr",
                el("td", a(link, class_="topictitle"), el("br"), f"by {rng.choice(self.members).name}"),
                el("td", str(rng.randint(1, 60))),
                el("td", str(rng.randint(40, 9000))),
                el("td", f"{moment(rng):%d %b %Y, %H:%M}"),
            )
            for link in links
        ]
        heading = el("tr", el("th", "Topics"), el("th", "Replies"), el("th", "Views"), el("th", "Last post"))
        main = el(
            "div",
            el("h2", board.title, template=False),
            self._pager(more),
            el("table.forumbg", heading, *rows, template=False),
        )
        title = f"{board.title} - Mend & Grow"
        self.site.page(board.path, "listing", title, self._frame(board.title, main), head=self._head())

    def _topic(self, link: Link, board: Link, *, broken: bool) -> None:
        prose, rng = self.prose, self.rng
        posts: list[Node] = []
        story = STORY_ID if link.title == STORY_TITLE else None
        if story:
            posts.append(self._post(link, [el("p", text) for text in STORY_PARAGRAPHS]))
            posts.append(self._post(link, [el("p", prose.say("thanks", {"thing": "kettle", "part": "spout"}))]))
        else:
            bound = self.bound[link.title]
            opening = prose.paragraph("question", 1, 2, bound)
            details = [el("p", prose.paragraph("detail", 2, 4, bound)) for _ in range(rng.randint(1, 3))]
            posts.append(self._post(link, [el("p", opening), *details]))
            posts += [self._reply(link, bound) for _ in range(rng.randint(2, 9))]
            posts.append(self._post(link, [el("p", prose.say("thanks", bound))]))
        similar = el(
            "div.panel.bg2",
            el("h3", "Similar topics"),
            el(
                "ul",
                *(el("li", a(other), f" \u00bb {moment(rng):%d %b %Y}") for other in others(rng, self.links, 4, link)),
            ),
            template=True,
        )
        main = el("div", el("h2.topic-title", a(link), template=False), self._pager(None), *posts, similar)
        title = f"{link.title} - Mend & Grow"
        self.site.page(
            link.path, "article", title, self._frame(board.title, main), head=self._head(), broken=broken, story=story
        )

    def _reply(self, link: Link, bound: dict[str, str]) -> Node:
        prose, rng = self.prose, self.rng
        loose = {name: bound[name] for name in ("thing", "symptom")}
        body = [el("p", prose.paragraph("answer", 1, 4, loose)) for _ in range(rng.randint(1, 2))]
        if rng.random() < 0.25:
            quoted = el("div", el("cite", f"{rng.choice(self.members).name} wrote:"), prose.say("detail", loose))
            body.insert(0, el("blockquote", quoted))
        if rng.random() < 0.12:
            body.append(items("ul", (prose.say("answer", loose) for _ in range(3))))
        return self._post(link, body)

    def _post(self, link: Link, body: list[Node]) -> Node:
        rng, who = self.rng, self.rng.choice(self.members)
        number = rng.randint(10000, 99999)
        profile = el(
            "dl.postprofile",
            el(
                "dt",
                el("a", el("img", src="/static/logo.png", alt="User avatar", width=80, height=80), href="/login"),
                el("br"),
                el("a.username", who.name, href="/login", template=False),
            ),
            el("dd", who.rank),
            el("dd", el("strong", "Posts:"), f" {who.posts}"),
            el("dd", el("strong", "Joined:"), f" {who.joined}"),
            el("dd", el("strong", "Location:"), f" {who.place}"),
            id=f"profile{number}",
        )
        content = el(
            "div.postbody",
            el("h3", el("a", f"Re: {link.title}", href=f"{link.path}#p{number}"), template=False),
            el(
                "ul.post-buttons",
                el("li", el("a", "Quote", href=f"/login?q={number}&sid={token(rng)}")),
                el("li", el("a", "Report", href="/login")),
            ),
            el("p.author", f"{moment(rng):%a %b %d, %Y %I:%M %p}", template=False),
            el("div.content", *body, template=False),
            el("div.signature", who.signature) if who.signature else None,
        )
        back = el("div.back2top", el("a", "Top", href="#wrap", title="Top"))
        return el(
            "div",
            el("div.inner", profile, content, back),
            id=f"p{number}",
            class_=f"post has-profile bg{1 + number % 2}",
        )

    def _pager(self, more: str | None) -> Node:
        rng = self.rng
        return el(
            "div.action-bar.bar-top",
            el("a.button", "Post Reply", href=f"/login?sid={token(rng)}"),
            el(
                "form",
                el("input", type="search", name="keywords"),
                el("button", "Search"),
                el("input", type="hidden", name="sid", value=token(rng)),
                action="/private/search",
            ),
            el("div", f"{rng.randint(3, 40)} posts \u2022 Page 1 of 1")
            if more is None
            else el("div", el("a", "Next", href=more)),
        )

    def _head(self) -> list[Node]:
        return [el("link", rel="stylesheet", href=f"/static/site.css?assets_version={self.rng.randint(1, 99)}")]

    def _frame(self, active: str, main: Node) -> Node:
        rng, now = self.rng, moment(self.rng)
        tabs = [
            el(
                "li",
                el("a", name, href=f"/viewforum.php?f={number + 2}"),
                class_="tab active" if name == active else "tab",
            )
            for number, name in enumerate(BOARDS)
        ]
        online = ", ".join(member.name for member in rng.sample(self.members, 4))
        return el(
            "body#phpbb.nojs.notouch.section-index",
            el(
                "div#page-header",
                el(
                    "div.headerbar",
                    el("h1", "Mend & Grow"),
                    el("p", "Gardens, sheds and everything that broke in them"),
                    el("p", el("a", "Skip to content", href="#main")),
                ),
                el("div.navbar.tabs", el("ul", *tabs)),
                el("ul.breadcrumbs", el("li", el("a", "Board index", href="/")), el("li", active) if active else None),
                el("p.time", f"It is currently {now:%a %b %d, %Y %I:%M %p}"),
                el("div.rules.notice", rng.choice(NOTICES)),
            ),
            el("a#start_here"),
            el("div#page-body", main),
            el(
                "div.stat-block",
                el("h3", "Who is online"),
                el("p", f"Users browsing this forum: {online} and {rng.randint(2, 60)} guests"),
            ),
            el(
                "fieldset.quick-login",
                el("label", "Username:"),
                el("input", name="username"),
                el("label", "Password:"),
                el("input", type="password"),
                el("input", type="hidden", name="form_token", value=token(rng, 40)),
                el("button", "Login"),
            ),
            el(
                "div#page-footer",
                items("ul", (a(link) for link in self.extras)),
                el("p", "Powered by a forum software \u00a9 the group. All times are UTC."),
                el(
                    "p",
                    f"Time: {rng.uniform(0.02, 0.5):.3f}s | Queries: {rng.randint(9, 40)} | {rng.randint(2, 9)} MiB",
                ),
            ),
            template=True,
        )


def build(site: Site, pages: int) -> None:
    """Add the forum's pages, ``pages`` of them topics."""
    Forum(site, pages).build()
