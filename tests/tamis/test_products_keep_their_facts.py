"""What a page states of its product's offer decides which of many short lines are the name, the price and the stock."""

import json

import numpy as np
import pytest

import tamis
from tamis.models import Scores
from tamis.models.decision import FixedThreshold
from tamis.page.page import Page

ABOUT = (
    "The lamp is made of steel and oak by people who have done so for forty years, and lights a desk as wide as two. "
)
CARDS = "".join(f"<div><h3><a href=/{n}>Lamp {n}</a></h3><b>${n}9.00</b></div>" for n in range(2, 8))


class LongBlocks:
    """A model that keeps long text blocks alone."""

    name = version = "long"

    def score(self, page: Page) -> Scores:
        values = np.full(page.n + page.m, 0.1)
        values[page.n :][[len(text) < 100 for text in page.block_texts()]] = 0.9
        return Scores(values, np.ones(len(values)), np.ones(len(values), bool), values * 0, FixedThreshold(0.5))


def lines(facts: str, *, price: str = "79.00", title: str = "Storm lamp", name: str = "Storm lamp") -> list[str]:
    data = {"@type": "Product", "name": name, "offers": {"price": price, "priceCurrency": "USD"}}
    html = (
        f"<html><head><title>{title}</title><script type='application/ld+json'>{json.dumps(data)}</script></head><body>"
        f"<p>Cart: $0.00</p><p>From {price} EUR</p><div><h1>{name}</h1></div>{facts}<p>Add to cart</p>"
        f"<p>{ABOUT * 2}<p>{ABOUT * 2}<h2>Related</h2>{CARDS}"
    )
    found = tamis.clean(html, url="https://shop.example/lamp", model=LongBlocks()).text.split("\n\n")
    return [line for line in found if line not in {"", (ABOUT * 2).strip()}]


@pytest.mark.parametrize(
    ("facts", "kept"),
    [
        ("<div>$99.00</div><div>Subtotal: $79.00</div>", ["Subtotal: $79.00"]),
        ("<div><s>$79.00</s></div><div>Now $79.00</div>", ["Now $79.00"]),
        ("<div style='text-decoration: line-through'>$79.00</div><div>Now $79.00</div>", ["Now $79.00"]),
        ("<div style='display: none'>$79.00</div><a href=/buy>Buy for $79.00</a>", ["Buy for $79.00"]),
        ("<p>79 points<p>$79", ["$79"]),
        ("<p>$1,079.00<p>USD 79<p>12 in stock<p>13 in stock", ["USD 79", "12 in stock"]),
        ("<p itemprop=brand>Lux</p><div>79,00 €</div>", ["Lux", "79,00 €"]),
    ],
)
def test_the_price_is_the_one_that_the_page_states(facts: str, kept: list[str]) -> None:
    assert lines(facts) == ["Storm lamp", *kept]


def test_where_the_stated_price_is_not_shown_the_first_one_behind_the_name_is_the_price() -> None:
    assert lines("<div><s>£75.00</s></div><div>£71.50</div><div>£65.00</div>", price="0") == ["Storm lamp", "£71.50"]


def test_a_price_before_the_name_is_nearer_than_that_of_a_related_product() -> None:
    assert lines("", price="29.00") == ["From 29.00 EUR", "Storm lamp"]


def test_a_name_that_the_title_cuts_off_is_kept() -> None:
    name = "Storm lamp of steel and oak for a desk as wide as two, in six colours"
    assert lines("<p>$79.00</p>", title=name[:46], name=name) == [name, "$79.00"]
