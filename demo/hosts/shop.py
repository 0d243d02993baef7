"""A shop of outdoor gear: bootstrap grid, breadcrumbs, prices, specifications, reviews, "also bought"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demo.hosts.parts import Host, Link, a, chunks, listed, slug, unique_titles
from demo.nodes import Node, el, items, markup
from demo.prose import read_grammar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demo.site import Site

JOURNAL_SHARE = 0.15
SPECIFICATIONS = [line.split(": ") for line in read_grammar("shop")["specification"]]
DEPARTMENTS = ("Shelter", "Carrying", "Cooking", "Clothing", "Light")
FILTERS = ("In stock", "On sale", "Vegan", "Repairable")
PROMOTIONS = (
    "Free delivery on orders over £60",
    "Spring clearance: up to 40% off tents",
    "Trade in your old boots this week",
    "Gift cards, for those who have everything",
    "Members get 10% back in October",
    "New: repairs by post",
)
_TITLE = "{} | Fernhill Outdoor"


class Shop(Host):
    """Builds the shop."""

    def __init__(self, site: Site, pages: int) -> None:
        super().__init__(site, "names", "shop")
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

    def _product_title(self) -> str:
        kind = self.prose.raw("[kind]")
        title = self.prose.raw(f"[line] [adjective] {kind}")
        title = title[:1].upper() + title[1:]
        self.kinds[title] = kind
        return title

    def build(self) -> None:
        """Add every page of the shop."""
        hidden = markup("<div content><h1>Trade prices</h1><p>Not for robots.</p></div>")
        lost = markup("<div content><h1>Oops! That page can\u2019t be found.</h1><p>It may be sold out.</p></div>")
        self.add_odds_and_ends(self.products[0], (60, 90, 40), hidden, lost, lambda _: ("", []))
        size = -(-len(self.products) // len(DEPARTMENTS))
        self._listing("/", "Welcome to Fernhill Outdoor", self.products[:8], "")
        for department, members in zip(DEPARTMENTS, chunks(self.products, size), strict=False):
            parts = chunks(members, 5)
            for number, part in enumerate(parts):
                more = self._department_path(department, number + 1) if number + 1 < len(parts) else None
                self._listing(self._department_path(department, number), department, part, department, more)
            for number, link in enumerate(members):
                self._product(link, department, broken=number % 8 == 3)
        entry = "<article><h2>{}</h2><p>{}</p></article>"
        entries = [markup(entry, a(link), self.prose.say("journal")) for link in self.journal]
        main = markup("<div><h1 content>Journal</h1><div content>{}</div></div>", entries)
        self.publish("/journal/", "listing", _TITLE.format("Journal"), main, "Journal", [Link("/", "Home")])
        for link in self.journal:
            self._journal(link)

    def _card(self, link: Link) -> Node:
        rng, nonce = self.rng, self.token(10)
        return markup(
            """
            <li class="product type-product post-{5} instock"><a href={3}>
            <img src=/static/picture.png?v={0} width=300 height=300 alt="{1}">
            <h2 class=woocommerce-loop-product__title>{1}</h2><span class=price>{2}</span></a>
            <a template class="button add_to_cart_button" href={4}&amp;n={0} data-product-sku={0} rel=nofollow>
            Add to basket</a></li>""",
            *(nonce, link.title, self.price[link.path], link.path, f"/cart?add={rng.randrange(9999)}"),
            rng.randint(100, 999),
        )

    def _product(self, link: Link, department: str, *, broken: bool) -> None:
        rng, prose = self.rng, self.prose
        bound = {"product": link.title, "kind": self.kinds[link.title]}
        bound |= {name: prose.raw(f"[{name}]") for name in ("material", "colour")}
        specifications = [
            markup("<tr><th>{}</th><td>{}</td></tr>", name, prose.fill(value, bound))
            for name, value in rng.sample(SPECIFICATIONS, rng.randint(5, 10))
        ]
        reviews = [self._review({"kind": bound["kind"], "colour": bound["colour"]}) for _ in range(rng.randint(0, 6))]
        summary = markup(
            """
            <div class="summary col-md-6"><h1 class="product_title entry-title" content>{}</h1>
            <p class=price content>{}</p><div class=short-description content><p>{}</p></div>{}
            <div class=meta-actions><a href=https://pins.example/>Pin it</a>
            <a href=https://share.example/>Share</a><span class=stock>{}</span></div></div>""",
            *(link.title, self.price[link.path], prose.say("opening", bound), self._basket()),
            rng.choice(("In stock", "Only 2 left", "Dispatched within 24 hours")),
        )
        features = [
            self.paragraph(prose.paragraph("feature", 1, 4, bound), self.products) for _ in range(rng.randint(2, 6))
        ]
        if rng.random() < 0.4:
            features.append(items("ul", (prose.say("feature", bound) for _ in range(rng.randint(2, 4)))))
        comments = "<div id=reviews content><h2>{} reviews for {}</h2><ol class=commentlist>{}</ol></div>"
        main = markup(
            """
            <div class=product id=product-{6}>
            <div class=row><div class="col-md-6 gallery">
            <img src=/static/picture.png width=600 height=600 alt="{0}"></div>{1}</div>
            <ul class="nav nav-tabs"><li><a href=#description>Description</a></li><li><a href=#reviews>Reviews</a></li>
            <li><a href=#delivery>Delivery</a></li></ul>
            <div class=woocommerce-Tabs-panel content><h2>Description</h2>{2}
            <table class="table shop_attributes">{3}</table></div>{4}
            <section class="related products" template><h2>Customers also bought</h2>
            <ul class="products columns-4">{5}</ul></section></div>""",
            *(link.title, summary, features, specifications),
            markup(comments, len(reviews), link.title, reviews) if reviews else None,
            *([self._card(other) for other in self.others(self.products, 4, link)], rng.randint(100, 9999)),
        )
        crumbs = [Link("/", "Home"), Link(self._department_path(department, 0), department), link]
        self.publish(link.path, "article", _TITLE.format(link.title), main, department, crumbs, broken=broken)

    def _review(self, bound: dict[str, str]) -> Node:
        rng, prose = self.rng, self.prose
        text = " ".join(prose.say("review", bound) for _ in range(rng.randint(1, 3)))
        return markup(
            """
            <li class=review><strong>{}</strong> \u2013 <time>{:%d/%m/%Y}</time>
            <div class=description><p>{}</p></div></li>""",
            *(prose.raw("[first] [last]"), self.moment(), text),
        )

    def _basket(self) -> Node:
        return markup(
            """
            <form class=cart method=post action=/cart data-nonce={0}><label>Quantity</label>
            <input type=number name=quantity value=1><input type=hidden name=_wpnonce value={0}>
            <button type=submit>Add to basket</button>
            <p>14 days to change your mind. Read about <a href=/>delivery and returns</a>.</p></form>""",
            self.token(),
        )

    def _journal(self, link: Link) -> None:
        rng, prose, when = self.rng, self.prose, self.moment()
        text = [self.paragraph(prose.paragraph("journal", 1, 3), self.products) for _ in range(rng.randint(4, 8))]
        text.insert(2, items("ol", (prose.say("journal") for _ in range(rng.randint(3, 5)))))
        article = markup(
            """
            <article><h1 content>{}</h1><p class=entry-meta content>{:%d %B %Y} by {}</p>
            <div class=entry content>{}</div>
            <div><h3>Mentioned in this story</h3><ul class=products>{}</ul></div></article>""",
            *(link.title, when, prose.raw("[first]"), text),
            [self._card(other) for other in self.others(self.products, 3)],
        )
        crumbs = [Link("/", "Home"), Link("/journal/", "Journal"), link]
        self.publish(link.path, "article", _TITLE.format(link.title), article, "Journal", crumbs)

    def _listing(self, path: str, title: str, links: Sequence[Link], active: str, more: str | None = None) -> None:
        main = markup(
            """
            <div><h1 content>{}</h1>
            <form class=ordering><select><option>Sort by popularity</option><option>Sort by price</option></select>
            </form>
            <ul class="products columns-4" content>{}</ul>{}</div>""",
            *(title, [self._card(link) for link in links]),
            markup("<nav class=pagination><a class=page-link href={}>Next \u2192</a></nav>", more) if more else None,
        )
        self.publish(path, "listing", _TITLE.format(title), main, active, [Link("/", "Home")] if active else [])

    @staticmethod
    def _department_path(department: str, number: int) -> str:
        return f"/product-category/{department.lower()}/" + (f"page/{number + 1}/" if number else "")

    def _head(self) -> list[Node]:
        return [
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("link", rel="stylesheet", href=f"/static/site.css?ver={self.token(6)}"),
            el("style", ".price { color: #373 }"),
            el("script", f'var wc = {{"ajax": "/wc", "nonce": "{self.token(10)}"}};'),
        ]

    def _frame(self, main: Node, active: str, crumbs: list[Link]) -> Node:
        rng = self.rng
        menu = [
            markup(
                '<li class="nav-item{}"><a class=nav-link href={}>{}</a></li>',
                " current-menu-item" if name == active else "",
                *(self._department_path(name, 0) if name != "Journal" else "/journal/", name),
            )
            for name in (*DEPARTMENTS, "Journal")
        ]
        trail = [el("li.breadcrumb-item", a(link)) for link in crumbs[:-1]]
        trail += [el("li.breadcrumb-item.active", crumbs[-1].title)] if crumbs else []
        viewed = [
            markup("<li>{} <span>{}</span></li>", a(link), self.price[link.path])
            for link in self.others(self.products, 3)
        ]
        return markup(
            """
            <body class="woocommerce woocommerce-page page-id-{10}" template>
            <div class="alert alert-info promo"><p>{0}</p></div>
            <header class=site-header><div class=container><a class=navbar-brand href=/>Fernhill Outdoor</a>
            <form action=/private/search><input type=search name=s><button>Search</button></form>
            <a href=/cart?sid={2}>Basket ({1})</a><a href=/login>My account</a></div>
            <nav class="navbar navbar-expand-lg"><ul class=navbar-nav>{3}</ul></nav></header>{4}
            <div class="row container"><div class=col-lg-9>{5}</div>
            <aside class="col-lg-3 widget-area"><h4>Filter by</h4>
            <ul>{11}</ul><h4>Recently viewed</h4><ul>{6}</ul></aside></div>
            <footer class=site-footer>
            <div><h5>Visit us</h5><p>12 Ropewalk, Fennimore. Open Tuesday to Saturday, nine to five.</p></div>
            <div><h5>Help</h5><ul>{7}</ul></div>
            <div><h5>Newsletter</h5><p>Ten letters a year, none of them shouting.</p>
            <form><input type=email><input type=hidden value={8}><button>Join</button></form></div>
            <p>\u00a9 2009\u20132026 Fernhill Outdoor. Prices include VAT. Updated {9:%H:%M:%S}.</p></footer></body>""",
            *(rng.choice(PROMOTIONS), rng.randint(0, 3), self.token(16), menu),
            markup("<nav><ol class=breadcrumb>{}</ol></nav>", trail) if trail else None,
            *(main, viewed, listed(self.extras), self.token(), self.moment(), rng.randrange(9999)),
            [markup("<li><label><input type=checkbox>{}</label></li>", name) for name in FILTERS],
        )
