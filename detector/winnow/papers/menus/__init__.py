"""Templates by menus: pages that link to each other, and what they have in common with a key page."""

from winnow.papers.menus.equality import ByKey, Equality, Weighted, equality_of
from winnow.papers.menus.mapping import mapped_units, template_of
from winnow.papers.menus.profile import Profile
from winnow.papers.menus.search import MenuSearch, search_menu
from winnow.papers.menus.template_page import template_page
from winnow.papers.menus.variants import VARIANTS, Variant, variant_of

__all__ = [
    "VARIANTS",
    "ByKey",
    "Equality",
    "MenuSearch",
    "Profile",
    "Variant",
    "Weighted",
    "equality_of",
    "mapped_units",
    "search_menu",
    "template_of",
    "template_page",
    "variant_of",
]
