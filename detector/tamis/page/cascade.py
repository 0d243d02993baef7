"""The cascade: what a page's own styles come to on one screen, of the properties that can hide text, and some others.

The screen is 1280 by 800 pixels, light, with a mouse and scripts. Sheets from elsewhere are not fetched, and count as
empty. The compiled core splits the page's sheets into rules and finds those that may matter: first by values that hide,
then all that say something of the elements hidden so. What is read of a rule is remembered by the process.
"""

from __future__ import annotations

import re
from base64 import b64decode
from contextlib import suppress
from functools import cache, lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, cast
from urllib.parse import unquote_to_bytes

import numpy as np

from tamis.core import core
from tamis.page.attributes import attribute_predicate
from tamis.page.css_values import (
    ANY_COLOR,
    INHERITED,
    LONGHANDS,
    MAY_HIDE,
    NO_COLOR,
    OPENABLE,
    READERS,
    SAID,
    UNSET,
    WAYS,
    read_background,
)
from tamis.page.media import holds, is_supported
from tamis.page.selectors import everything, parse_selector, select
from tamis.page.tree import (
    TAG_ID,
    TAG_NAMES,
    as_mask,
    cached_on_page,
    elements_with_names,
    nearest,
    run_lengths,
    runs_of_blocks,
    subtree_sums,
    sums_over_runs,
    tag_set,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cssselect.parser import Selector
    from numpy.typing import NDArray

    from tamis.arrays import Flags, Floats, Indices
    from tamis.page.css_values import Declarations
    from tamis.page.page import Page

    Candidates = dict[str, Flags]
    Chosen = Flags | NDArray[np.intp]  # elements
    Rank = tuple[int, int, tuple[int, int, int], int]

_HIDING_RULES: Final = re.sub(
    r"\s*[\n|]\s*",
    "\n",
    """display 0 n|visibility 0 h c|opacity 0 0 . c -|filter 0 o|font-size 0 0 . 1p 2p c|font 0 0 .|text-indent 0 - 9
    left 0 - 9|right 0 -|top 0 -|bottom 0 -|inset 0 -|margin 0 -|margin-left 0 -|clip 0 r|clip-path 0 i e c p
    transform 0 s r m t|scale 0 0 .|translate 0 -|zoom 0 0 .|content-visibility 0 h|height 1 0 . 1p|width 1 0 . 1p
    max-height 1 0 . 1p|max-width 1 0 . 1p|line-height 1 0 . 1p|overflow 2 h c|overflow-x 2 h c|overflow-y 2 h c
    color 0 #f w t r h|color 4|background 8|background-color 8|-webkit-text-fill-color 0 t""",
)
"""Declarations of rules that may hide, as the core takes them: how each counts, and how its value may begin."""

_BROWSER: Final = tuple(
    (name, cast("Selector", parse_selector(selector)))
    for name, selector in (
        ("dialog", "dialog:not([open])"),
        ("popover", "[popover]"),
        ("shadowrootmode", "[shadowrootmode] ~ *"),
        ("layout", "[layout=nodisplay]"),  # of AMP
        *((name, name) for name in ("rp", "noembed", "noframes", "progress", "meter")),
    )
)
"""What browsers do not render; each with an element or attribute of it."""
_SHEETS_IN_ADDRESSES: Final = attribute_predicate("href", parts=("data:text/css",))
_NOT_RENDERED: Final = "display:none"
_CLIPPED: Final = "position:absolute;clip:rect(0,0,0,0)"
_FOR_READERS: Final = (
    attribute_predicate("class", parts=("sr-only", "screen-reader", "visually", "element-invisible")),
    re.compile(  # also with the prefix of a site; not "sr-only md:not-sr-only"
        r"(?<!\S)(?!not-)(?:[a-z]+-)?"
        r"(?:sr-only|screen-reader(?:-only|-text)?|visually-?hidden|element-invisible)"
        r"(?!\S)(?!.{0,200}\b(?:sm|md|lg|xl):not-sr-only)",
        re.DOTALL,
    ),
)

_TAGS: Final = "\n".join(TAG_NAMES)
_CSS: Final = frozenset({"text/css", ""})
_INERT: Final = (TAG_ID["noscript"], TAG_ID["template"])
_INLINE: Final = (1_000_000, 0, 0)  # specificity of a style attribute
_UNLAYERED: Final = 1_000_000  # rank of what is in no layer
_MAX_SELECTORS: Final = 100  # of a rule
_MAX_LENGTH: Final = 500  # of a nested selector
_MAX_WORK: Final = 40_000_000  # elements that steps of selectors are matched against, of all rules
_MIN_STEPS: Final = 1_000  # of selectors, on the largest page
_STEP_COST: Final = 1_000  # elements that a step takes the time of on the smallest page
_STEP: Final = re.compile(r"[\s>+~,]+|[.#:\[(*]")
_OF_MOVEMENT: Final = frozenset({"opacity", "visibility", "size"})  # how things are before they move in
_MOVING: Final = re.compile(r"data-(?:w-id|aos|sal|(?:.*-)?(?:anim|appear).*)")
"""Attributes of what scripts from elsewhere move in: of Webflow, AOS, Framer and others."""
_BACKGROUND: Final = re.compile(rb"background(?:-color|-image)?\s*+:\s*+([^;}]*+)")
_CODE: Final = tag_set("pre", "code")
_WITHOUT_SCRIPTS: Final = re.compile(r"no-?js")
_WHITE: Final = frozenset({0xFFFFFF, NO_COLOR})


class Hiding(NamedTuple):
    """How the styles of an element hide it.

    Attributes:
        way: one of :data:`tamis.page.css_values.WAYS`.
        moves: whether they move it in.
        is_shown_in_other_state: whether they show it when it, or something around it, has another class or the like.
    """

    way: str
    moves: bool
    is_shown_in_other_state: bool


class Styles(NamedTuple):
    """Hidden elements, and by inherited way the element that sets the value of each: int32[n]."""

    hiding: dict[int, Hiding]
    setters: dict[str, Indices]


def find_hiding(page: Page, wanted: Flags) -> Styles:
    """Find the elements with text of some blocks (bool[m]) whose own styles hide them.

    What hides half of the page's text is passed over: a script shows it, or a sheet from elsewhere.
    """
    not_rendered = _not_rendered(page)
    if not (not_rendered or core.has_styles(_own_styles(page), _HIDING_RULES)):
        return Styles({}, {})
    holding = sums_over_runs(page, runs_of_blocks(page, wanted) & page.is_nonblank) > 0
    browser = [(among, css) for chosen, css in not_rendered if np.count_nonzero(among := chosen & holding)]
    found_rules, styles = core.find_styles(_own_styles(page), holding, _HIDING_RULES, False)
    styled = page.attributes.elements_and_values(dict(styles))
    ways_of = cache(MAY_HIDE.__getitem__)  # that keeps no long ones, and thousands of elements may have the same
    by_ways: dict[tuple[str, ...], list[int]] = {ways_of(style): [] for element, style in styled if holding[element]}
    rules = [
        (selector, MAY_HIDE[declarations])
        for _, selectors, _, declarations in _read_rules(page, found_rules)
        for selector in selectors
    ]
    if not (browser or any(by_ways) or rules):
        return Styles({}, {})
    for element, style in styled if any(by_ways) else ():
        if (ways := ways_of(style)) in by_ways:
            by_ways[ways].append(element)
    length = run_lengths(page)
    is_part = 2 * sums_over_runs(page, length) < length.sum() if browser else holding
    found = [(as_mask(page, elements), ways) for ways, elements in by_ways.items() if ways]
    found += [(select(page, selector, among=holding), ways) for selector, ways in rules]
    of_browser = [(among & is_part, MAY_HIDE[css]) for among, css in browser]
    candidates: Candidates = {}
    for number, (chosen, ways) in enumerate(of_browser + found):
        among, is_known = chosen & holding, number < len(of_browser)
        if among.any() and (is_known or 2 * length[within(page, chosen)[page.run_node]].sum() < length.sum()):
            candidates |= {way: candidates[way] | among if way in candidates else among for way in ways}
    return _compute(page, browser, holding, candidates) if candidates else Styles({}, {})


@cached_on_page
def own_css(page: Page) -> bytes:
    """The page's own style sheets for the screen."""
    table, sheets = page.attributes, elements_with_names(page, "style")
    if sheets and not table.names.keys().isdisjoint(("media", "type")):
        wrong = [index for media, index in table.first_index_by_value("media").items() if not holds(media or "all")]
        wrong += [index for kind, index in table.first_index_by_value("type").items() if kind.lower() not in _CSS]
        others = frozenset(table.elements_with(wrong))
        sheets = [sheet for sheet in sheets if sheet not in others]
    texts = [page.raw_texts[sheet] for sheet in sheets if page.tag[page.parent[sheet]] not in _INERT]
    for _, value in table.matching(_SHEETS_IN_ADDRESSES):
        head, _, data = value.partition(",")
        with suppress(ValueError):  # of base64
            texts.append(b64decode(data) if "base64" in head else unquote_to_bytes(data))
    return b"\n".join(texts).replace(b"\0", b"")


@cached_on_page
def _not_rendered(page: Page) -> list[tuple[Flags, str]]:
    """What the sheets of browsers hide (bool[n]), and those from elsewhere by names that say so."""
    table, found = page.attributes, []
    names = page.tag_names.union(table.names, page.unknown_names.values())
    for name, selector in _BROWSER:
        if name in names:
            found.append((select(page, selector, among=everything(page)), _NOT_RENDERED))
    hidden = [index for value, index in table.first_index_by_value("hidden").items() if value != "until-found"]
    elements = table.elements_with(hidden) + elements_with_names(page, "title")[1:]
    parents = ((element, int(page.parent[element])) for element in table.elements_having("placeholder", "fallback"))
    elements += [element for element, parent in parents if _is_of_amp(page, parent)]  # before it loads, if it fails
    if elements:
        found.append((as_mask(page, elements), _NOT_RENDERED))
    if spoken := for_readers(page):
        found.append((as_mask(page, spoken), _CLIPPED))
    return found


def for_readers(page: Page) -> list[int]:
    """Elements that only screen readers say, by the names that say so."""
    return page.attributes.elements_matching(*_FOR_READERS)


def _is_of_amp(page: Page, element: int) -> bool:
    """Whether an element is one of AMP, whose images are read as ``img``."""
    return page.tag[element] == TAG_ID["img"] or page.unknown_names.get(element, "").startswith("amp-")


@cached_on_page
def _own_styles(page: Page) -> object:
    """The page's own sheets and style attributes, which the compiled core reads once and searches for what is asked."""
    untagged, number = "\n".join(page.unknown_names.values()), page.attributes.names.get
    numbers = number("class", -1), number("id", -1), number("style", -1)
    return core.read_styles(page.arrays, _TAGS, untagged, own_css(page), *numbers)


def _read_rules(
    page: Page, rules: list[tuple[int, str]], *, in_any_state: bool = False
) -> Iterator[tuple[int, tuple[Selector, ...], str, str]]:
    """Order, selectors, layer and declarations of rules."""
    left = max(_MAX_WORK // (page.n + len(page.attributes.data) // 50 + _STEP_COST), _MIN_STEPS)
    for order, text in rules:
        preludes, _, declarations = text.rpartition("\0")
        selectors, layer, steps = _read_preludes(preludes) if in_any_state or MAY_HIDE[declarations] else ((), "", 0)
        left -= steps
        if left < 0:
            return
        yield order, selectors, layer, declarations


@lru_cache(maxsize=2_048)
def _read_preludes(preludes: str) -> tuple[tuple[Selector, ...], str, int]:
    """Selectors of a rule that holds on the screen, none of another one, the layer that it is in, and their steps."""
    selectors, layer = [""], ""
    for prelude in preludes.split("\0"):
        if prelude[:1] != "@":
            inner = [each for each in prelude.split("\1") if each and not _WITHOUT_SCRIPTS.search(each)]
            selectors = [nested for outer in selectors for each in inner if (nested := _nest(outer, each))][
                :_MAX_SELECTORS
            ]
            continue
        name, _, condition = re.sub(r"^(@[a-z]+)\s*", r"\1 ", prelude.lower()).partition(" ")
        if (name == "@media" and not holds(condition)) or (name == "@supports" and not is_supported(condition)):
            return (), "", 0
        if name == "@layer":
            layer = condition or "*"
        elif name == "@scope":
            selectors = [condition.partition(")")[0].strip("( ")]
    steps = sum(1 + len(_STEP.findall(selector)) for selector in selectors)
    return tuple(filter(None, map(parse_selector, selectors))), layer, steps


def _nest(outer: str, inner: str) -> str:
    """A selector in a rule of another one; "" for one that is too long."""
    if len(inner) + inner.count("&") * len(outer) > _MAX_LENGTH:
        return ""
    return inner.replace("&", outer) if "&" in inner else f"{outer} {inner}".strip()


def _compute(page: Page, browser: list[tuple[Flags, str]], holding: Flags, candidates: Candidates) -> Styles:
    """Find which of the candidates (bool[n] by way) are hidden, by all that is said of them."""
    hidden = np.logical_or.reduce([*candidates.values()])
    subjects = hidden
    if not candidates.keys().isdisjoint(INHERITED):
        subjects = (within(page, hidden) & holding) | (subtree_sums(page, hidden) > 0)
    names = frozenset(name for way in candidates for name in WAYS[way].properties)
    ranked, shown = _rank(page, browser, subjects, names, candidates)
    values = _cascade(page, names, ranked)
    if "color" in candidates:
        values["background-color"] = _backgrounds(page, values["background-color"])
    return _evaluate(page, candidates, values, shown)


def find_values(
    page: Page, names: frozenset[str], wanted: str, find_subjects: Callable[[Page], Flags]
) -> dict[str, Floats]:
    """float64[n] by property, its value on elements as their own styles set it; nothing where none does.

    Args:
        page: the page.
        names: properties of :data:`tamis.page.css_values.READERS`.
        wanted: declarations one of which an element must have, as :data:`_HIDING_RULES` has them.
        find_subjects: finds the elements that rules may choose (bool[n]); style attributes count on all.
    """
    if not core.has_styles(_own_styles(page), wanted):
        return {}
    subjects = find_subjects(page)
    rules, styles = core.find_styles(_own_styles(page), subjects, wanted, False)
    chosen = as_mask(page, page.attributes.elements_with([index for index, _ in styles]))
    for _, selectors, _, _ in _read_rules(page, rules, in_any_state=True):
        for selector in selectors:
            chosen |= select(page, selector, among=subjects) & subjects
    return _cascade(page, names, _rank(page, [], chosen, names, {})[0]) if np.count_nonzero(chosen) else {}


@lru_cache(maxsize=256)
def _lines(names: frozenset[str]) -> str:
    """Some properties and their shorthands, whatever their values, as the compiled core takes them."""
    shorthands = {short for short, longhands in LONGHANDS.items() if not names.isdisjoint(longhands)}
    return "\n".join(f"{name} 0" for name in names | shorthands)


def _rank(
    page: Page, browser: list[tuple[Flags, str]], subjects: Flags, names: frozenset[str], candidates: Candidates
) -> tuple[list[tuple[Chosen, Declarations]], Candidates]:
    """What is said of some properties of some elements (bool[n]) in ascending order of rank, and what rules show.

    Those are the candidates (bool[n] by way of hiding) that a rule for another state shows.
    """
    shown = {way: np.zeros(page.n, bool) for way in candidates}
    ranked: list[tuple[Rank, Chosen, str]] = [((0, 0, (0, 0, 0), 0), chosen, css) for chosen, css in browser]
    layers: dict[str, int] = {}
    rules, attributes = core.find_styles(_own_styles(page), subjects, _lines(names), bool(candidates))
    for order, selectors, layer, declarations in _read_rules(page, rules, in_any_state=True):
        place = layers.setdefault(layer, len(layers)) if layer else _UNLAYERED
        shows = [way for way in candidates.keys() & OPENABLE if _shows(declarations, way)]
        for selector in selectors:
            chosen = select(page, selector, among=subjects)
            if np.count_nonzero(chosen):
                ranked.append(((1, place, selector.specificity(), order), chosen, declarations))
            for way in shows:
                shown[way] |= select(page, selector, among=candidates[way], in_any_state=True) & ~chosen
    styled: dict[str, list[int]] = {}
    for element, style in page.attributes.elements_and_values(dict(attributes)):
        if subjects[element]:
            styled.setdefault(style, []).append(element)
    ranked += [((1, _UNLAYERED, _INLINE, 0), np.array(elements), style) for style, elements in styled.items()]
    return [(chosen, SAID[css]) for _, chosen, css in sorted(ranked, key=itemgetter(0))], shown


def _cascade(page: Page, names: frozenset[str], ranked: list[tuple[Chosen, Declarations]]) -> dict[str, Floats]:
    """float64[n] by property, its value on each element, by what is said in ascending order of rank."""
    values = {name: np.full(page.n, READERS[name][1]) for name in names}
    for is_important in (False, True):
        for chosen, declarations in ranked:
            for name, number, important in declarations:
                if important == is_important and name in names:
                    values[name][chosen] = number
    return values


def _shows(css: str, way: str) -> bool:
    return way not in MAY_HIDE[css] and any(name in WAYS[way].properties[:2] for name, *_ in SAID[css])


def _evaluate(page: Page, candidates: Candidates, values: dict[str, Floats], shown: Candidates) -> Styles:
    styles = Styles({}, {})
    moved = _moved_by_scripts(page) if not candidates.keys().isdisjoint(_OF_MOVEMENT) else frozenset()
    for way in (way for way in WAYS if way in candidates):
        properties, hides = WAYS[way]
        found = hides(values.__getitem__) & candidates[way]
        if way in {"visibility", "opacity"} and page.unknown_names:  # of custom elements, until scripts define them
            found[[element for element, name in page.unknown_names.items() if "-" in name]] = False
        if way == "color":
            found &= ~within(page, _CODE.take(page.tag))  # which has its background from elsewhere
        if way in INHERITED:
            is_set = np.logical_or.reduce([values[name] != UNSET for name in properties if READERS[name][1] == UNSET])
            styles.setters[way] = nearest(page.parent, is_set)
        for element in found.nonzero()[0].tolist():
            if element not in styles.hiding or styles.hiding[element].way in _OF_MOVEMENT:
                moves = way in _OF_MOVEMENT and (element in moved or bool(values["moves"][element] > 0))
                styles.hiding[element] = Hiding(way, moves, bool(shown[way][element]))
    return styles


def _moved_by_scripts(page: Page) -> frozenset[int]:
    """Elements that scripts from elsewhere move in, as their attributes say; on pages of Webflow also by a style."""
    table = page.attributes
    styles = ("style", "opacity:0") if "data-wf-page" in table.names else ("data-settings", "animation")  # Elementor
    found = table.elements_with([index for index, _ in table.containing(styles[1:], styles[0])])
    return frozenset(found + table.elements_having(*filter(_MOVING.fullmatch, table.names)))


def _backgrounds(page: Page, own: Floats) -> Floats:
    """float64[n], the colour that each element stands on, as far as the page itself tells."""
    around = nearest(page.parent, own != NO_COLOR)
    default = 0xFFFFFF if _is_white(page) else ANY_COLOR
    return np.where(around < 0, default, own[around])


def _is_white(page: Page) -> bool:
    """Whether a page is white where it sets no background."""
    named = page.attributes.first_index_by_value
    if named("bgcolor") or named("background") or "stylesheet" in " ".join(named("rel")).lower():
        return False
    values = (value.decode(errors="replace").strip() for value in _BACKGROUND.findall(own_css(page).lower()))
    return all(value in {"inherit", "initial", ""} or read_background(value) in _WHITE for value in values)
