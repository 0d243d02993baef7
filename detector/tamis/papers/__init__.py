"""The methods of the four papers, for ``tamis site``, ``tamis train`` and measurements; cleaning a page needs none.

Each site-level method is found by its name in :data:`tamis.papers.methods.METHODS`: pages of a site in, template units
of each page out. A module that is of one paper begins with it, and its functions name the sections.
"""
