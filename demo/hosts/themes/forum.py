"""The theme of the forum: tabs, notices, who is online, quick login, footer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demo.hosts.parts import Link, a, moment, token
from demo.nodes import Node, el, items

if TYPE_CHECKING:
    import random

    from demo.hosts.forum import Member

BOARDS = ("Workshop", "Kitchen garden", "House and roof", "Bicycles and boats", "The shed")
NOTICES = (
    "Reminder: the plant swap is on the last Sunday of the month.",
    "The server moves house on Thursday night.",
    "Please read the rules before you post pictures.",
    "Calendar 2027: send us your best shed.",
)


class ForumTheme:
    """Puts the forum's furniture around what is on a page."""

    rng: random.Random
    members: list[Member]
    extras: list[Link]

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
