"""Marks that authors leave for machines, as teachers: which blocks are a page's article, with no one's label."""

from winnow.metadata.marks.articles import ArticleMark, article_mark
from winnow.metadata.marks.hiding import without_marks
from winnow.metadata.marks.marked_pages import MarkedPage

__all__ = ["ArticleMark", "MarkedPage", "article_mark", "without_marks"]
