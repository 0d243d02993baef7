"""Cleaning the pages that a command line names, here or in several processes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy_winnow.commands.shared.failures import reason
from scrapy_winnow.commands.shared.inputs import STANDARD_INPUT, InputError, cleaned_page, load

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from winnow import Cleaned
    from winnow.models.base import Model

SUFFIXES: Final = {"text": ".txt", "markdown": ".md", "html": ".html", "json": ".json"}
"""File name extension of each format."""

FURTHER: Final = ("html", "markdown", "metadata", "chunks", "segments")
"""What JSON holds where ``--with`` names it."""

_AT_A_TIME: Final = 8  # pages given to a process


@dataclass(frozen=True, slots=True)
class Source:
    """A page to clean.

    Attributes:
        name: file, or ``-`` for standard input.
        stem: its path for the output, without extension: the name alone, or the path below the folder that was named.
        in_folder: whether a folder was named.
    """

    name: str
    stem: str
    in_folder: bool = False


@dataclass(frozen=True, slots=True)
class PageOutput:
    """What became of a page: its content as it is written, ``None`` where it failed, and what is to be said of it."""

    content: str | None
    notes: list[str]


def sources_of(name: str) -> list[Source]:
    """Return the pages that a name stands for: a file, or the HTML files anywhere below a folder.

    Raises:
        InputError: there is no HTML file in the folder.
    """
    if name == STANDARD_INPUT:
        return [Source(name, "stdin")]
    folder = Path(name)
    if not name or not folder.is_dir():
        return [Source(name, Path(name).stem)]
    from winnow.training.sites import page_files  # noqa: PLC0415  (help and usage errors need not wait for numpy)

    files = page_files(folder)
    if not files:
        raise InputError("no HTML files in this folder")
    return [Source(str(file), str(file.relative_to(folder).with_suffix("")), in_folder=True) for file in files]


def cleaned_sources(
    sources: Sequence[Source], options: argparse.Namespace, model: Model
) -> Iterator[tuple[Source, PageOutput]]:
    """Clean pages and yield them in their order."""
    if options.processes == 1 or len(sources) <= 1:
        yield from ((source, page_output(source, options, model)) for source in sources)
        return
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415
    from multiprocessing import get_context  # noqa: PLC0415

    context = get_context("forkserver")
    with ProcessPoolExecutor(min(options.processes, len(sources)), context, _begin, (options,)) as pool:
        outputs = pool.map(_in_process, sources, chunksize=_AT_A_TIME)
        yield from zip(sources, outputs, strict=True)


def page_output(source: Source, options: argparse.Namespace, model: Model) -> PageOutput:
    """Clean one page and write what came out as text."""
    switches = {
        "encoding": options.encoding,
        "links": not options.no_links,
        "images": not options.no_images,
        "tables": not options.no_tables,
        "deduplicate": not options.keep_copies,
        "comments": options.comments,
    }
    try:
        cleaned, notes = cleaned_page(source.name, options, model, **switches)
    except (InputError, LookupError, OSError) as error:
        return PageOutput(None, [reason(error)])
    return PageOutput(_content(source.name, cleaned, options), notes)


def _content(name: str, cleaned: Cleaned, options: argparse.Namespace) -> str:
    if options.format == "json":
        row = {
            "file": name,
            "url": options.url,
            "title": cleaned.title,
            "text": cleaned.text,
            "comments": cleaned.comments,
            "template_share": round(cleaned.template_share, 4),
            "confidence": None if cleaned.confidence is None else round(cleaned.confidence, 4),
            "kind": cleaned.kind,
            "fallback": cleaned.fallback,
            "passed_through": cleaned.passed_through,
            "model": cleaned.model_version,
        }
        further = cleaned.to_dict(*options.further)
        return json.dumps(row | {part: further[part] for part in options.further}, ensure_ascii=False) + "\n"
    content: str = getattr(cleaned, options.format)
    return content if content.endswith("\n") else f"{content}\n"


_work: dict[str, Any] = {}
"""Options and model of a process of its own."""


def _begin(options: argparse.Namespace) -> None:
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    _work.update(options=options, model=load(options), one_thread=threadpool_limits(limits=1, user_api="blas"))


def _in_process(source: Source) -> PageOutput:
    return page_output(source, _work["options"], _work["model"])
