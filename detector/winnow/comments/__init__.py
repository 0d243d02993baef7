"""Comments of readers below a story: content of a kind of its own."""

from winnow.comments.parting import COMMENTS, Comments, Parting

__all__ = ["COMMENTS", "Comments", "Parting"]
