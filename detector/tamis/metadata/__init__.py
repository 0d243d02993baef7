"""Facts that a page states about itself: title, authors, dates and the like, each with its source."""

from tamis.metadata.facts import Metadata, declared_kind, read_metadata

__all__ = ["Metadata", "declared_kind", "read_metadata"]
