"""Labels of comments, from the names that authors give them and from gold text; nobody labelled them by hand.

On a page with a named thread, the blocks of its comments are comments and what is outside the thread is not. Where gold
text holds the thread, or on a forum, nothing is a comment: the posts are the content. A page whose names say nothing of
comments, answers or reviews has none.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.evidence.comment_model import static_features
from winnow.evidence.comments import NamedComments
from winnow.features.blocks import BlockFeatures, features_of
from winnow.page.page import Page, PageTooLarge
from winnow.training.evaluation import read_gold
from winnow.training.examples import block_mass
from winnow.training.gold import content_fractions, registrable_domain
from winnow.training.sites import find_sites

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from numpy.typing import NDArray


MIN_WORDS: Final = 15
"""Words of a named thread with fewer of which a page says nothing: it may be the invitation to write the first one."""

_GOLD: Final = 0.5
_REPEATED: Final = 3  # words of a block; shorter ones recur by chance
_UNNAMED: Final = re.compile(
    r"com+ent|disqus|respon[sd]|repl(?:y|ies)|discuss|review|feedback|opinion|guestbook|pinglun|reactie|kommentar|koment"
    r"|yorum|testimonial|post-?body|thread|forum|topic|answer|message",
    re.IGNORECASE,
)
"""Names that may stand around comments which are not named as such."""
_CONTROL: Final = re.compile(
    r"\W*(?:reply|responder|répondre|antworten|odpowiedz|ответить|rispondi|yanıtla|回复|beantwoorden|vastaa|svara"
    r"|cancel reply|edit|permalink|link|report|flag|share|like|quote|delete|log ?in to .*|#?\d*|says:?|reply to .*)\W*",
    re.IGNORECASE,
)
"""Controls inside comments: neither comments nor anything else."""


@dataclass(frozen=True, eq=False, slots=True)
class CommentPage:
    """The blocks of one page as examples (m of them).

    Attributes:
        source: site or domain.
        static: float32[m, k], of :func:`winnow.evidence.comment_model.static_features`.
        features: what the learned features and the network's windows are made from.
        comment: float32[m], 1 for a comment, 0 for anything else, NaN where nothing is known.
        named: bool[m], in an element that is named like a comment.
        texts: text of each block.
        forum: whether the page is one of a forum.
    """

    source: str
    static: NDArray[np.float32]
    features: BlockFeatures
    comment: NDArray[np.float32]
    named: NDArray[np.bool_]
    texts: list[str]
    forum: bool

    @property
    def has_thread(self) -> bool:
        """Whether comments are labelled on the page."""
        return bool((self.comment == 1).any())

    @property
    def mass(self) -> NDArray[np.float64]:
        """float64[m], part of each block in its page; adds up to 1."""
        return block_mass(self.features.words)


def comment_page(page: Page, source: str, *, forum: bool, content: NDArray[np.float64] | None = None) -> CommentPage:
    """Label a page.

    Args:
        page: the page.
        source: site or domain.
        forum: whether it is one of a forum.
        content: float64[m], share of each block that is in the gold text, where there is one.
    """
    names, features = NamedComments.of(page), features_of(page)
    label = _labels(page, names, features.words, forum, content)
    static = static_features(page, features)
    return CommentPage(source, static, features, label, names.comment, page.block_texts(), forum)


def _labels(
    page: Page, names: NamedComments, words: NDArray[np.float64], forum: bool, content: NDArray[np.float64] | None
) -> NDArray[np.float32]:
    label = np.full(page.m, np.nan, np.float32)
    in_named = words[names.comment].sum()
    if forum or (content is not None and in_named and (content * words)[names.comment].sum() > _GOLD * in_named):
        label[:] = 0
        return label
    if in_named >= MIN_WORDS or words[names.thread].sum() >= 2 * MIN_WORDS:
        label[~names.thread] = 0
    elif not any(
        _UNNAMED.search(value)
        for name in ("class", "id", "itemtype", "itemprop")
        for value in page.attributes.places_by_value(name)
    ):
        label[:] = 0
    if in_named >= MIN_WORDS:
        control = np.fromiter((_CONTROL.fullmatch(text) is not None for text in page.block_texts()), bool, page.m)
        label[names.comment & ~control] = 1
    if content is not None:
        label[(content > _GOLD) & ~names.comment] = 0
    label[names.form] = 0
    return label


def without_repeats(pages: Sequence[CommentPage]) -> list[CommentPage]:
    """Take the label from comments that several pages of a source have: invitations and rules, not comments."""
    holders: defaultdict[tuple[str, str], int] = defaultdict(int)
    for page in pages:
        for text in {page.texts[block] for block in np.flatnonzero(page.comment == 1).tolist()}:
            holders[page.source, text] += 1
    result = []
    for page in pages:
        repeated = [
            block
            for block in np.flatnonzero((page.comment == 1) & (page.features.words > _REPEATED)).tolist()
            if holders[page.source, page.texts[block]] > 1
        ]
        comment = page.comment.copy()
        comment[repeated] = np.nan
        result.append(replace(page, comment=comment))
    return result


MAX_WITH_THREAD: Final = 15
MAX_WITHOUT_THREAD: Final = 5
"""Most pages of a site with and without a thread."""

FORUM: Final = "forum"
"""Kind of a gold page, and genre of a site, whose posts are the content."""


def pages_of_gold(file: Path, leave_out: Collection[str] = ()) -> list[CommentPage]:
    """Label gold pages, but for some collections; the HTML of page ``ID`` is ``html/ID.html`` beside the file."""
    with file.open(encoding="utf-8") as lines:
        rows = {str(row.get("id") or row["page"]): row for row in map(json.loads, lines)}
    found = []
    for gold in read_gold(file):
        row = rows[gold.page_id]
        if row.get("source") in leave_out:
            continue
        try:
            page = Page.parse((file.parent / "html" / f"{gold.page_id}.html").read_bytes())
        except PageTooLarge:
            continue
        source = registrable_domain(f"//{row['site']}" if row.get("site") else gold.url) or gold.page_id
        content = content_fractions(page.block_texts(), gold.text)
        found.append(comment_page(page, source, forum=gold.page_type == FORUM, content=content))
    return found


def pages_of_sites(folder: Path, seed: int = 0) -> list[CommentPage]:
    """Label some pages of every site, with and without a thread; ``FOLDER.jsonl`` says which sites are forums."""
    manifest = folder.with_suffix(".jsonl")
    lines = manifest.read_text(encoding="utf-8").splitlines() if manifest.is_file() else []
    forums = {row["site"] for row in map(json.loads, lines) if row.get("genre") == FORUM}
    found: list[CommentPage] = []
    for site in find_sites(folder):
        room = {True: MAX_WITH_THREAD, False: MAX_WITHOUT_THREAD}
        for number in np.random.default_rng(seed).permutation(len(site.files)).tolist():
            if not any(room.values()):
                break
            try:
                page = Page.parse(site.files[number].read_bytes())
            except PageTooLarge:
                continue
            example = comment_page(page, site.name, forum=site.name in forums)
            if page.m and room[example.has_thread]:
                room[example.has_thread] -= 1
                found.append(example)
    return found
