"""The theme of the shop: departments, breadcrumbs, filters, footer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demo.hosts.parts import Link, a, moment, others, token
from demo.nodes import Node, el, items

if TYPE_CHECKING:
    import random

DEPARTMENTS = ("Shelter", "Carrying", "Cooking", "Clothing", "Light")
PROMOTIONS = (
    "Free delivery on orders over £60",
    "Spring clearance: up to 40% off tents",
    "Trade in your old boots this week",
    "Gift cards, for those who have everything",
    "Members get 10% back in October",
    "New: repairs by post",
)


class ShopTheme:
    """Puts the shop's furniture around what is on a page."""

    rng: random.Random
    products: list[Link]
    price: dict[str, str]
    extras: list[Link]

    @staticmethod
    def _department_path(department: str, number: int) -> str:
        return f"/product-category/{department.lower()}/" + (f"page/{number + 1}/" if number else "")

    def _head(self) -> list[Node]:
        return [
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("link", rel="stylesheet", href=f"/static/site.css?ver={token(self.rng, 6)}"),
            el("style", ".price { color: #373 }"),
            el("script", f'var wc = {{"ajax": "/wc", "nonce": "{token(self.rng, 10)}"}};'),
        ]

    def _frame(self, active: str, crumbs: list[Link], main: Node) -> Node:
        rng = self.rng
        menu = [
            el(
                "li",
                el("a.nav-link", name, href=self._department_path(name, 0) if name != "Journal" else "/journal/"),
                class_="nav-item current-menu-item" if name == active else "nav-item",
            )
            for name in (*DEPARTMENTS, "Journal")
        ]
        trail = [el("li.breadcrumb-item", a(link)) for link in crumbs[:-1]]
        trail += [el("li.breadcrumb-item.active", crumbs[-1].title)] if crumbs else []
        viewed = el(
            "ul", *(el("li", a(link), " ", el("span", self.price[link.path])) for link in others(rng, self.products, 3))
        )
        return el(
            "body",
            el("div.alert.alert-info.promo", el("p", rng.choice(PROMOTIONS))),
            el(
                "header.site-header",
                el(
                    "div.container",
                    el("a.navbar-brand", "Fernhill Outdoor", href="/"),
                    el("form", el("input", type="search", name="s"), el("button", "Search"), action="/private/search"),
                    el("a", f"Basket ({rng.randint(0, 3)})", href=f"/cart?sid={token(rng, 16)}"),
                    el("a", "My account", href="/login"),
                ),
                el("nav.navbar.navbar-expand-lg", el("ul.navbar-nav", *menu)),
            ),
            el("nav", el("ol.breadcrumb", *trail)) if trail else None,
            el(
                "div.row.container",
                el("div.col-lg-9", main),
                el(
                    "aside.col-lg-3.widget-area",
                    el("h4", "Filter by"),
                    items(
                        "ul",
                        (
                            el("label", el("input", type="checkbox"), name)
                            for name in ("In stock", "On sale", "Vegan", "Repairable")
                        ),
                    ),
                    el("h4", "Recently viewed"),
                    viewed,
                ),
            ),
            el(
                "footer.site-footer",
                el(
                    "div",
                    el("h5", "Visit us"),
                    el("p", "12 Ropewalk, Fennimore. Open Tuesday to Saturday, nine to five."),
                ),
                el("div", el("h5", "Help"), items("ul", (a(link) for link in self.extras))),
                el(
                    "div",
                    el("h5", "Newsletter"),
                    el("p", "Ten letters a year, none of them shouting."),
                    el(
                        "form",
                        el("input", type="email"),
                        el("input", type="hidden", value=token(rng)),
                        el("button", "Join"),
                    ),
                ),
                el("p", f"\u00a9 2009\u20132026 Fernhill Outdoor. Prices include VAT. Updated {moment(rng):%H:%M:%S}."),
            ),
            template=True,
            class_=f"woocommerce woocommerce-page page-id-{rng.randrange(9999)}",
        )
