"""What elements take up by themselves: margins, images, form controls, and the size of their letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.page.tags import TAG_ID, TAG_NAMES, tag_set
from winnow.page.tree import within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.models.logistic.attributes import Attributes
    from winnow.page.page import Page

    Floats = NDArray[np.float64]

BANNERS: Final = tag_set("nav", "header", "footer", "menu")
"""Look-up table over tag ids: elements whose short lines and small images stand beside each other."""

_LOGO_HEIGHT: Final = 60.0  # px; images in headers, footers and menus are no higher, whatever their files are
_SIZED: Final = tag_set("img", "video", "iframe", "embed", "object", "canvas", "svg", "input")


def _by_tag(default: float, **values: float) -> Floats:
    table = np.full(len(TAG_NAMES), default, float)
    for name, value in values.items():
        table[TAG_ID[name]] = value
    return table


LOG_FONT_SCALE: Final = np.log(
    _by_tag(1, h1=2, h2=1.5, h3=1.17, h5=0.83, h6=0.67, small=0.83, sub=0.83, sup=0.83, big=1.2, pre=0.81)
)
"""Logarithm of the size of an element's letters relative to its parent's, by tag id."""

_MARGIN: Final = _by_tag(0, p=16, h1=21, h2=20, h3=19, h4=21, h5=22, h6=25, ul=16, ol=16, dl=16, blockquote=16, pre=13,
                         figure=16, fieldset=16, hr=16, td=2, th=2, legend=4)  # fmt: skip
_DEFAULT_WIDTH: Final = _by_tag(0, img=200, video=640, iframe=300, embed=300, object=300, canvas=300, svg=24, input=170,
                                textarea=180, select=120, audio=300, button=16, progress=160, meter=80)  # fmt: skip
_DEFAULT_HEIGHT: Final = _by_tag(0, img=150, video=360, iframe=150, embed=150, object=150, canvas=150, svg=24, input=24,
                                 textarea=40, select=24, audio=54, button=24, progress=16, meter=16)  # fmt: skip
_RULE_HEIGHT: Final = _by_tag(0, hr=2)  # of its container's width
_SMALL_INPUT: Final = {"hidden": 0, "checkbox": 20, "radio": 20, "submit": 80, "button": 80, "image": 80, "reset": 80}


def margin_areas(page: Page, width: Floats, has_text: NDArray[np.bool_]) -> Floats:
    """float64[n], area of the margins above and below each element, which are no part of its own box."""
    area: Floats = _MARGIN[page.tag] * (has_text | (page.tag == TAG_ID["hr"])) * width
    return area


def own_areas(page: Page, attributes: Attributes, width: Floats) -> Floats:
    """float64[n], area of each element by itself: rules, images, and form controls."""
    tag = page.tag
    area: Floats = _RULE_HEIGHT[tag] * width
    wide, high = _DEFAULT_WIDTH[tag], _DEFAULT_HEIGHT[tag]
    for index in np.flatnonzero(_SIZED[tag]).tolist():
        declared_width, declared_height = attributes.width.get(index), attributes.height.get(index)
        if declared_width is not None:
            wide[index] = declared_width
            high[index] = declared_height if declared_height is not None else min(declared_width * 0.67, high[index])
        elif declared_height is not None:
            high[index] = declared_height
            wide[index] = min(declared_height * 1.5, wide[index])
        elif index in attributes.input_type:
            wide[index] = _SMALL_INPUT.get(attributes.input_type[index].lower(), wide[index])
    wide[within(page, tag == TAG_ID["noscript"]) & (tag == TAG_ID["img"])] = 0  # stands in for an image already counted
    in_banner = within(page, BANNERS[tag])
    wide[in_banner] = np.minimum(wide, _LOGO_HEIGHT * wide / np.maximum(high, 1))[in_banner]
    high[in_banner] = np.minimum(high, _LOGO_HEIGHT)[in_banner]
    area += wide * high * np.minimum(width / np.maximum(wide, 1), 1) ** 2  # shrunk to fit, in proportion
    return area
