"""Near-duplicates after the crawl: the stream of documents, and the workers of ``winnow dedup`` that decide them.

``docs/guides/near-duplicates.md`` says how they are run, what is guaranteed, and what is bounded.
"""
