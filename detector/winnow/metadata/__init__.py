"""What a page says of itself: title, authors, dates and the like, each with where it was found."""

from winnow.metadata.facts import Metadata, declared_kind, metadata_of

__all__ = ["Metadata", "declared_kind", "metadata_of"]
