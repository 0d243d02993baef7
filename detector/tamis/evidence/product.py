"""Keeps the name, the price and the availability of the product that a page says it is about.

They are short, and look like those of the other products on the page. What a page states of its offers says which
price is the product's; the one that is struck out for it is not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.evidence.draft import Reason
from tamis.evidence.main_content import are_like_title, enclosed_blocks
from tamis.metadata.facts import STRUCK_OUT, declared_kind, declared_offers
from tamis.metadata.json_ld import json_ld_scripts
from tamis.metadata.offers import amounts_in
from tamis.metadata.visible import heading_block
from tamis.output.spacing import CURRENCIES
from tamis.output.styles import styles_of_text
from tamis.output.text import blocks_inside
from tamis.page.attributes import attribute_predicate
from tamis.page.hidden import hidden_runs
from tamis.page.tree import as_mask, linked_runs, sums_in_blocks, within

if TYPE_CHECKING:
    from tamis.arrays import Flags
    from tamis.evidence.draft import Draft
    from tamis.page.page import Page

_PRODUCT_POSSIBLE: Final = attribute_predicate("content", "itemtype", parts=("product",))
_PRODUCT: Final = re.compile(r"(?i)(?:og:)?product(?:\.item)?|https?://schema\.org/(?:individual)?product/?")
_PRODUCT_FACT: Final = re.compile(r"\b(?:price|priceCurrency|availability|sku|brand)\b")
_PRICE: Final = re.compile(  # a single set that every match begins in is searched fast
    rf"[{CURRENCIES}DRPFs\d](?:(?:(?<=[{CURRENCIES}])|(?:(?<=\b(?:USD|EUR|GBP|CHF))|(?<=\bRs))\.?)\s?\d"
    rf"|(?<=\d)\s?(?:[{CURRENCIES}]|USD|EUR|GBP|CHF|kr\b|zł|Kč|Ft\b|лв|руб|грн|円|元))"
)
_STOCK: Final = re.compile(
    r"\b(?:(?:in|out of|low) stock|sold out|auf lager|lieferbar|ausverkauft|en stock|rupture|agotado|disponib|esgotado"
    r"|op voorraad|uitverkocht|på lager|i lager|na stanie|skladem|в наличии)|在庫|有货|缺货|재고|품절",
    re.IGNORECASE,
)
_MAX_FACT: Final = 60  # characters
_BEFORE: Final = 3  # times as far is a price before the name
_MAX_APART: Final = 40  # blocks from the name to the availability


def keep_product(draft: Draft) -> None:
    """Keep the name, price and availability of the product that the page is about, if any of its text is kept.

    The name is the heading that is most like the title. The facts are what microdata marks between it and the end of
    the kept text, the price nearest to it that the page states, and the first line about the stock. Where no stated
    price is shown, as in another currency, it is the first one after the name.
    """
    page, kept = draft.page, draft.kept
    if not np.count_nonzero(kept) or not _is_product(page) or (name := heading_block(page)) is None:
        return
    struck_out = STRUCK_OUT.take(page.tag) | (styles_of_text(page, "text-decoration-line") > 0)
    is_fact = (draft.lengths <= _MAX_FACT) & ~enclosed_blocks(page, struck_out)
    is_fact[name] = False
    last = int(kept.nonzero()[0][-1])
    after = is_fact & (sums_in_blocks(page, linked_runs(page) & page.is_nonblank) == 0)
    after[:name] = after[last + 1 :] = False
    marked = [element for element, value in page.attribute("itemprop").items() if _PRODUCT_FACT.search(value)]
    found = within(page, as_mask(page, marked))[page.block_node] & after
    found[name] = blocks_inside(page, "h1", "h2")[name] and are_like_title(draft, [name])[0]
    near = after[name : name + _MAX_APART].nonzero()[0] + name
    stock = next((block for block in near.tolist() if _STOCK.search(draft.texts[block])), None)
    found[[block for block in (_price_block(draft, name, is_fact, after), stock) if block is not None]] = True
    draft.overrule(found & ~kept, Reason.MAIN_CONTENT, cut=False)


def _is_product(page: Page) -> bool:
    """Whether a page says that it is about a product."""
    if any(_PRODUCT.fullmatch(value.strip()) for _, value in page.attributes.matching(_PRODUCT_POSSIBLE)):
        return True
    return any('Product"' in script for script in json_ld_scripts(page)) and declared_kind(page) == "product"


def _price_block(draft: Draft, name: int, is_fact: Flags, after: Flags) -> int | None:
    """The block that shows the product's price, of those with few characters; ``None`` if none does."""
    page = draft.page
    priced = [block for block in is_fact.nonzero()[0].tolist() if _PRICE.search(draft.texts[block])]
    stated = {offer["price"] for offer in declared_offers(page) if offer["price"]}
    is_shown = np.zeros(page.m, bool)
    is_shown[[block for block in priced if not stated.isdisjoint(amounts_in(draft.texts[block]))]] = True
    if not is_shown.any():
        return next((block for block in priced if after[block]), None)
    seen = is_shown & (sums_in_blocks(page, page.is_nonblank & ~hidden_runs(page, is_shown)) > 0)
    return min(seen.nonzero()[0].tolist(), key=lambda block: max(block - name, _BEFORE * (name - block)), default=None)
