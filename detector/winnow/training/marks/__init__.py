"""Marks that authors leave for machines, as teachers: which blocks are a page's article, with no one's label."""

from winnow.training.marks.articles import ArticleMark, article_mark
from winnow.training.marks.hiding import without_marks

__all__ = ["ArticleMark", "article_mark", "without_marks"]
