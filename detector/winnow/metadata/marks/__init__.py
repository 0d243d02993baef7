"""Marks that authors leave for machines: which blocks are a page's article. They teach, and decide what is kept."""

from winnow.metadata.marks.articles import ArticleMark, article_mark
from winnow.metadata.marks.evidence import with_authors_mark
from winnow.metadata.marks.headlines import with_titled_article
from winnow.metadata.marks.marked_pages import MarkedPage, without_marks

__all__ = [
    "ArticleMark",
    "MarkedPage",
    "article_mark",
    "with_authors_mark",
    "with_titled_article",
    "without_marks",
]
