"""Fingerprints of the units of a page: a :class:`~winnow.page.Page` in, 64-bit hashes of markup and of text out."""

from winnow.fingerprints.units import FINGERPRINT_VERSION, both_fingerprints, node_fingerprints, text_fingerprints

__all__ = ["FINGERPRINT_VERSION", "both_fingerprints", "node_fingerprints", "text_fingerprints"]
