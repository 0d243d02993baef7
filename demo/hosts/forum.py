"""A forum of gardeners and menders in phpBB's markup: posts beside profiles, signatures, quotes, pagers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demo.hosts.parts import STORY_ID, STORY_TITLE, Host, Link, a, chunks, listed, told_story, unique_titles
from demo.nodes import Node, el, items, markup

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


class Forum(Host):
    """Builds the forum."""

    def __init__(self, site: Site, pages: int) -> None:
        super().__init__(site, "names", "forum")
        self.members = [self._member() for _ in range(MEMBERS)]
        titles = unique_titles(pages - 1, lambda: self.new_title("[topic]", thing="[thing]", symptom="[symptom]"))
        self.links = [
            Link(f"/viewtopic.php?t={1200 + number}", title) for number, title in enumerate([*titles, STORY_TITLE])
        ]

    def _member(self) -> Member:
        rng, raw = self.rng, self.prose.raw
        signature = self.prose.draw("signature") if rng.random() < 0.5 else None
        name, rank, posts = raw("[handle]").replace(" ", "_"), raw("[rank]"), rng.randint(2, 9000)
        return Member(name, rank, posts, f"{self.moment():%d %b} {rng.randint(2006, 2025)}", raw("[place]"), signature)

    def build(self) -> None:
        """Add every page of the forum."""
        self.add_odds_and_ends(
            self.links[0],
            (120, 80, 30),
            markup("<div content><h2>Moderators</h2><p>Not for robots.</p></div>"),
            markup("<div class=panel content><h2>Information</h2><p>The requested topic does not exist.</p></div>"),
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
        row = """
            <li class=row><dl><dt>{}<br>{}</dt><dd class=topics>{} Topics</dd>
            <dd class=lastpost>Last post {:%a %b %d, %Y %I:%M %p}</dd></dl></li>"""
        rows = [
            markup(row, a(board, class_="forumtitle"), self.prose.say("detail"), self.rng.randint(9, 90), self.moment())
            for board in boards
        ]
        main = markup('<div class=forabg><ul class="topiclist forums" content>{}</ul></div>', rows)
        self.publish("/", "listing", "Mend & Grow - Index page", main, "")

    def _board(self, board: Link, links: Sequence[Link], more: str | None) -> None:
        rng = self.rng
        row = "<tr><td>{}<br>by {}</td><td>{}</td><td>{}</td><td>{:%d %b %Y, %H:%M}</td></tr>"
        rows = [
            markup(
                *(row, a(link, class_="topictitle"), rng.choice(self.members).name),
                *(rng.randint(1, 60), rng.randint(40, 9000), self.moment()),
            )
            for link in links
        ]
        heading = "<tr><th>Topics</th><th>Replies</th><th>Views</th><th>Last post</th></tr>"
        main = markup(
            f"<div><h2 content>{{}}</h2>{{}}<table class=forumbg content>{heading}{{}}</table></div>",
            *(board.title, self._pager(more), rows),
        )
        self.publish(board.path, "listing", f"{board.title} - Mend & Grow", main, board.title)

    def _topic(self, link: Link, board: Link, *, broken: bool) -> None:
        prose, rng = self.prose, self.rng
        posts: list[Node] = []
        story = STORY_ID if link.title == STORY_TITLE else None
        if story:
            posts.append(self._post(link, told_story()))
            posts.append(self._post(link, [el("p", prose.say("thanks", {"thing": "kettle", "part": "spout"}))]))
        else:
            bound = self.bound[link.title]
            opening = prose.paragraph("question", 1, 2, bound)
            details = [el("p", prose.paragraph("detail", 2, 4, bound)) for _ in range(rng.randint(1, 3))]
            posts.append(self._post(link, [el("p", opening), *details]))
            posts += [self._reply(link, bound) for _ in range(rng.randint(2, 9))]
            posts.append(self._post(link, [el("p", prose.say("thanks", bound))]))
        similar = [
            markup("<li>{} \u00bb {:%d %b %Y}</li>", a(other), self.moment())
            for other in self.others(self.links, 4, link)
        ]
        main = markup(
            """
            <div><h2 class=topic-title content>{}</h2>{}{}
            <div class="panel bg2" template><h3>Similar topics</h3><ul>{}</ul></div></div>""",
            *(a(link), self._pager(None), posts, similar),
        )
        title = f"{link.title} - Mend & Grow"
        self.publish(link.path, "article", title, main, board.title, broken=broken, story=story)

    def _reply(self, link: Link, bound: dict[str, str]) -> Node:
        prose, rng = self.prose, self.rng
        body = [el("p", prose.paragraph("answer", 1, 4, bound)) for _ in range(rng.randint(1, 2))]
        if rng.random() < 0.25:
            quoted = "<blockquote><div><cite>{} wrote:</cite>{}</div></blockquote>"
            body.insert(0, markup(quoted, rng.choice(self.members).name, prose.say("detail", bound)))
        if rng.random() < 0.12:
            body.append(items("ul", (prose.say("answer", bound) for _ in range(3))))
        return self._post(link, body)

    def _post(self, link: Link, body: list[Node]) -> Node:
        rng, who = self.rng, self.rng.choice(self.members)
        number = rng.randint(10000, 99999)
        signature = markup("<div class=signature>{}</div>", who.signature) if who.signature else None
        return markup(
            """
            <div id=p{0} class="post has-profile bg{1}"><div class=inner>
            <dl class=postprofile id=profile{0}>
            <dt><a href=/login><img src=/static/logo.png alt="User avatar" width=80 height=80></a><br>
            <a class=username href=/login content>{2}</a></dt><dd>{3}</dd>
            <dd><strong>Posts:</strong> {4}</dd><dd><strong>Joined:</strong> {5}</dd>
            <dd><strong>Location:</strong> {6}</dd></dl>
            <div class=postbody><h3 content><a href={8}#p{0}>Re: {7}</a></h3>
            <ul class=post-buttons><li><a href=/login?q={0}&amp;sid={9}>Quote</a></li>
            <li><a href=/login>Report</a></li></ul>
            <p class=author content>{10:%a %b %d, %Y %I:%M %p}</p>
            <div class=content content>{11}</div>{12}</div>
            <div class=back2top><a href=#wrap title=Top>Top</a></div></div></div>""",
            *(number, 1 + number % 2, who.name, who.rank, who.posts, who.joined, who.place, link.title, link.path),
            *(self.token(), self.moment(), body, signature),
        )

    def _pager(self, more: str | None) -> Node:
        rng = self.rng
        bar = """
            <div class="action-bar bar-top"><a class=button href=/login?sid={}>Post Reply</a>
            <form action=/private/search><input type=search name=keywords><button>Search</button>
            <input type=hidden name=sid value={}></form><div>{}</div></div>"""
        tokens = self.token(), self.token()
        following = el("a", "Next", href=more) if more else f"{rng.randint(3, 40)} posts \u2022 Page 1 of 1"
        return markup(bar, *tokens, following)

    def _head(self) -> list[Node]:
        return [el("link", rel="stylesheet", href=f"/static/site.css?assets_version={self.rng.randint(1, 99)}")]

    def _frame(self, main: Node, active: str) -> Node:
        rng, now = self.rng, self.moment()
        tabs = [
            markup(
                '<li class="tab{}"><a href=/viewforum.php?f={}>{}</a></li>',
                *(" active" if name == active else "", number + 2, name),
            )
            for number, name in enumerate(BOARDS)
        ]
        online = ", ".join(member.name for member in rng.sample(self.members, 4))
        return markup(
            """
            <body class="nojs notouch section-index" id=phpbb template>
            <div id=page-header><div class=headerbar><h1>Mend &amp; Grow</h1>
            <p>Gardens, sheds and everything that broke in them</p><p><a href=#main>Skip to content</a></p></div>
            <div class="navbar tabs"><ul>{}</ul></div>
            <ul class=breadcrumbs><li><a href=/>Board index</a></li>{}</ul>
            <p class=time>It is currently {:%a %b %d, %Y %I:%M %p}</p><div class="rules notice">{}</div></div>
            <a id=start_here></a><div id=page-body>{}</div>
            <div class=stat-block><h3>Who is online</h3>
            <p>Users browsing this forum: {} and {} guests</p></div>
            <fieldset class=quick-login><label>Username:</label><input name=username><label>Password:</label>
            <input type=password><input type=hidden name=form_token value={}><button>Login</button></fieldset>
            <div id=page-footer><ul>{}</ul>
            <p>Powered by a forum software \u00a9 the group. All times are UTC.</p>
            <p>Time: {:.3f}s | Queries: {} | {} MiB</p></div></body>""",
            *(tabs, el("li", active) if active else None, now, rng.choice(NOTICES), main, online),
            *(rng.randint(2, 60), self.token(40), listed(self.extras)),
            *(rng.uniform(0.02, 0.5), rng.randint(9, 40), rng.randint(2, 9)),
        )
