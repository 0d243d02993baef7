"""``winnow inspect``: a page as it looks beside what comes out of it, in a browser.

A :class:`~scrapy_winnow.inspector.inspection.Inspection` judges one page under changing settings, a
:class:`~scrapy_winnow.inspector.server.InspectorServer` shows it on loopback, and
:func:`~scrapy_winnow.inspector.application.application` writes it into one self-contained file.
"""
