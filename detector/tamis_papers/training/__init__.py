"""Training of page-level models; needs ``pip install 'tamis[train]'``, but for reading pages and measuring."""
