"""Provides :class:`~scrapy_tamis.content.Content` to callbacks and page objects that ask for it, with scrapy-poet.

SCRAPY_POET_PROVIDERS = {"scrapy_tamis.providers.ContentProvider": 500}

async def parse(self, response, content: Content): ...
"""

from __future__ import annotations

# scrapy-poet evaluates the annotations of a provider, so these imports are needed at run time.
from collections.abc import Callable, Collection, Sequence  # noqa: TC003
from typing import Any

from scrapy import Request  # noqa: TC002
from scrapy.crawler import Crawler  # noqa: TC002
from scrapy.http import Response  # noqa: TC002
from scrapy_poet.page_input_providers import PageObjectInputProvider

from scrapy_tamis.content import Content
from scrapy_tamis.extension import tamis_of
from scrapy_tamis.stats import CONTENT_PROVIDED


class ContentProvider(PageObjectInputProvider):
    """Cleans the response before its callback runs, with the counts of its site at that time.

    The page itself is counted after its callback, as always. The pipeline cleans items with HTML again, but not
    ``Content`` that is yielded as it was provided.
    """

    provided_classes = {Content}  # noqa: RUF012  (scrapy-poet wants a set)
    name = "tamis_content"

    async def __call__(
        self,
        to_provide: Collection[Callable[..., Any]],  # noqa: ARG002  (there is one class)
        request: Request,
        response: Response,
        crawler: Crawler,
    ) -> Sequence[Content]:
        """Clean a response by the options of its request; with ``clean`` off the content has no text."""
        tamis = tamis_of(crawler)
        source = tamis.sources.make(request, response)
        if not source.options.clean:
            return [Content(url=source.url)]
        html = getattr(response, "text", None)
        if not isinstance(html, str):
            return [Content(url=source.url, status="binary")]
        cleaned = await tamis.clean(html, source)
        tamis.count(CONTENT_PROVIDED)
        return [Content(url=source.url, **cleaned.values)]  # type: ignore[arg-type]
