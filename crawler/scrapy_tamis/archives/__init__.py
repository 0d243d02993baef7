"""WARC files in, clean pages out, each cleaned by what its host's pages share; ``docs/guides/archives.md`` has more."""

from scrapy_tamis.archives.one_pass import OnePassRun
from scrapy_tamis.archives.runs import ArchiveRun, Options

__all__ = ["ArchiveRun", "OnePassRun", "Options"]
