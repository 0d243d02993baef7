"""What every host needs: dates, tokens, rich text, samples of links, and the odds and ends of the real web."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Unpack

from demo.nodes import Node, el
from demo.prose import Prose, read_grammar
from demo.site import Writing, pdf, png

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from demo.site import Site

T = TypeVar("T")

DISALLOWED = "/private/"
MISSING = "/old/archive-2009"
STORY_ID = "skerry-light"
(STORY_TITLE,), STORY_PARAGRAPHS = read_grammar("story").values()
_EPOCH = datetime(2026, 3, 2, 6, 0, tzinfo=UTC)


class Link(NamedTuple):
    """Where a page is and what its links say."""

    path: str
    title: str


def a(link: Link, *, class_: str | None = None) -> Node:
    """Return an anchor."""
    return el("a", link.title, href=link.path, class_=class_)


def slug(title: str, limit: int = 48) -> str:
    """Return a title as it stands in a URL."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:limit].strip("-")


def listed(links: Sequence[Link]) -> list[Node]:
    """Return list items with a link each."""
    return [el("li", a(link)) for link in links]


def chunks(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Cut a list into pages of a listing."""
    return [items[begin : begin + size] for begin in range(0, len(items), size)]


def unique_titles(count: int, draw: Callable[[], str]) -> list[str]:
    """Draw titles until there are enough different ones."""
    titles: dict[str, None] = {}
    for _ in range(200 * count):
        if len(titles) == count:
            break
        titles[draw()] = None
    if len(titles) < count:
        raise ValueError(f"the grammar has no {count} different titles; ask for fewer pages")
    return list(titles)


def told_story() -> list[Node]:
    """Return the paragraphs of the story that several hosts carry."""
    return [el("p", text) for text in STORY_PARAGRAPHS]


class Host:
    """What builds the pages of one host.

    Attributes:
        site, rng: the site, and the source of every choice on it.
        prose: what says its sentences.
        bound: phrases that a page holds to, by its title.
        extras: links to the odds and ends of the host, in every footer.
    """

    def __init__(self, site: Site, *grammars: str) -> None:
        self.site, self.rng = site, site.rng
        self.prose = Prose(self.rng, *grammars)
        self.bound: dict[str, dict[str, str]] = {}
        self.extras: list[Link] = []

    def _frame(self, main: Node, *where: Any) -> Node:
        """Return the body of a page around its main part; ``where`` says where on the host it is."""
        raise NotImplementedError

    def _head(self) -> list[Node]:
        """Return what the head of a page has besides its title."""
        raise NotImplementedError

    def build(self) -> None:
        """Add every page of the host."""
        raise NotImplementedError

    def token(self, length: int = 32) -> str:
        """Return a nonce, as they stand in forms and attributes."""
        return f"{self.rng.getrandbits(4 * length):0{length}x}"

    def moment(self) -> datetime:
        """Return some time in the demo web's year."""
        return _EPOCH + timedelta(seconds=self.rng.randrange(250 * 86400))

    def others(self, links: Sequence[T], count: int, but: T | None = None) -> list[T]:
        """Return a sample of links without the page's own."""
        rest = [link for link in links if link != but]
        return self.rng.sample(rest, min(count, len(rest)))

    def paragraph(self, text: str, links: Sequence[Link] = ()) -> Node:
        """Return a paragraph with now and then an emphasis or a link to another page of the host."""
        rng, words = self.rng, text.split(" ")
        node = el("p")
        if len(words) < 12 or rng.random() < 0.55:
            return node.add(text)
        begin = rng.randrange(3, len(words) - 6)
        end = begin + rng.randint(1, 3)
        phrase = " ".join(words[begin:end])
        if links and rng.random() < 0.6:
            inner = el("a", phrase, href=rng.choice(links).path)
        else:
            inner = el(rng.choice(("em", "strong", "b", "i")), phrase)
        return node.add(" ".join(words[:begin]) + " ", inner, " " + " ".join(words[end:]))

    def new_title(self, pattern: str, **slots: str) -> str:
        """Draw a title and the phrases that its page holds to."""
        bound = {name: self.prose.raw(slot) for name, slot in slots.items()}
        title = self.prose.fill(pattern, bound)
        self.bound[title] = bound
        return title

    def publish(self, path: str, kind: str, title: str, main: Node, *where: Any, **writing: Unpack[Writing]) -> None:
        """Add a page."""
        body = self._frame(main, *where)
        self.site.page(path, kind, title, body, head=self._head(), **writing)

    def add_odds_and_ends(
        self,
        moved: Link,
        rgb: tuple[int, int, int],
        hidden: Node,
        lost: Node,
        where: Callable[[str], tuple[Any, ...]] = lambda _: ("",),
    ) -> None:
        """Add the redirect, the empty page, the files, the disallowed page and the 404, and link them in footers.

        Args:
            moved: Where ``/latest`` redirects to.
            rgb: Colour of the pictures.
            hidden: Main part of the page that robots.txt disallows.
            lost: Main part of the page that is served where there is nothing.
            where: Where on the host a page at a path is, as :meth:`_frame` takes it.
        """
        site, drafts = self.site, f"{DISALLOWED}drafts"
        hidden, lost = (self._frame(main, *where(path)) for main, path in ((hidden, drafts), (lost, "/404")))
        site.robots([DISALLOWED, "/login", "/cart"])
        site.redirect("/latest", moved.path)
        site.redirect("/home", "/", status=301)
        site.empty("/print")
        site.page(drafts, "article", "Drafts", hidden)
        site.page("/404", "error", "Not found", lost, status=404)
        site.file("/files/annual-report.pdf", "application/pdf", pdf(f"Annual report of {site.name}"))
        site.file("/files/notes.txt", "text/plain; charset=utf-8", "Notes for the printer: héllo, wörld.\n".encode())
        site.file("/static/logo.png", "image/png", png(180, 60, rgb))
        site.file("/static/picture.png", "image/png", png(640, 400, rgb))
        site.file("/static/site.css", "text/css", b"body { font: 16px/1.5 serif; max-width: 72rem; margin: auto }\n")
        self.extras = [
            Link("/latest", "Latest"),
            Link("/print", "Print edition"),
            Link("/files/annual-report.pdf", "Annual report (PDF)"),
            Link("/files/notes.txt", "Notes"),
            Link(drafts, "Drafts"),
            Link(MISSING, "Archive 2009"),
            Link("/home", "Start"),
        ]
