"""``winnow inspect`` and ``winnow compare``: a page beside its clean content, or several extractors', in a browser.

An :class:`~scrapy_winnow.inspector.inspection.Inspection` cleans one page with changing settings, an
:class:`~scrapy_winnow.inspector.comparison.Comparison` compares texts,
:class:`~scrapy_winnow.inspector.server.InspectorServer` shows either on loopback, and
:func:`~scrapy_winnow.inspector.server.render_document` writes it into one self-contained file.
"""
