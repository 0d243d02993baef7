"""Templates by menus: pages that link to each other, and what they have in common with a key page."""

from detector.site.menus.equality import ByKey, Equality, Weighted, equality_of
from detector.site.menus.mapping import mapped_units, template_of
from detector.site.menus.profile import Profile
from detector.site.menus.search import MenuSearch, search_menu
from detector.site.menus.template_page import template_page

__all__ = [
    "ByKey",
    "Equality",
    "MenuSearch",
    "Profile",
    "Weighted",
    "equality_of",
    "mapped_units",
    "search_menu",
    "template_of",
    "template_page",
]
