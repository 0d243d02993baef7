"""What declarations of CSS say of the properties that can hide text: each value as a number, and where numbers hide."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tamis.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Callable

    Get = Callable[[str], Any]  # gives float64[n], or a number
    Declarations = tuple[tuple[str, float, bool], ...]  # properties, each with its value and whether that is important

UNSET: Final = -3.0  # of what is inherited
BLOCK, FLEX, INLINE_FLEX = -1.0, -2.0, -4.0  # ways to display, also grids; above 0 for none
KEEPS_LINES, KEEPS_SPACES = 1.0, 2.0  # ways to treat white space
ALIGNMENTS: Final = ("", "left", "center", "right")
LIST_STYLES: Final = ("", "none", "decimal", "lower-alpha", "upper-alpha", "lower-roman", "upper-roman")
_TINY, _SMALL_LETTERS, _FAINT = 1.0, 2.0, 0.1  # px, px, opacity; at most, at most, below
_FAR, _VERY_FAR = 500.0, 2000.0  # px, off the screen by a place, and by a margin or a movement
_MAX_LENGTH: Final = 1e6  # px
_UNITS: Final = {"": 1, "px": 1, "em": 16, "rem": 16, "ex": 8, "ch": 8, "pt": 1.33, "vw": 12.8, "vh": 8, "%": 8}
_LENGTH: Final = re.compile(r"(?:calc\(\s*)?([+-]?(?:\d++\.?\d*+|\.\d++)(?:e[+-]?\d{1,4}+)?)([a-z]*+|%)\s*\)?")
_DISPLAY: Final = re.compile(
    r"(none)|contents|(?:inline-?|block|flow-?|list|run-in|-webkit-|-moz-|-ms-)?(?: ?(?:root|item|block|flex|flexbox|"
    r"grid|box|in|table(?:-(?:row|cell|column|header|footer)(?:-group)?|-caption)?|ruby(?:-[a-z]+)?))?"
)
_COLORS: Final = {
    "white": 0xFFFFFF, "black": 0, "red": 0xFF0000, "transparent": -1, "blue": 0xFF, "green": 0x8000, "gray": 0x808080,
    "yellow": 0xFFFF00, "whitesmoke": 0xF5F5F5, "snow": 0xFFFAFA, "silver": 0xC0C0C0, "none": -1,
}  # fmt: skip
NO_COLOR, ANY_COLOR = -1.0, -2.0  # colours
_ALIKE: Final = 8  # of 255, how much each part of two colours may differ that look the same


def read_length(value: str, unset: float = 0.0) -> float:
    """Pixels of a length, per cent as of the screen's height; ``unset`` for what is none."""
    found = _LENGTH.fullmatch(value)
    return min(max(float(found[1]) * _UNITS.get(found[2], 16), -_MAX_LENGTH), _MAX_LENGTH) if found else unset


def _font_size(value: str) -> float:
    size = read_length(value, UNSET)
    if value.endswith(("%", "em")) and not value.endswith("rem"):  # of what is around, which may be nothing
        return size if 0 <= size < _TINY else UNSET
    return UNSET if value in {"inherit", "unset", "smaller", "larger"} else 16.0 if size == UNSET else size


def _size(value: str) -> float:
    return read_length(value, math.inf) if not value.endswith("%") or read_length(value) == 0 else math.inf


def _keyword(hiding: str, others: str) -> Callable[[str], float | None]:
    """Return a reader of keywords: 1.0 for those that hide, ``None`` for what is none."""
    values = dict.fromkeys(hiding.split(), 1.0) | dict.fromkeys(others.split(), 0.0)
    return lambda value: UNSET if value in {"inherit", "unset"} else values.get(value)


def _flag(pattern: str) -> Callable[[str], float]:
    return lambda value, find=re.compile(pattern).search: float(find(value) is not None)  # type: ignore[misc]


def _display(value: str) -> float | None:
    if value in {"initial", "unset", "revert", "inherit"}:
        return 0.0
    found = _DISPLAY.fullmatch(value)
    if found is None or not value:
        return None
    is_inline = value.startswith(("inline", "contents", "run-in", "ruby"))
    inside = INLINE_FLEX if is_inline else FLEX
    return 1.0 if found[1] else inside if "flex" in value or "grid" in value else 0.0 if is_inline else BLOCK


def _white_space(value: str) -> float:
    return KEEPS_LINES if value == "pre-line" else KEEPS_SPACES if value.startswith(("pre", "break-spaces")) else 0.0


def _list_style(value: str) -> float:
    words = value.replace("latin", "alpha").split()
    return next((float(LIST_STYLES.index(word)) for word in words if word in LIST_STYLES), 0.0)


def _opacity(value: str) -> float:
    return read_length(value, 1.0) / (800 if value.endswith("%") else 1)


def _line_height(value: str) -> float:
    return 0.0 if read_length(value, 1.0) <= 0 else math.inf


def _color(value: str) -> float:
    value = "".join(value.split())
    if value.startswith(("rgb", "hsl")):
        parts = re.split(r"[,/]", value.partition("(")[2].rstrip(")"))
        if value == "rgb(000/0)" or (len(parts) in {2, 4} and read_length(parts[-1], 1.0) == 0):
            return NO_COLOR
        if value.startswith("rgb") and len(parts) >= 3 and all(map(str.isdecimal, parts[:3])):
            return float(sum(min(int(part), 255) << shift for part, shift in zip(parts, (16, 8, 0), strict=False)))
        return ANY_COLOR
    if value.startswith("#"):
        digits = value[1:]
        digits = "".join(2 * digit for digit in digits) if len(digits) in {3, 4} else digits
        try:
            return NO_COLOR if len(digits) == 8 and digits[6:] == "00" else float(int(digits[:6], 16))
        except ValueError:
            return ANY_COLOR
    return float(_COLORS.get(value, ANY_COLOR))


def _letter_color(value: str) -> float | None:
    return None if value == "none" else _color(value)


def read_background(value: str) -> float:
    """The colour of a background as a number, or one of :data:`NO_COLOR` and :data:`ANY_COLOR`."""
    words = value.split()
    return (
        ANY_COLOR
        if "(" in value and not value.startswith(("rgb", "hsl"))
        else max(map(_color, [value] if "(" in value else words), default=ANY_COLOR)
    )


_HIDDEN_OVERFLOW: Final = _flag(r"hidden|clip")
_MOVES: Final = _flag(r"^(?!none|0s|initial|unset)")

READERS: Final[dict[str, tuple[Callable[[str], float | None], float]]] = {
    "display": (_display, 0),
    "content-visibility": (_keyword("hidden", "visible auto"), 0),
    "visibility": (_keyword("hidden collapse", "visible initial"), UNSET),
    "opacity": (_opacity, 1),
    "filter": (_flag(r"opacity\(\s*(?:0?\.?0+%?)?\s*\)"), 0),
    "font-size": (_font_size, UNSET),
    "text-indent": (read_length, 0),
    "position": (lambda value: {"absolute": 2.0, "fixed": 2.0, "relative": 1.0, "sticky": 1.0}.get(value, 0.0), 0),
    **dict.fromkeys(("left", "right", "top", "bottom"), (read_length, 0)),
    **dict.fromkeys(("margin-left", "margin-top"), (lambda value: 0.0 if "%" in value else read_length(value), 0)),
    "clip": (_flag(r"rect\((?:[\s,]*[01](?:px|em)?){4}\s*\)"), 0),
    "clip-path": (_flag(r"inset\((?:[5-9]\d|100)%|(?:circle|ellipse)\(0|polygon\(\s*+(?:0(?:px|%)?[\s,]*+)++\)"), 0),
    **dict.fromkeys(("height", "width", "max-height", "max-width"), (_size, math.inf)),
    **dict.fromkeys(("min-height", "padding-top", "padding-bottom"), (read_length, 0)),
    "flex-grow": (read_length, 0),
    "line-height": (_line_height, math.inf),
    **dict.fromkeys(("overflow-x", "overflow-y"), (_HIDDEN_OVERFLOW, 0)),
    "transform": (
        _flag(
            r"scale(?:3d|[xy])?\(\s*0?\.?0+\s*[,)]|rotate[xy]\(-?90deg|matrix\(0,\s*0,\s*0,\s*0|"
            r"translate(?:3d|[xy])?\((?:0[^,]*,)?\s*-(?:[2-9]\d{3}|\d{5,})px"
        ),
        0,
    ),
    "scale": (_flag(r"^0?\.?0+$"), 0),
    "zoom": (_flag(r"^0?\.0\d*$"), 0),
    "translate": (_flag(r"-(?:[2-9]\d{3}|\d{5,})px"), 0),
    **dict.fromkeys(("color", "-webkit-text-fill-color"), (_letter_color, UNSET)),
    "background-color": (read_background, NO_COLOR),
    **dict.fromkeys(("background-clip", "-webkit-background-clip"), (_flag("text"), 0)),
    **dict.fromkeys(("-webkit-text-stroke", "text-shadow"), (_flag(r"^(?!none|0)"), 0)),
    "white-space": (_white_space, 0),
    "text-decoration-line": (_flag("line-through"), 0),
    "font-family": (_flag("mono|courier|consolas|menlo"), 0),
    "list-style-type": (_list_style, 0),
    "text-align": (lambda value: float(ALIGNMENTS.index(value)) if value in ALIGNMENTS else 0.0, 0),
    "moves": (_MOVES, 0),  # no property: whether any of several moves the element
}
"""How the value of each property is read, as a number, and what it is where nothing sets it; ``None`` is no value."""


def _font(value: str) -> dict[str, str]:
    size = re.search(r"(?:^|\s)([\d.]+[a-z%]*)(?=\s*/|\s|$)(?!\s+[\d.]+[a-z%]*\s*(?:/|\s))", value)
    return {"font-size": size[1] if size else "16px", "font-family": value}


def _sides(prefix: str) -> Callable[[str], dict[str, str]]:
    def expand(value: str) -> dict[str, str]:
        words = value.split()
        top, right, bottom, left = (words * 4)[:4] if len(words) in {1, 2, 4} else [*words, *words][:4]
        sides = {"top": top, "right": right, "bottom": bottom, "left": left if len(words) != 3 else right}
        return {f"{prefix}{side}": each for side, each in sides.items()}

    return expand


SHORTHANDS: Final[dict[str, Callable[[str], dict[str, str]]]] = {
    "font": _font,
    "inset": _sides(""),
    "margin": _sides("margin-"),
    "padding": _sides("padding-"),
    "flex": lambda value: {"flex-grow": "0" if value in {"none", "initial"} else value.split()[0].replace("auto", "1")},
    "overflow": lambda value: {"overflow-x": value.split()[0], "overflow-y": value.split()[-1]},
    "list-style": lambda value: {"list-style-type": value},
    "text-decoration": lambda value: {"text-decoration-line": value},
    "background": lambda value: {"background-color": value},
    "background-image": lambda value: {} if value == "none" else {"background-color": "url()"},
    **dict.fromkeys(("transition", "animation", "animation-name", "will-change"), lambda value: {"moves": value}),
    "transition-property": lambda value: {"moves": value},
    "transform": lambda value: {"transform": value, "moves": value},
}


class Way(NamedTuple):
    """A way of hiding: the properties that it takes, and where their values hide."""

    properties: tuple[str, ...]
    hides: Callable[[Get], Any]  # gives bool[n], or one


def _is_far(get: Get) -> Any:
    position, across, down = get("position"), get("margin-left"), get("margin-top")
    left, top = get("left") + across, get("top") + down
    off_left = (position > 0) & ((left <= -_FAR) | (left >= 5 * _VERY_FAR / 2))
    off = (position > 1) & ((top <= -_FAR) | (get("right") <= -_FAR) | (get("bottom") <= -_FAR))
    return off_left | off | (across <= -_VERY_FAR)


def _is_empty(get: Get) -> Any:
    is_low = (get("height") <= _TINY) | (get("max-height") <= _TINY) | (get("line-height") <= _TINY)
    for room in ("min-height", "padding-top", "padding-bottom"):
        is_low &= get(room) <= _SMALL_LETTERS
    is_narrow = (get("width") <= _TINY) | (get("max-width") <= _TINY)
    overflow = (get("overflow-x") > 0) | (get("overflow-y") > 0)
    return (is_low | is_narrow) & overflow & (get("flex-grow") == 0)


def _is_indented(get: Get) -> Any:
    return (get("text-indent") <= -_FAR) | ((get("text-indent") >= _VERY_FAR) & (get("overflow-x") > 0))


LIDS: Final = {
    "display": Way(("display",), lambda get: get("display") > 0),
    "content-visibility": Way(("content-visibility",), lambda get: get("content-visibility") > 0),
    "opacity": Way(("opacity", "filter", "moves"), lambda get: (get("opacity") < _FAINT) | (get("filter") > 0)),
    "text-indent": Way(("text-indent", "overflow-x", "overflow-y"), _is_indented),
    "position": Way(("position", "left", "right", "top", "bottom", "margin-left", "margin-top"), _is_far),
    "clip": Way(
        ("clip", "clip-path", "position"),
        lambda get: ((get("clip") > 0) & (get("position") > 1)) | (get("clip-path") > 0),
    ),
    "size": Way(
        (
            *("height", "max-height", "width", "max-width", "min-height", "padding-top", "padding-bottom"),
            *("line-height", "overflow-x", "overflow-y", "flex-grow", "moves"),
        ),
        _is_empty,
    ),
    "transform": Way(
        ("transform", "scale", "zoom", "translate", "moves"),
        lambda get: (get("transform") > 0) | (get("scale") > 0) | (get("zoom") > 0) | (get("translate") > 0),
    ),
}

INHERITED: Final = {  # hide the text of elements up to those that set another value
    "visibility": Way(("visibility", "visibility", "moves"), lambda get: get("visibility") > 0),
    "font-size": Way(
        ("font-size", "font-size"), lambda get: (get("font-size") <= _SMALL_LETTERS) & (get("font-size") >= 0)
    ),
    "color": Way(
        (
            *("color", "-webkit-text-fill-color", "background-color", "background-clip", "-webkit-background-clip"),
            *("-webkit-text-stroke", "text-shadow"),
        ),
        lambda get: is_unseen_color(get, get("background-color")),
    ),
}
WAYS: Final = LIDS | INHERITED
OPENABLE: Final = frozenset({"display", "content-visibility", "visibility", "opacity", "size", "transform"})
"""Ways of hiding that controls undo; what is off the screen or clipped is for screen readers, or for nobody."""


def is_unseen_color(get: Get, background: Any) -> Any:
    """Whether letters have the colour of their background, or none."""
    fill, color = get("-webkit-text-fill-color"), get("color")
    color = color * (fill == UNSET) + fill * (fill != UNSET)
    is_outlined = (get("-webkit-text-stroke") > 0) | (get("text-shadow") > 0)
    is_window = (get("background-clip") > 0) | (get("-webkit-background-clip") > 0)
    alike = (color >= 0) & (background >= 0)
    for part in (0x10000, 0x100, 1):
        alike &= abs(color // part % 256 - background // part % 256) <= _ALIKE
    return ((color == NO_COLOR) | alike) > (is_outlined | is_window)


_COMMENT: Final = re.compile(r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?")
_ESCAPE: Final = re.compile(r"\\([0-9a-f]{1,6})\s?|\\(.)", re.DOTALL)
_DECLARATION: Final = re.compile(
    r"(?:^|;)\s*+(-{0,2}[a-z][a-z0-9-]*+)\s*+:((?:[^;\"'(]|\"[^\"]*+\"?|'[^']*+'?|\([^()]*+\)?)*+)"
)
_MAX_VALUE: Final = 500  # characters


def read_declarations(css: str) -> Declarations:
    """Read declarations of properties of :data:`READERS`; an invalid one is left out."""
    css = (_COMMENT.sub(" ", css) if "/*" in css else css).lower()
    if "\\" in css:
        css = _ESCAPE.sub(lambda found: chr(min(int(found[1], 16), 0x10FFFF)) if found[1] else found[2], css)
    found: dict[tuple[str, bool], float] = {}
    own: dict[str, str] = {}
    for name, value in _DECLARATION.findall(css):
        said, mark, importance = value.rpartition("!")
        is_important = mark != "" and importance.strip() == "important"
        said = (said if is_important else value).strip()[:_MAX_VALUE]
        if name[:2] == "--":
            own[f"var({name})"] = said
        said = own.get(said, said)
        for longhand, each in (SHORTHANDS[name](said) if said and name in SHORTHANDS else {name: said}).items():
            if longhand in READERS and (number := READERS[longhand][0](each)) is not None:
                found[longhand, is_important] = number
    return tuple((name, number, important) for (name, important), number in found.items())


SAID: Final = Memo(read_declarations, max_size=1_000)
"""What declarations say, by their text."""


def _find_ways(css: str) -> tuple[str, ...]:
    values = {name: number for name, number, _ in SAID[css]}
    possible = set().union(*(_WAYS_OF[name] for name in values))
    upon = {"background-color": 0xFFFFFF} if values.get("color", -1) >= 0 else {}  # not what fills letters alone
    get = (_UNSAID | upon | values).__getitem__
    return tuple(name for name in WAYS if name in possible and WAYS[name].hides(get))


_WAYS_OF: Final = {name: [way for way in WAYS if name in WAYS[way].properties] for name in READERS}
"""The ways of hiding that each property has a part in."""

_UNSAID: Final = {name: unset for name, (_, unset) in READERS.items()} | {"position": 2.0}
"""What is taken for the values that declarations do not set: any place, and no background."""

MAY_HIDE: Final = Memo(_find_ways, max_size=1_000)
"""Names of the :data:`WAYS` in which declarations may hide an element, by themselves or upon white, by their text."""

LONGHANDS: Final = {name: frozenset(expand("0 0 0 0")) for name, expand in SHORTHANDS.items()}
"""The properties that each shorthand sets."""
