"""Archives of pages: WARC files in, clean pages out, each cleaned with what the other pages of its host have in common.

:class:`ArchiveRun` reads the files twice: first it counts the leaves of every page for its host, then it cleans every
page with the final counts, so that the order of the pages does not matter. :class:`OnePassRun` reads a stream once and
cleans each page with what its host had counted by then. ``docs/guides/archives.md`` is the guide.
"""

from scrapy_winnow.archives.runs import ArchiveRun, OnePassRun, Options

__all__ = ["ArchiveRun", "OnePassRun", "Options"]
