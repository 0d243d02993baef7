"""The theme of the shop: departments, breadcrumbs, filters, footer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demo.hosts.parts import Link, a, moment, others, token
from demo.nodes import Node, el

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
                el(
                    "a",
                    name,
                    href=self._department_path(name, 0) if name != "Journal" else "/journal/",
                    class_="nav-link",
                ),
                class_="nav-item current-menu-item" if name == active else "nav-item",
            )
            for name in (*DEPARTMENTS, "Journal")
        ]
        trail = [el("li", a(link), class_="breadcrumb-item") for link in crumbs[:-1]]
        trail += [el("li", crumbs[-1].title, class_="breadcrumb-item active")] if crumbs else []
        viewed = el(
            "ul", *(el("li", a(link), " ", el("span", self.price[link.path])) for link in others(rng, self.products, 3))
        )
        return el(
            "body",
            el("div", el("p", rng.choice(PROMOTIONS)), class_="alert alert-info promo"),
            el(
                "header",
                el(
                    "div",
                    el("a", "Fernhill Outdoor", href="/", class_="navbar-brand"),
                    el("form", el("input", type="search", name="s"), el("button", "Search"), action="/private/search"),
                    el("a", f"Basket ({rng.randint(0, 3)})", href=f"/cart?sid={token(rng, 16)}"),
                    el("a", "My account", href="/login"),
                    class_="container",
                ),
                el("nav", el("ul", *menu, class_="navbar-nav"), class_="navbar navbar-expand-lg"),
                class_="site-header",
            ),
            el("nav", el("ol", *trail, class_="breadcrumb")) if trail else None,
            el(
                "div",
                el("div", main, class_="col-lg-9"),
                el(
                    "aside",
                    el("h4", "Filter by"),
                    el(
                        "ul",
                        *(
                            el("li", el("label", el("input", type="checkbox"), name))
                            for name in ("In stock", "On sale", "Vegan", "Repairable")
                        ),
                    ),
                    el("h4", "Recently viewed"),
                    viewed,
                    class_="col-lg-3 widget-area",
                ),
                class_="row container",
            ),
            el(
                "footer",
                el(
                    "div",
                    el("h5", "Visit us"),
                    el("p", "12 Ropewalk, Fennimore. Open Tuesday to Saturday, nine to five."),
                ),
                el("div", el("h5", "Help"), el("ul", *(el("li", a(link)) for link in self.extras))),
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
                class_="site-footer",
            ),
            template=True,
            class_=f"woocommerce woocommerce-page page-id-{rng.randrange(9999)}",
        )
