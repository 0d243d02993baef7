"""Training of page-level models; needs ``pip install 'scrapy-winnow[train]'``, but for reading pages and measuring."""
