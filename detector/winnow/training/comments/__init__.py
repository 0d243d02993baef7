"""Training of the comments head: from the names that authors give to comments, which the head itself does not see."""

from winnow.training.comments.examples import CommentPage, comment_page, without_repeats
from winnow.training.comments.fitting import train_comment_head
from winnow.training.comments.measuring import Measured, measured, measured_by_folds

__all__ = [
    "CommentPage",
    "Measured",
    "comment_page",
    "measured",
    "measured_by_folds",
    "train_comment_head",
    "without_repeats",
]
