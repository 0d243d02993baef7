"""The four papers: their methods, training, and evaluation. The library imports nothing of it, and no crawl does.

Each site-level method is found by its name in :data:`tamis_papers.methods.METHODS`: pages of a site in, template units
of each page out. A module that is of one paper begins with it, and its functions name the sections.
"""
