"""``winnow inspect``: a page beside its clean content, in a browser.

An :class:`~scrapy_winnow.inspector.inspection.Inspection` cleans one page with changing settings, an
:class:`~scrapy_winnow.inspector.server.InspectorServer` shows it on loopback, and
:func:`~scrapy_winnow.inspector.server.render_document` writes it into one self-contained file.
"""
