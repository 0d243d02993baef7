"""The kept part of a page as clean markup: what its HTML and Markdown are written from.

Elements are on an allow-list, so unknown markup is left out: no scripts, styles, frames or other loaded pages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import compress, repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tamis.core import core
from tamis.output.attributes import attributes_as_stated, attributes_to_write
from tamis.output.code import code_blocks, code_line_elements, ends_line_itself, in_code_blocks
from tamis.output.formulas import Formula, find_formulas, formula_blocks
from tamis.output.lists import list_labels
from tamis.output.runs import checkboxes, empty_runs, omitted_elements, run_rewrites, shown_elements, tex_in_text
from tamis.output.styles import displayed_as_blocks, styles_of_text
from tamis.output.tables import data_tables, is_callout, layout_tables
from tamis.page.addresses import home_addresses
from tamis.page.attributes import token_pattern
from tamis.page.page import NO_LIMITS, Page
from tamis.page.tree import (
    BLOCK_LEVEL,
    LISTS,
    TAG_ID,
    TAG_NAMES,
    as_mask,
    cached_on_page,
    elements_with_attributes,
    nearest,
    runs_of_blocks,
    subtree_sums,
    sums_in_blocks,
    sums_over_runs,
    tag_set,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tamis.arrays import Flags, Integers
    from tamis.page.attributes import Pairs

_KEPT_TAGS: Final = frozenset(
    """
    a abbr address article aside audio b bdi bdo blockquote br caption cite code dd del details dfn div dl dt em
    figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup hr i img ins kbd li main mark menu nav ol p picture pre q
    rp rt ruby s samp section small source span strike strong sub summary sup table tbody td tfoot th thead time tr
    track u ul var video wbr
    """.split()
)

_DIVISIONS: Final = BLOCK_LEVEL - _KEPT_TAGS - {"html", "head", "body"}
OUTPUT_NAMES: Final[tuple[str, ...]] = tuple(
    name if name in _KEPT_TAGS else "code" if name == "tt" else "div" if name in _DIVISIONS else ""
    for name in TAG_NAMES
)
"""Name to write, by tag id; "" for elements such as ``font``, of which only the contents are written."""

VOID: Final = frozenset({"br", "hr", "img", "source", "track", "wbr"})
"""Elements without contents and end tag."""

MAX_NESTING: Final[int] = core.MAX_NESTING
"""Maximum depth of markup; deeper elements are written without it, since some readers recurse over the tree."""

_MEDIA: Final = tag_set("img", "picture", "video", "audio")
_MEDIA_PARTS: Final = tag_set("source", "track")
_MAX_DISTANCE: Final = 12  # blocks; on 125 pages of WCXB pictures of the content were nearer, 27 others further away
_SHARES: Final = re.compile(  # in an address; linear: the names are fixed
    r"(?<![\w-])(?:facebook\.com/(?:sharer|share\.php|dialog/share)|(?:twitter|x)\.com/(?:intent/(?:tweet|post)|share\b)"
    r"|bsky\.app/intent|linkedin\.com/(?:shareArticle|shar(?:e|ing)\b|cws/share)|pinterest\.[a-z.]{2,6}/pin/create"
    r"|(?:reddit|stumbleupon)\.com/submit|(?:tumblr|vk|weibo|addtoany|flipboard)\.com/.{0,20}\bshare|(?:t|telegram)\.me/share"
    r"|wa\.me/\?|whatsapp\.com/send/?\?text|whatsapp:|viber:|fb-messenger:|(?:mailto|sms):\?)"
)
_TURNS_PAGES: Final = re.compile(
    r"\W{0,3}(?:go )?(?:back|next|prev(?:ious)?|forward|first|last|home|up|top)(?: page)?\W{0,3}", re.IGNORECASE
)  # a description
_SPACERS: Final = re.compile(r"/(?:spacer|blank|pixel|transparent|clear|trans|dot_clear|1x1)\.(?:gif|png)(?:$|\?)")
_IS_DIV: Final = np.array([name == "div" for name in OUTPUT_NAMES])
_HAS_BORDER: Final = np.array([name in BLOCK_LEVEL and name not in VOID for name in OUTPUT_NAMES])

_KEEPS_DIV: Final = frozenset({"id", "lang", "dir"})  # names of attributes that a div is written for
_FORUM_POST: Final = token_pattern("messageText", "postcontent")  # in a blockquote


_IN_OUTPUT: Final = core.ROLE | core.IS_WRITTEN | core.IS_VOID | core.IS_BLOCK | core.IS_LINK | core.IS_LINE
_ROLE_OF_NAME: Final = (
    dict.fromkeys(BLOCK_LEVEL, core.BLOCK)
    | dict.fromkeys(LISTS, core.LIST)
    | dict.fromkeys(("li", "dt", "dd"), core.ITEM)
    | dict.fromkeys(("td", "th"), core.CELL)
    | {"p": core.PARAGRAPH, "br": core.BREAK, "tr": core.ROW, "q": core.QUOTATION}
    | {"ruby": core.RUBY, "rt": core.READING, "rp": core.PARENTHESIS}
)
_KIND_OF_TAG: Final = np.array([_ROLE_OF_NAME.get(name, core.INLINE) for name in OUTPUT_NAMES], np.uint32)
for _bit, _tags in (
    (core.IS_WRITTEN, np.array(OUTPUT_NAMES, bool)),
    (core.IS_VOID, np.array([name in VOID for name in OUTPUT_NAMES])),
    (core.IS_BLOCK, np.array([name in BLOCK_LEVEL for name in OUTPUT_NAMES])),
    (core.IS_LINK, tag_set("a")),
    (core.IS_BREAK, tag_set("br")),
    (core.IS_RULE, tag_set("hr")),
    (core.IS_CELL, tag_set("td", "th")),
    (core.IS_PICTURE, tag_set("img")),
    (core.IS_MEDIA_PART, _MEDIA_PARTS),
    (core.IN_PLAYER, _MEDIA | _MEDIA_PARTS),
    (core.IS_LINE_OF_CODE, tag_set("div", "p", "li", "tr")),
):
    _KIND_OF_TAG[_tags] |= np.uint32(_bit)

LINE_END, CUT = core.LINE_END, core.CUT
"""Why there is a line break: since a style shows an inline element as a block, or since an element is cut there."""


class Box(str):
    """A checkbox of a list item: ``[x]`` or ``[ ]``."""

    __slots__ = ()


Pieces = list[str | Formula | Box]


@dataclass(frozen=True, eq=False, slots=True)
class Markup:
    """Elements and texts in document order.

    Attributes:
        names: name of each element, "" for a text.
        values: its attributes; a text, or the pieces of one with formulas and checkboxes.
        ends: the item after the contents of each element; for a text, the next one.
        sources: the page's element that each element is made of, ``n`` + the run of each text; of a line break that
            the page does not have, :data:`LINE_END` or :data:`CUT`.
        labels: label of each item of a numbered list, see :mod:`tamis.output.lists`.
        codes: lines of each block of code.
        title: title of the document.
        language: its attributes ``lang`` and ``dir``, as far as stated.
    """

    names: list[str]
    values: list[Any]
    ends: list[int]
    sources: list[int] = field(default_factory=list)
    labels: dict[int, str] = field(default_factory=dict)
    codes: dict[int, str] = field(default_factory=dict)
    title: str = ""
    language: Pairs = field(default_factory=list)

    def text(self, item: int) -> str:
        """Text of an element, or of a text itself; formulas are TeX without dollar signs."""
        texts = (self.values[each] for each in range(item, self.ends[item]) if not self.names[each])
        pieces = (piece for text in texts for piece in ([text] if isinstance(text, str) else text))
        return "".join(piece if isinstance(piece, str) else piece.tex for piece in pieces)

    def has_inside(self, item: int, *names: str) -> bool:
        """Whether there is an element of some names inside another one."""
        return not {*self.names[item + 1 : self.ends[item]]}.isdisjoint(names)


def make_markup(
    page: Page,
    template: Flags,
    hidden: Flags | None = None,
    *,
    images: bool = True,
    deduplicate: bool = True,
) -> Markup:
    """Make the clean markup of a page without its template; the page is not changed.

    Layout tables become ``div``, and the language of a ``pre`` is in ``class="language-..."``.

    Args:
        page: the page.
        template: bool[n + m], the units to cut.
        hidden: bool[r], runs that are left out of the blocks that stay.
        images: keep pictures, videos and sounds.
        deduplicate: keep a picture where it is first, outside data tables.
    """
    stated: dict[str, str] = {}
    for _, pairs in reversed(elements_with_attributes(page, "html", "body")[:2]):  # that of the root counts
        stated |= {name: pairs[name].strip() for name in ("lang", "dir") if pairs.get(name, "").strip()}
    kept_text = runs_of_blocks(page, ~template[page.n :])
    if hidden is not None:
        kept_text &= ~hidden
    media = _kept_media(page, template, sums_over_runs(page, kept_text))
    elements, runs = kept_items(page, kept_text, media)
    elements &= ~_find_wrappers(page, elements, runs)
    if not images:
        elements &= ~(_MEDIA | _MEDIA_PARTS)[page.tag]
    kept = np.flatnonzero(elements)
    attributes = attributes_to_write(page, kept)
    if deduplicate and (repeated := _repeated_pictures(page, kept, attributes)):
        media &= ~within(page, as_mask(page, repeated))
        elements &= kept_items(page, kept_text, media)[0]
        attributes = list(compress(attributes, elements.take(kept).tolist()))
    markup = join_items(page, elements, attributes, runs)
    return replace(markup, language=sorted(stated.items(), reverse=True))


def _repeated_pictures(page: Page, kept: NDArray[np.intp], attributes: list[Pairs]) -> list[int]:
    """Pictures that an earlier one has the address of: ticks and stars, placeholders, copies for another screen.

    Also those whose name says that they show nothing, unless a description says what a style shows there: smilies.
    """
    signs = within(page, as_mask(page, [*data_tables(page), *find_formulas(page).by_element]))
    seen: set[str] = set()
    repeated: list[int] = []
    for position in np.flatnonzero((page.tag[kept] == TAG_ID["img"]) & ~signs[kept]).tolist():
        pairs, picture = dict(attributes[position]), int(kept[position])
        around, source = int(page.parent[picture]), pairs.get("src", "")
        if source in seen or (_SPACERS.search(source) and not pairs.get("alt", "").strip()):
            repeated.append(around if page.tag[around] == TAG_ID["picture"] else picture)
        seen.add(source)
    return repeated


def read_markup(html: str) -> Markup:
    """Read HTML that is clean already as markup, with nothing cut."""
    page = Page.parse(html, limits=NO_LIMITS)
    elements = shown_elements(page)
    return join_items(page, elements, attributes_as_stated(page, elements.nonzero()[0]), np.ones(page.r, bool))


def _kept_media(page: Page, template: Flags, kept_runs: Integers) -> Flags:
    """bool[n], contents without text that stay when template units are cut: pictures, videos, sounds and formulas.

    They stay if they are not template themselves and the nearest element around them that has any text keeps some of
    it: the icon of a menu entry goes with the entry, the picture of a gallery stays. Logos and buttons, with a whole
    menu between them and the text that stays, are cut as well, and so are pictures outside the text that lead to the
    front page, tracking pixels, icons to share the page or to turn to the next one, and what a ``noscript`` without
    text holds: copies of pictures that scripts load.
    """
    kept_blocks = ~template[page.n :]
    has_text = (page.block_begin < page.block_end) & (page.tag != TAG_ID["img"])  # text in an amp-img stands for it
    media = _MEDIA[page.tag] & shown_elements(page) & ~within(page, (page.tag == TAG_ID["noscript"]) & ~has_text)
    media &= ~template[: page.n]
    around = nearest(page.parent, has_text)
    media &= (around < 0) | (kept_runs[around] > 0)
    media &= _blocks_to_content(page, kept_blocks) <= _MAX_DISTANCE
    media[_tracking_pixels(page)] = False
    media[_icons_of_links(page, media)] = False
    return media & ~_in_logos(page, kept_blocks)


def _tracking_pixels(page: Page) -> list[int]:
    """Elements that are a pixel high at most: also lines, and what indents a reply."""
    return [at for at, height in page.attribute("height").items() if height.strip() in {"0", "1", "0px", "1px"}]


def _icons_of_links(page: Page, media: Flags) -> list[int]:
    """Media, bool[n], in links that share the page, or turn to the next one by a key or by their description.

    A wide picture in such a link is one to pin.
    """
    links = np.flatnonzero((page.tag == TAG_ID["a"]) & (subtree_sums(page, media) > 0))
    if not links.size:
        return []
    targets, keys = page.attributes.of_elements(links, {"href"}), page.attribute("accesskey")
    tools = [
        link
        for link, pairs in zip(links.tolist(), targets, strict=True)
        if link in keys or any(_SHARES.search(href) for _, href in pairs)
    ]
    widths = page.attribute("width")
    in_tools = np.flatnonzero(media & within(page, as_mask(page, tools))).tolist()
    in_links = within(page, as_mask(page, links))
    turning = [at for at, words in page.attribute("alt").items() if in_links[at] and _TURNS_PAGES.fullmatch(words)]
    return turning + [icon for icon in in_tools if len(widths.get(icon, "")) < 3]


def _in_logos(page: Page, kept_blocks: Flags) -> Flags:
    """bool[n], elements in links to the front page before or after all blocks that stay, bool[m]."""
    kept, homes = np.flatnonzero(kept_blocks), home_addresses(page)
    links = [link for link, href in page.attribute("href").items() if href.strip() in homes] if kept.size else []
    begin, end = (page.block_run_begin[kept[0]], page.block_run_end[kept[-1]]) if links else (0, 0)
    return within(page, as_mask(page, [at for at in links if page.run_end[at] <= begin or page.run_begin[at] >= end]))


def kept_items(page: Page, kept_text: Flags, media: Flags | None = None) -> tuple[Flags, Flags]:
    """Return the elements (bool[n]) and runs (bool[r]) that stay with some runs, and with some media.

    An element stays while something in its subtree does. Formulas stay with the text of their line. Line breaks stay
    after text that stays, rules between such texts, one between two, and cells in rows of data tables that stay.
    """
    media = np.zeros(page.n, bool) if media is None else media
    if formulas := find_formulas(page).by_element:
        kept, block_of = np.append(sums_in_blocks(page, kept_text) > 0, False), formula_blocks(page)
        media[[formula for formula in formulas if kept[block_of.get(formula, -1)]]] = True
    if boxes := list(checkboxes(page)):  # often in a label without text
        item = nearest(page.parent, page.tag == TAG_ID["li"])[boxes]
        media[boxes] = sums_over_runs(page, kept_text)[item] > 0
    elements, runs = np.zeros(page.n, bool), kept_text.copy()
    core.kept_items(page.arrays, item_kinds(page), media, elements, runs)
    return elements, runs


def _blocks_to_content(page: Page, kept: Flags) -> Integers:
    """int64[n], blocks that are cut between each element and the nearest block that stays; 0 where none does."""
    if not kept.any():
        return np.zeros(page.n, np.int64)
    block, far, at = np.arange(page.m), 2 * page.m, page.block_begin
    before = np.append(-far, np.maximum.accumulate(np.where(kept, block, -far)))
    after = np.append(np.minimum.accumulate(np.where(kept, block, far)[::-1])[::-1], far)
    distance: Integers = np.minimum(at - 1 - before[at], after[at] - at)
    return distance


@cached_on_page
def item_kinds(page: Page) -> NDArray[np.uint32]:
    """uint32[n], what each element is in markup and in plain text, in the bits that the compiled core knows."""
    kinds, lines, omitted = _KIND_OF_TAG.take(page.tag), displayed_as_blocks(page), omitted_elements(page)
    changes = [(data_tables(page), core.ROLE, core.TABLE)]  # elements, bits to clear, bits to set
    if np.count_nonzero(omitted):
        kinds[omitted] |= core.IS_OMITTED
    if "table" in page.tag_names:
        kinds[layout_tables(page)] |= core.IN_LAYOUT
    codes = code_blocks(page).nonzero()[0].tolist()
    if codes:
        in_code, code_lines = in_code_blocks(page), code_line_elements(page)
        kinds[in_code] |= core.IN_CODE
        kinds[code_lines] |= core.IS_LINE_OF_CODE
        lines = [line for line in lines if not (in_code[line] and ends_line_itself(page, line))]
        around = [at for at in page.parent[codes].tolist() if page.tag[at] == TAG_ID["p"]]  # see _output_names
        spans = [line for line in code_lines if page.tag[line] == TAG_ID["span"]]
        changes += [(around, core.ROLE, core.BLOCK), (spans, core.ROLE, core.CODE_LINE)]
    changes += [(lines, 0, core.IS_LINE), (codes, _IN_OUTPUT, core.CODE | core.IS_WRITTEN | core.IS_BLOCK)]
    changes.append(([*written_instead(page)], _IN_OUTPUT, core.WRITTEN | core.IS_WRITTEN | core.IS_VOID))
    for elements, cleared, bits in changes:
        if elements:
            kinds[elements] = kinds[elements] & ~np.uint32(cleared) | np.uint32(bits)
    return kinds


@cached_on_page
def written_instead(page: Page) -> dict[int, Pieces]:
    """What is written instead of some elements and what they hold: formulas and checkboxes."""
    pieces: dict[int, Pieces] = {box: [Box(mark), " "] for box, mark in checkboxes(page).items()}
    for element, formula in find_formulas(page).by_element.items():
        pieces[element] = [" ", formula, " "] if formula.is_emoji and formula.tex.isascii() else [formula]  # :smile:
    return pieces


def join_items(page: Page, elements: Flags, attributes: list[Pairs], runs: Flags) -> Markup:
    """Make the markup of some elements of a page (bool[n]), with the attributes of each, and of some runs (bool[r]).

    Empty links and pictures without an address are left out, and so are elements below :data:`MAX_NESTING`. A line
    break stands between texts of two blocks where the element between them was cut.
    """
    runs = runs.copy()
    runs[empty_runs(page)] = False
    numbers, run_numbers = elements.nonzero()[0], runs.nonzero()[0]
    names = _output_names(page, numbers)
    values: list[Any] = [*attributes, *_texts(page, run_numbers), [], []]
    kinds, tag = item_kinds(page).copy(), page.tag[numbers]
    pieces = written_instead(page)
    for position, element in enumerate(numbers.tolist() if pieces else ()):
        if element in pieces:
            names[position], values[position] = "", pieces[element]
    for position in np.flatnonzero(tag == TAG_ID["img"]).tolist():
        if names[position] and not any(name in {"src", "srcset"} and value.strip() for name, value in values[position]):
            kinds[numbers[position]] = 0
    for position in np.flatnonzero(tag == TAG_ID["a"]).tolist():
        if any(name in {"id", "name"} for name, _ in values[position]):
            kinds[numbers[position]] &= ~np.uint32(core.IS_LINK)
    source, ends = np.empty((2, len(numbers) + 2 * len(run_numbers)), np.int32)
    given = page.arrays, kinds, elements, runs
    source = source[: core.join_items(*given, source, ends)].tolist()
    names += [*repeat("", len(run_numbers)), "br", "br"]
    sources = [*numbers.tolist(), *(run_numbers + page.n).tolist(), LINE_END, CUT]
    names, values, sources = (list(map(items.__getitem__, source)) for items in (names, values, sources))
    label_of = list_labels(page)
    labels = {item: label_of[each] for item, each in enumerate(sources) if each in label_of} if label_of else {}
    lines = _code_lines(page, given) if "pre" in names else {}
    codes = {item: lines[each] for item, each in enumerate(sources) if each in lines} if lines else {}
    return Markup(names, values, ends[: len(source)].tolist(), sources, labels, codes, page.title)


def _code_lines(page: Page, given: tuple[Any, ...]) -> dict[int, str]:
    """Lines of each block of code, by element; ``given`` is what the compiled core joins items of."""
    code, bounds = core.code_lines(*given, *text_arguments(page))
    found = np.frombuffer(bounds, np.int32).reshape(-1, 3).tolist()
    return {element: code[begin:end].decode() for element, begin, end in found}


def text_arguments(
    page: Page, run_texts: Mapping[int, str] = MappingProxyType({}), labels: Mapping[int, str] = MappingProxyType({})
) -> tuple[dict[int, str], dict[int, str]]:
    """Texts by run and by element, which the compiled core needs to write text."""
    instead = {element: "".join(map(str, pieces)) for element, pieces in written_instead(page).items()}
    return {**run_rewrites(page), **run_texts}, {**labels, **instead}


def _texts(page: Page, runs: NDArray[np.intp]) -> list[str | Pieces]:
    """Text of each run as it is written, in pieces if it has formulas."""
    changed: dict[int, str | Pieces] = {**run_rewrites(page), **tex_in_text(page)}
    bounds = zip(*(each.tolist() for each in (runs, page.run_offset[runs], page.run_offset[runs + 1])), strict=True)
    return [changed[run] if run in changed else page.text[begin:end] for run, begin, end in bounds]


def _output_names(page: Page, elements: NDArray[np.intp]) -> list[str]:
    """Name to write for each element; "" if only its contents are written."""
    names = [OUTPUT_NAMES[tag] for tag in page.tag[elements].tolist()]
    is_div = layout_tables(page)[elements]
    for position in np.flatnonzero(page.tag[elements] == TAG_ID["blockquote"]).tolist():
        is_div[position] |= (
            _FORUM_POST.search(dict(page.attributes[int(elements[position])]).get("class", "")) is not None
        )
    code = code_blocks(page)[elements]
    is_div |= as_mask(page, page.parent[elements[code]])[elements] & (page.tag[elements] == TAG_ID["p"])
    struck = (styles_of_text(page, "text-decoration-line")[elements] > 0) & (page.tag[elements] == TAG_ID["span"])
    for name, chosen in (("div", is_div), ("pre", code), ("s", struck)):
        for position in np.flatnonzero(chosen).tolist():
            names[position] = name
    return names


def _find_wrappers(page: Page, elements: Flags, runs: Flags) -> Flags:
    """bool[n], each ``div`` without a name that holds nothing but one block-level element, and empty levels of lists.

    Such a level is an item of a list without numbers that holds nothing but another one, and this one.
    """
    children = np.bincount(page.parent[elements] + 1, minlength=page.n + 1)[1:]
    texts = np.bincount(page.run_node[runs], minlength=page.n)
    wrapper: Flags = _IS_DIV[page.tag] & (children == 1) & (texts == 0) & ~code_blocks(page)
    only_child = elements & wrapper[page.parent]
    wrapper[page.parent[only_child]] = _HAS_BORDER[page.tag[only_child]]
    found = np.flatnonzero(wrapper)
    wrapper[found] = [not pairs for pairs in page.attributes.of_elements(found, _KEEPS_DIV | {"class"}, _keeps_div)]
    if "ul" in page.tag_names:
        is_list, level = page.tag == TAG_ID["ul"], nearest(page.parent, elements & ~wrapper)[page.parent]
        is_level = (page.tag == TAG_ID["li"]) & is_list[level] & (children == 1) & (texts == 0)
        inner = np.flatnonzero(elements & is_list & is_level[level])
        inner = inner[[not pairs for pairs in page.attributes.of_elements(level[inner].astype(np.intp), _KEEPS_DIV)]]
        wrapper[inner] = wrapper[level[inner]] = True
    return wrapper


def _keeps_div(pair: tuple[str, str]) -> tuple[str, str] | None:
    """Give an attribute back if a ``div`` is written for it."""
    name, value = pair
    return pair if name in _KEEPS_DIV or is_callout("div", value) else None
