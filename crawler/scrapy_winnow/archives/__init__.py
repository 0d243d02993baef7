"""Archives of pages: WARC files in, clean pages out, each with the evidence of all pages of its host.

Two passes over the files: the first counts the leaves of every page for its host, the second cleans every page with the
final counts, so that nothing depends on the order in which pages were fetched.
``docs/guides/archives.md`` says how it is run.
"""

from scrapy_winnow.archives.run import ArchiveRun, Options

__all__ = ["ArchiveRun", "Options"]
