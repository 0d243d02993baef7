"""``tamis inspect`` and ``tamis compare``: a page beside its clean content, or several extractors', in a browser."""
