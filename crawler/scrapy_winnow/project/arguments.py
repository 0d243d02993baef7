"""The arguments of the site spider, checked before anything is fetched."""

from __future__ import annotations

import zlib
from pathlib import Path
from urllib.parse import urlsplit

from scrapy_winnow.storage.keys import site_of


def start_urls(url: str | None, urls_file: str | None) -> list[str]:
    """Return the addresses to start from, one per argument or line, each once.

    Args:
        url: one address.
        urls_file: a text file with an address per line; blank lines and lines that begin with ``#`` are left out.

    Raises:
        ValueError: there is no address, one of them is not an HTTP address, or the file cannot be read.
    """
    found = [_checked(url, "-a url")] if url else []
    if urls_file:
        try:
            lines = Path(urls_file).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"-a urls_file: cannot read {urls_file}: {error}") from error
        for number, line in enumerate(lines, start=1):
            if (address := line.strip()) and not address.startswith("#"):
                found.append(_checked(address, f"{urls_file}, line {number}"))
    if not found:
        raise ValueError("nothing to crawl: give -a url=https://host/ or -a urls_file=FILE with an address per line")
    return list(dict.fromkeys(found))


def shard_of(urls: list[str], shard: str | None) -> list[str]:
    """Return the addresses of one shard, so that N crawls share a file of addresses; a host is in one shard only.

    Args:
        urls: all addresses, from :func:`start_urls`.
        shard: ``K/N``, K from 0 to N - 1; without it all addresses are returned.

    Raises:
        ValueError: the shard is not of that form.
    """
    if shard is None:
        return urls
    number, _, count = shard.partition("/")
    if not (number.isdecimal() and count.isdecimal() and int(number) < int(count)):
        raise ValueError(f"-a shard must be K/N with K from 0 to N - 1, such as 0/4, not {shard!r}")
    return [url for url in urls if zlib.crc32(str(site_of(url)).encode()) % int(count) == int(number)]


def whole_number(name: str, value: str | int, minimum: int = 1) -> int:
    """Return an argument that is a whole number.

    Raises:
        ValueError: it is none, or below the minimum.
    """
    try:
        if (number := int(value)) >= minimum:
            return number
    except ValueError:
        pass
    raise ValueError(f"-a {name} must be a whole number of at least {minimum}, not {value!r}")


def _checked(url: str, where: str) -> str:
    if site_of(url) is None:
        hint = "" if urlsplit(url).scheme else f"; did you mean https://{url.lstrip('/')}?"
        raise ValueError(f"{where}: {url!r} is not an http or https address{hint}")
    # Links to a front page have the slash; without it the page would be two.
    return urlsplit(url)._replace(path=urlsplit(url).path or "/").geturl()
