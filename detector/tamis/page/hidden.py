"""Text that nobody sees: hidden by attributes, inline styles, or simple selectors of the page's own style sheets.

Such text is a way to put words into whatever reads the output. What a script shows at once, or when a reader asks for
it, is content: tabs, accordions, what fades in, parts that a framework has yet to put in place. So an element is not
hidden where something on the page reveals it: a control or script that names it, a rule that shows it in another state,
a role or name that says what it is, or most of the page's text in it.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

import numpy as np

from tamis.core import core
from tamis.memo import Memo
from tamis.page.attributes import attribute_predicate
from tamis.page.text import character_properties
from tamis.page.tree import (
    TAG_ID,
    elements_named,
    is_among,
    once_per_page,
    run_lengths,
    subtree_sums,
    sums_over_runs,
    tag_set,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from tamis.page.page import Page

    Flags = NDArray[np.bool_]
    Style = dict[str, str]

Hidden = Literal["drop", "keep"]
HIDDEN: Final[tuple[Hidden, ...]] = get_args(Hidden)

_STYLES: Final = attribute_predicate(
    "style",
    parts=(
        *("none", "hidden", "opacity", "font-size", "font:0", "indent", "absolute", "fixed", "clip", "scale", "white"),
        *("#fff", "transparent"),
    ),
)
_BACKGROUNDS: Final = attribute_predicate("style", parts=("background",))
_NAMED_UNSEEN: Final = attribute_predicate("class", parts=("sr-only", "screen-reader", "visually", "element-invisible"))
_POSSIBLE: Final = frozenset({_STYLES, _NAMED_UNSEEN})
_UNSEEN_CLASS: Final = re.compile(
    r"(?:^|\s)(?:(?:u-)?sr-only|screen-reader(?:-text|-only)?|(?:u-)?visually-?hidden|element-invisible)(?:\s|$)"
)
_CODE: Final = tag_set("pre", "code")
_WHOLE: Final = tag_set("html", "head", "body", "main", "article")
_CONTROLS: Final = ("href", "aria-controls", "data-target", "data-bs-target", "data-tab", "data-toggle", "for")
_STREAMED: Final = re.compile(r"S:[0-9a-f]+")  # what React has sent and a script of its own puts in place
_REVEALED: Final = re.compile(
    r"tab(?!le)|panel|pane\b|accordi|collaps|expan|toggle|more|less|slid|carousel|swiper|faq|answer|spoiler|lazy|defer|"
    r"modal|popup|overlay|lightbox|dropdown|sub-?menu|mobile|desktop|show|reveal|fade|animat|load|wow|aos|step|page-|"
    r"subscri|paywall|premium|lockdown|translat|transcript|description|details|full|truncat|excerpt|print|cloak|app\b|"
    r"root\b|editor|caption|preview",
    re.IGNORECASE,
)
_OF_MOVEMENT: Final = frozenset({"opacity", "visibility", "size", "transform"})  # how things are before they move in
_OF_ONE: Final = _OF_MOVEMENT | {"text-indent"}  # of a rule for several elements the names of pictures, or movements
_MOVES: Final = re.compile("trans|anim")
_MOST: Final = 0.5  # of the page's text, from which on an element is what a script is yet to show
_MANY: Final = 4  # elements with the same two attributes or more: answers, panels
_ONE_ATTRIBUTE: Final = 4  # bytes
_MAX_PLACES: Final = 50  # of a name in a sheet
_MAX_STEPS: Final = 32  # up the tree, for a background

_DECLARATION: Final = re.compile(r"([a-z-]+)\s*+:\s*+([^;{}]*+)")
_TINY: Final = re.compile(r"\+?(?:0*\.?0+(?:px|r?em|pt|%|v[wh])?|0?\.\d{1,9}(?:px|pt)|1(?:px|pt))")
_ZERO: Final = re.compile(r"0*\.?0+%?|0?\.0\d*")
_FAR: Final = re.compile(r"-(?:\d{4,}|\d{3,}(?:\.\d+)?(?:r?em|v[wh]|%|ch)|[5-9]\d\dpx)")
_EMPTY_CLIP: Final = re.compile(r"rect\((?:[\s,]*[01](?:px|em)?){4}\s*\)|inset\((?:50|100)%|circle\(0")
_NO_SCALE: Final = re.compile(r"scale[xy]?\(0[,)]")
_SIDES: Final = ("left", "top", "right", "bottom")
_SIZES: Final = ("height", "width", "max-height", "max-width")
_COLORS: Final = {"white": "#ffffff", "black": "#000000", "rgba(0,0,0,0)": "transparent"}
_WHITE: Final = frozenset({"#ffffff", "transparent", "none", "inherit", "initial", ""})

_SHOWING: Final = re.compile(
    r"display\s*+:\s*+(?!none)\w|visibility\s*+:\s*+visible|opacity\s*+:\s*+(?:1|0?\.[1-9])|height\s*+:\s*+(?:auto|[1-9])|"
    r"(?:clip|left|clip-path|position|transform)\s*+:\s*+(?:auto|static|0|none|initial|relative)",
    re.IGNORECASE,
)
_BACKGROUND: Final = re.compile(r"background(?:-color|-image)?\s*+:\s*+([^;}]*+)")
_COMMENT: Final = re.compile(r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?")
_COMPOUND: Final = re.compile(r"([a-zA-Z][\w-]*+)?+((?:[.#][\w\x80-\U0010ffff-]++)*+)(\[hidden\])?")
_NAME: Final = re.compile(r"[.#][\w\x80-\U0010ffff-]++")
_NAMING: Final = {".": "class", "#": "id"}  # attributes, by the mark of their names in selectors
_WITHOUT_SCRIPTS: Final = re.compile("no-?js")
_FOR_SCREENS: Final = frozenset({"all", "screen", ""})
_MAX_PARTS: Final = 4  # of a selector
_MAX_NAMES: Final = 31  # of a selector
_MAX_CLASSES: Final = 20  # of an element
_MAX_SEARCHED: Final = 200_000_000  # bytes of scripts, once for each name that is looked for in them
_SHORT: Final = 4  # characters of a name that may be part of anything
_QUOTES: Final = (b'""', b"''", b".'", b'."')  # around a class in a script


class Effect(NamedTuple):
    """What a style does to an element."""

    way: str  # property by which it hides it, whatever it stands on; "" if it does not
    moves: bool  # hides it by how things are before they move in, and moves it
    is_white: bool  # makes its letters white


def hidden_runs(page: Page, wanted: Flags) -> Flags:
    """Find what nobody sees of some blocks.

    Args:
        page: the page.
        wanted: bool[m], the blocks that matter; elsewhere some of what is hidden may not be found.

    Returns:
        bool[r], the runs that are hidden.
    """
    elements = _hidden_elements(page, wanted)
    if not elements:
        return np.zeros(page.r, bool)
    return within(page, is_among(page, elements))[page.run_node]


def _read_effect(css: str) -> Effect:
    style = _read_style(css)
    way = next((way for name, way, hides in _WAYS if name in style and hides(style[name], style)), "")
    moves = way in _OF_MOVEMENT and any(name != way and _MOVES.search(name) for name in style)
    return Effect(way, moves, "color" in style and _color(style["color"]) == _COLORS["white"])


EFFECTS: Final = Memo(_read_effect, max_size=1_000)
"""What a style does, by its declarations."""


def _read_style(css: str) -> Style:
    """Read declarations, names and values in small letters and without ``!important``."""
    bare = _COMMENT.sub("", css).lower().replace("!important", "")
    return {name: value.strip() for name, value in _DECLARATION.findall(bare)}


def _is_clipped_to_nothing(overflow: str, style: Style) -> bool:
    return overflow in {"hidden", "clip"} and any(_TINY.fullmatch(style.get(side, "")) for side in _SIZES)


def _is_unseen_color(color: str, style: Style) -> bool:
    color = _color(color)
    return (
        bool(color)
        and color in {"transparent", _background(style)}
        and not any("clip" in name or "stroke" in name for name in style)  # letters that are a window or an outline
    )


_WAYS: Final[tuple[tuple[str, str, Callable[[str, Style], object]], ...]] = (
    ("display", "display", lambda value, _: value == "none"),
    ("visibility", "visibility", lambda value, _: value in {"hidden", "collapse"}),
    ("font-size", "font-size", lambda value, _: _TINY.fullmatch(value)),
    (
        *("font", "font-size"),
        lambda value, style: not style.get("font-size") and _TINY.fullmatch(re.split("[ /]", value, maxsplit=1)[0]),
    ),
    ("text-indent", "text-indent", lambda value, _: _FAR.match(value)),
    (
        *("position", "position"),
        lambda value, style: value in {"absolute", "fixed"} and any(_FAR.match(style.get(side, "")) for side in _SIDES),
    ),
    ("clip", "clip", lambda value, _: _EMPTY_CLIP.match(value)),
    ("clip-path", "clip", lambda value, _: _EMPTY_CLIP.match(value)),
    ("overflow", "size", _is_clipped_to_nothing),
    ("overflow-y", "size", _is_clipped_to_nothing),
    ("opacity", "opacity", lambda value, _: _ZERO.fullmatch(value)),
    ("transform", "transform", lambda value, _: _NO_SCALE.match(value.replace(" ", ""))),
    ("color", "color", _is_unseen_color),
)
"""A property, the way in which it may hide an element, whatever it stands on, and whether its value does in a style."""


def _color(value: str) -> str:
    """A colour as ``#rrggbb`` or as it is named."""
    value = value.replace(" ", "")
    if value.startswith("rgb") and value not in _COLORS:
        parts = value.partition("(")[2].rstrip(")").split(",")
        if len(parts) >= 3 and all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts[:3]):
            return "#" + "".join(f"{int(part):02x}" for part in parts[:3])
    if value.startswith("#") and len(value) == 4:
        return "#" + "".join(2 * digit for digit in value[1:])
    return _COLORS.get(value, value)


def _background(style: Style) -> str:
    """Background of an element, "" for none that is stated."""
    return _color(style.get("background-color") or style.get("background", ""))


def _hidden_elements(page: Page, wanted: Flags) -> list[int]:
    """The elements with text of the wanted blocks that are hidden and that nothing reveals."""
    ways = _ways_of_hiding(page, wanted)
    if not ways:
        return []
    table, blocks = page.attributes, page.block_end - page.block_begin
    keys = {element: table.first[slice(*table.begin[element : element + 2].tolist())].tobytes() for element in ways}
    repeated = {key for key, number in Counter(keys.values()).items() if number >= _MANY and len(key) > _ONE_ATTRIBUTE}
    has_size = any(way == "font-size" for way, _ in ways.values())
    styled = [*page.attribute("class"), *page.attribute("style")] if has_size else []
    styled_inside = subtree_sums(page, is_among(page, styled))
    possible = {
        element: (keys[element], way, moves)
        for element, (way, moves) in ways.items()
        if not _WHOLE[page.tag[element]]
        and (blocks[element] < 2 or not _hold_most(page, [element]))
        and (way != "font-size" or styled_inside[element] < 2)  # what stands in it may have a size of its own
        and keys[element] not in repeated
    }
    examples = {likeness: element for element, likeness in possible.items()}
    scripts = _Scripts(page)
    revealed = {
        likeness for likeness, element in examples.items() if _is_revealed(page, element, *likeness[1:], scripts)
    }
    return [element for element, likeness in possible.items() if likeness not in revealed]


def _hold_most(page: Page, elements: list[int]) -> bool:
    """Whether some elements together hold most of the page's text."""
    inside = _characters_inside(page)
    return bool(inside[elements].sum() >= _MOST * inside[0])


@once_per_page
def _characters_inside(page: Page) -> NDArray[np.int64]:
    """int64[n], characters of each element's runs that are not blank."""
    return sums_over_runs(page, run_lengths(page))


def _ways_of_hiding(page: Page, wanted: Flags) -> dict[int, tuple[str, bool]]:
    """How each element with text of the wanted blocks is hidden that is, and whether its style moves it."""
    table, css = page.attributes, _own_css(page)
    if not css and "hidden" not in table.names and table.matches.keys().isdisjoint(_POSSIBLE):
        return {}
    holding, present = np.zeros(page.n, bool), np.zeros(len(table.first), bool)
    rules, sheet = core.hiding_rules(
        *(page.arrays, table.arrays, wanted, page.has_ink, css),
        *(table.names.get(name, -1) for name in _NAMING.values()),
        *(character_properties(), holding, present),
    )
    stated = table.places_by_value("hidden").items()
    hidden = [place for value, place in stated if present[place] and value.strip().lower() != "until-found"]
    ways = dict.fromkeys(table.elements_with(hidden), ("hidden", False))
    named = [place for place, value in table.matching(_NAMED_UNSEEN) if present[place] and _UNSEEN_CLASS.search(value)]
    for element in table.elements_with(named):
        if holding[element] and not _is_sign(page, element):
            ways[element] = ("class", False)
    effects = {
        place: effect
        for place, style in table.matching(_STYLES)
        if present[place] and ((effect := EFFECTS[style]).way or effect.is_white)
    }
    inline = ((effects[place], elements, False) for place, elements in table.elements_by_place(list(effects)).items())
    white: dict[int, None] = {}  # elements with white letters, in order
    for effect, elements, is_rule in chain(_matches(page, rules, sheet, holding, present), inline):
        if effect.way and (
            len(elements) == 1 or not (_hold_most(page, elements) or (is_rule and effect.way in _OF_ONE))
        ):
            ways |= dict.fromkeys(elements, (effect.way, effect.moves))
        elif effect.is_white:
            white |= dict.fromkeys(elements)
    if white:
        in_code = within(page, _CODE.take(page.tag))  # which has its background from elsewhere
        candidates = [element for element in white if holding[element] and not in_code[element]]
        ways |= dict.fromkeys(_on_white(page, sheet, candidates), ("color", False))
    return {element: way for element, way in ways.items() if holding[element]}


def _is_sign(page: Page, element: int) -> bool:
    """Whether an element for screen readers has no letter or digit: a sign that parts what stands beside it."""
    begin, end = page.run_offset[page.run_begin[element]], page.run_offset[page.run_end[element]]
    return bool(end - begin <= _SHORT) and not any(map(str.isalnum, page.text[begin:end]))


def _on_white(page: Page, sheet: bytes, elements: list[int]) -> list[int]:
    """Those of some elements that stand on white, as far as the page itself tells."""
    table = page.attributes
    stated = {place: _background(_read_style(css)) for place, css in table.matching(_BACKGROUNDS)}
    backgrounds = dict(table.elements_and_values({place: color for place, color in stated.items() if color}))
    default = _COLORS["white"] if _is_white(page, sheet) else ""
    found = []
    for element in elements:
        above, steps = element, 0
        while above >= 0 and above not in backgrounds and steps < _MAX_STEPS:
            above, steps = int(page.parent[above]), steps + 1
        if backgrounds.get(above, default if above < 0 else "") == _COLORS["white"]:
            found.append(element)
    return found


class _Scripts(dict[bytes, bool]):
    """Whether names are in the scripts of a page; after so many bytes were searched, all are."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self._texts = [page.raw_texts[element] for element in elements_named(page, "script")]
        self._left = _MAX_SEARCHED // (sum(map(len, self._texts)) + 1)

    def __missing__(self, name: bytes) -> bool:
        found = self[name] = len(self) >= self._left or any(name in text for text in self._texts)
        return found


def _is_revealed(page: Page, element: int, way: str, moves: bool, scripts: _Scripts) -> bool:
    """Whether a script or a control shows what is hidden."""
    stated = dict(page.attributes[element])
    identity = stated.get("id", "").strip()
    if (
        (stated.get("role") in {"tabpanel", "region"} or "aria-labelledby" in stated or "aria-expanded" in stated)
        or moves
        or (way == "hidden" and _STREAMED.fullmatch(identity))
    ):
        return True
    if identity and any(
        {identity, f"#{identity}"} & page.attributes.places_by_value(name).keys() for name in _CONTROLS
    ):
        return True
    if way != "class" and any(
        _REVEALED.search(value[:200])
        for name, value in stated.items()
        if name in {"class", "id"} or name[:5] == "data-"
    ):
        return True
    numbered = identity.rstrip("0123456789")
    if identity and (scripts[identity.encode()] or (len(numbered) > _SHORT and scripts[numbered.encode()])):
        return True
    return way != "class" and any(
        scripts[name] and any(scripts[b"%c%b%c" % (before, name, after)] for before, after in _QUOTES)
        for name in map(str.encode, stated.get("class", "").split()[:_MAX_CLASSES])
    )


def _own_css(page: Page) -> bytes:
    """The page's own style sheets for screens."""
    styles = elements_named(page, "style")
    media = page.attributes.places_by_value("media").items() if styles else ()
    not_for_screens = [place for value, place in media if value.strip().lower() not in _FOR_SCREENS]
    others = set(page.attributes.elements_with(not_for_screens))
    return b"\n".join(
        page.raw_texts[element]
        for element in styles
        if element not in others and (above := page.parent[element]) >= 0 and page.tag[above] != TAG_ID["noscript"]
    )


def _is_white(page: Page, sheet: bytes) -> bool:
    """Whether a page with a sheet is white where it states no background."""
    named = page.attributes.places_by_value
    if named("bgcolor") or named("background") or "stylesheet" in " ".join(named("rel")).lower():
        return False
    return all(_color(value.strip()) in _WHITE for value in _BACKGROUND.findall(sheet.decode(errors="replace").lower()))


def _matches(
    page: Page, rules: list[tuple[str, str]], sheet: bytes, holding: Flags, present: Flags
) -> Iterator[tuple[Effect, list[int], bool]]:
    """Effects of rules of a sheet that hide some elements, those that they apply to, and ``True``."""
    possible = []
    for selector, style in rules:
        parts, names = _compounds(selector), _NAME.findall(selector)
        is_revealed = _WITHOUT_SCRIPTS.search(selector) or (names and _REVEALED.search(names[-1]))
        if not parts or is_revealed or len(names) > _MAX_NAMES:
            continue
        if (effect := EFFECTS[style]).way or effect.is_white:
            possible.append((parts, names, style))
    if not possible:
        return
    places = _places_of_names(page, {name for _, names, _ in possible for name in names}, present)
    text = sheet.decode(errors="replace")
    shows = cache(lambda begin, end: _SHOWING.search(text, begin, end) is not None)
    for parts, names, style in possible:
        chosen = _chosen(page, parts, places)
        if (chosen & holding).any() and not (names and _is_shown_elsewhere(text, shows, names[-1], style)):
            yield EFFECTS[style], chosen.nonzero()[0].tolist(), True


def _places_of_names(page: Page, names: set[str], present: Flags) -> dict[str, NDArray[np.intp]]:
    """Places of the attributes that are present and have some names of selectors, by name."""
    places: dict[str, list[int]] = {name: [] for name in names}
    for mark, attribute in _NAMING.items():
        words = {name[1:] for name in names if name[0] == mark}
        for value, place in page.attributes.places_by_value(attribute).items() if words else ():
            if present[place]:
                for word in words.intersection(value.split()):
                    places[mark + word].append(place)
    return {name: np.array(found, np.intp) for name, found in places.items()}


def _compounds(selector: str) -> list[re.Match[str]]:
    """The parts of a selector of simple parts, nothing for another; a child is taken for any descendant."""
    parts = list(map(_COMPOUND.fullmatch, selector.replace(">", " ").split()))
    return [part for part in parts if part] if len(parts) <= _MAX_PARTS and all(parts) else []


def _chosen(page: Page, parts: list[re.Match[str]], places: dict[str, NDArray[np.intp]]) -> Flags:
    """bool[n], what the parts of a selector choose; ``places`` are those of attributes by the names that they have."""
    chosen = np.ones(page.n, bool)
    for compound in parts:
        chosen = within(page, chosen)
        if compound[1]:
            chosen &= page.tag == TAG_ID.get(compound[1].lower(), -1)
        if names := set(_NAME.findall(compound[2])):
            held = np.zeros(len(page.attributes.first), np.int32)
            for name in names:
                held[places[name]] += 1
            chosen &= page.attributes.sum_per_element(held) == len(names)
        if compound[3]:
            chosen &= is_among(page, [*page.attribute("hidden")])
    return chosen


def _is_shown_elsewhere(text: str, shows: Callable[[int, int], bool], name: str, style: str) -> bool:
    """Whether another rule of a sheet with the same class or id shows what one with some declarations hides."""
    at = text.find(name)
    for _ in range(_MAX_PLACES):
        if at < 0:
            return False
        behind = at + len(name)
        brace, close = text.find("{", behind), text.find("}", behind)
        is_whole_name = not (text[behind : behind + 1].isalnum() or text[behind : behind + 1] in {"-", "_"})
        is_itself = close - brace == len(style) + 1 and text.startswith(style, brace + 1)
        if is_whole_name and brace < close and not is_itself and shows(brace, close):
            return True
        at = text.find(name, behind)
    return True
