"""The methods of the four papers, for ``winnow site``, ``winnow train`` and measurements; cleaning a page needs none.

Each site-level method is found by its name in :data:`winnow.papers.methods.METHODS`: pages of a site in, template units
of each page out.

====================== ============================================================================================
module                 what
====================== ============================================================================================
``methods``            the table of all methods, and the labels of a site's pages by one
``pages``              the pages of a site, what every method is, and what several methods compute of a page
``page_level``         "Page-level Template Detection via Isotonic Smoothing": site-level labels, ``logistic`` model
``element_features``   the features of that model
``geometry``           its positions and areas, estimated without a browser
``site_independent``   "Site-Independent Template-Block Detection": blocks and their labels
``repeats``            "Automatic Template Detection Using Novel Approach": node hashes and text windows
``clustering``         clusters of pages by template, in the same paper, and the cost that they lower
``menus``              "Web Template Extraction Based on Hyperlink Analysis": pages that link to each other
``menu_mapping``       which nodes of two pages correspond
====================== ============================================================================================
"""
