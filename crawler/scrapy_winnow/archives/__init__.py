"""Archives of pages: WARC files in, clean pages out, each with the evidence of all pages of its host.

Two passes over the files (:class:`ArchiveRun`): the first counts the leaves of every page for its host, the second
cleans every page with the final counts, so that nothing depends on the order in which pages were fetched. Or one pass
over a stream (:class:`OnePassRun`), each page with what had come of its host by then.
``docs/guides/archives.md`` says how it is run.
"""

from scrapy_winnow.archives.job import Options
from scrapy_winnow.archives.one_pass import OnePassRun
from scrapy_winnow.archives.run import ArchiveRun

__all__ = ["ArchiveRun", "OnePassRun", "Options"]
