"""The methods of the four papers, for ``winnow site``, ``winnow train`` and measurements; cleaning a page needs none.

Each site-level method is found by its name in :data:`winnow.papers.methods.METHODS`: pages of a site in, template units
of each page out. A module that is of one paper begins with it, and its functions name the sections.
"""
