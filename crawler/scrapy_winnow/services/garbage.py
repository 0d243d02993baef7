"""What the garbage collector need not look at: modules and the model, which stay to the end of the process."""

from __future__ import annotations

import gc
from functools import cache


@cache
def freeze_loaded() -> None:
    """Have the collector pass over all that is there by now; once in a process, before its first page.

    With Scrapy, numpy and a model a process has 150,000 objects that are never garbage. A full collection that looks at
    them holds a crawl's event loop for 60 ms and more, several times in its first thousand pages. What was garbage goes
    first; the rest is freed as ever when nothing refers to it, unless it is then part of a cycle.
    """
    gc.collect()
    gc.freeze()
