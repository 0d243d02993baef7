"""The attributes of a page's elements: each different one told apart once, its value a string only when asked for."""

from winnow.page.attributes.questions import Question, question
from winnow.page.attributes.table import AttributeTable, Pairs
from winnow.page.attributes.values import AttributeValues

__all__ = ["AttributeTable", "AttributeValues", "Pairs", "Question", "question"]
