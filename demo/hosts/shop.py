"""A shop of outdoor gear: bootstrap grid, breadcrumbs, prices, specifications, reviews, "also bought"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demo.hosts.parts import Link, a, chunks, moment, odds_and_ends, others, paragraph, slug, token, unique_titles
from demo.nodes import Node, el, items
from demo.prose import Prose, read_grammar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demo.site import Site

JOURNAL_SHARE = 0.15
SPECIFICATIONS = [line.split(": ") for line in read_grammar("shop")["specification"]]
DEPARTMENTS = ("Shelter", "Carrying", "Cooking", "Clothing", "Light")
PROMOTIONS = (
    "Free delivery on orders over £60",
    "Spring clearance: up to 40% off tents",
    "Trade in your old boots this week",
    "Gift cards, for those who have everything",
    "Members get 10% back in October",
    "New: repairs by post",
)


class Shop:
    """Builds the shop."""

    def __init__(self, site: Site, pages: int) -> None:
        self.site, self.rng = site, site.rng
        self.prose = Prose(self.rng, "names", "shop")
        self.kinds: dict[str, str] = {}
        articles = round(JOURNAL_SHARE * pages)
        self.products = [
            Link(f"/product/{slug(title)}/", title) for title in unique_titles(pages - articles, self._product_title)
        ]
        self.journal = [
            Link(f"/journal/{slug(title)}/", title)
            for title in unique_titles(articles, lambda: self.prose.fill("[journal_title]"))
        ]
        self.price = {
            link.path: f"£{self.rng.randint(8, 420)}.{self.rng.choice((0, 50, 95, 99)):02}" for link in self.products
        }
        self.extras: list[Link] = []

    def _product_title(self) -> str:
        kind = self.prose.raw("[kind]")
        title = self.prose.raw(f"[line] [adjective] {kind}")
        title = title[:1].upper() + title[1:]
        self.kinds[title] = kind
        return title

    def build(self) -> None:
        """Add every page of the shop."""
        lost = el(
            "div", el("h1", "Oops! That page can\u2019t be found."), el("p", "It may be sold out."), template=False
        )
        hidden = el("div", el("h1", "Trade prices"), el("p", "Not for robots."), template=False)
        self.extras = odds_and_ends(
            self.site,
            moved=self.products[0],
            rgb=(60, 90, 40),
            hidden=self._frame("", [], hidden),
            lost=self._frame("", [], lost),
        )
        size = -(-len(self.products) // len(DEPARTMENTS))
        grouped = dict(zip(DEPARTMENTS, chunks(self.products, size), strict=False))
        self._listing("/", "Welcome to Fernhill Outdoor", self.products[:8], "")
        for department, members in grouped.items():
            parts = chunks(members, 5)
            for number, part in enumerate(parts):
                path = self._department_path(department, number)
                more = self._department_path(department, number + 1) if number + 1 < len(parts) else None
                self._listing(path, department, part, department, more)
            for number, link in enumerate(members):
                self._product(link, department, broken=number % 8 == 3)
        entries = el(
            "div",
            *(el("article", el("h2", a(link)), el("p", self.prose.say("journal"))) for link in self.journal),
            template=False,
        )
        body = self._frame("Journal", [Link("/", "Home")], el("div", el("h1", "Journal", template=False), entries))
        self.site.page("/journal/", "listing", "Journal | Fernhill Outdoor", body, head=self._head())
        for link in self.journal:
            self._journal(link)

    def _card(self, link: Link) -> Node:
        nonce = token(self.rng, 10)
        return el(
            "li",
            el(
                "a",
                el("img", src=f"/static/picture.png?v={nonce}", width=300, height=300, alt=link.title),
                el("h2.woocommerce-loop-product__title", link.title),
                el("span.price", self.price[link.path]),
                href=link.path,
            ),
            el(
                "a.button.add_to_cart_button",
                "Add to basket",
                href=f"/cart?add={self.rng.randrange(9999)}&n={nonce}",
                data_product_sku=nonce,
                rel="nofollow",
                template=True,
            ),
            class_=f"product type-product post-{self.rng.randint(100, 999)} instock",
        )

    def _product(self, link: Link, department: str, *, broken: bool) -> None:
        rng, prose = self.rng, self.prose
        bound = {
            "product": link.title,
            "kind": self.kinds[link.title],
            "material": prose.raw("[material]"),
            "colour": prose.raw("[colour]"),
        }
        specifications = [
            el("tr", el("th", name), el("td", prose.fill(value, bound)))
            for name, value in rng.sample(SPECIFICATIONS, rng.randint(5, 10))
        ]
        reviews = [self._review({"kind": bound["kind"], "colour": bound["colour"]}) for _ in range(rng.randint(0, 6))]
        summary = el(
            "div.summary.col-md-6",
            el("h1.product_title.entry-title", link.title, template=False),
            el("p.price", self.price[link.path], template=False),
            el("div.short-description", el("p", prose.say("opening", bound)), template=False),
            self._basket(),
            el(
                "div.meta-actions",
                el("a", "Pin it", href="https://pins.example/"),
                el("a", "Share", href="https://share.example/"),
                el("span.stock", rng.choice(("In stock", "Only 2 left", "Dispatched within 24 hours"))),
            ),
        )
        features = [
            paragraph(rng, prose.paragraph("feature", 1, 4, bound), self.products) for _ in range(rng.randint(2, 6))
        ]
        description = el(
            "div.woocommerce-Tabs-panel",
            el("h2", "Description"),
            *features,
            items("ul", (prose.say("feature", bound) for _ in range(rng.randint(2, 4))))
            if rng.random() < 0.4
            else None,
            el("table.table.shop_attributes", *specifications),
            template=False,
        )
        comments = (
            el(
                "div#reviews",
                el("h2", f"{len(reviews)} reviews for {link.title}"),
                el("ol.commentlist", *reviews),
                template=False,
            )
            if reviews
            else None
        )
        bought = el(
            "section.related.products",
            el("h2", "Customers also bought"),
            el("ul.products.columns-4", *(self._card(other) for other in others(rng, self.products, 4, link))),
            template=True,
        )
        gallery = el(
            "div.col-md-6.gallery", el("img", src="/static/picture.png", width=600, height=600, alt=link.title)
        )
        main = el(
            "div.product",
            el("div.row", gallery, summary),
            self._tabs(),
            description,
            comments,
            bought,
            id=f"product-{rng.randint(100, 9999)}",
        )
        crumbs = [Link("/", "Home"), Link(self._department_path(department, 0), department), link]
        body = self._frame(department, crumbs, main)
        self.site.page(link.path, "article", f"{link.title} | Fernhill Outdoor", body, head=self._head(), broken=broken)

    def _review(self, bound: dict[str, str]) -> Node:
        rng, prose = self.rng, self.prose
        text = " ".join(prose.say("review", bound) for _ in range(rng.randint(1, 3)))
        return el(
            "li.review",
            el("strong", prose.raw("[first] [last]")),
            " \u2013 ",
            el("time", f"{moment(rng):%d/%m/%Y}"),
            el("div.description", el("p", text)),
        )

    def _basket(self) -> Node:
        nonce = token(self.rng)
        return el(
            "form.cart",
            el("label", "Quantity"),
            el("input", type="number", name="quantity", value="1"),
            el("input", type="hidden", name="_wpnonce", value=nonce),
            el("button", "Add to basket", type="submit"),
            el("p", "14 days to change your mind. Read about ", el("a", "delivery and returns", href="/"), "."),
            method="post",
            action="/cart",
            data_nonce=nonce,
        )

    @staticmethod
    def _tabs() -> Node:
        return el(
            "ul.nav.nav-tabs",
            el("li", el("a", "Description", href="#description")),
            el("li", el("a", "Reviews", href="#reviews")),
            el("li", el("a", "Delivery", href="#delivery")),
        )

    def _journal(self, link: Link) -> None:
        rng, prose, when = self.rng, self.prose, moment(self.rng)
        text = [paragraph(rng, prose.paragraph("journal", 1, 3), self.products) for _ in range(rng.randint(4, 8))]
        text.insert(2, items("ol", (prose.say("journal") for _ in range(rng.randint(3, 5)))))
        article = el(
            "article",
            el("h1", link.title, template=False),
            el("p.entry-meta", f"{when:%d %B %Y} by {prose.raw('[first]')}", template=False),
            el("div.entry", *text, template=False),
            el(
                "div",
                el("h3", "Mentioned in this story"),
                el("ul.products", *(self._card(other) for other in others(rng, self.products, 3))),
            ),
        )
        body = self._frame("Journal", [Link("/", "Home"), Link("/journal/", "Journal"), link], article)
        self.site.page(link.path, "article", f"{link.title} | Fernhill Outdoor", body, head=self._head())

    def _listing(self, path: str, title: str, links: Sequence[Link], active: str, more: str | None = None) -> None:
        crumbs = [Link("/", "Home")] if active else []
        grid = el("ul.products.columns-4", *(self._card(link) for link in links), template=False)
        sort = el("form.ordering", el("select", el("option", "Sort by popularity"), el("option", "Sort by price")))
        pager = el("nav.pagination", el("a.page-link", "Next \u2192", href=more)) if more else None
        main = el("div", el("h1", title, template=False), sort, grid, pager)
        self.site.page(
            path, "listing", f"{title} | Fernhill Outdoor", self._frame(active, crumbs, main), head=self._head()
        )

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


def build(site: Site, pages: int) -> None:
    """Add the shop's pages, ``pages`` of them products and journal entries."""
    Shop(site, pages).build()
