"""One host of the demo web: what it serves under which path, and the truth about its pages."""

from __future__ import annotations

import random
import struct
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict, Unpack

from demo.nodes import Node, Serialiser, el
from demo.truth import PageTruth

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Writing(TypedDict, total=False):
    """How a page is written; see `PageTruth` for the meaning. Unless told otherwise: sound markup in declared UTF-8."""

    charset: str
    declared: str
    broken: bool
    story: str | None
    language: str


@dataclass(frozen=True, slots=True)
class Resource:
    """An answer of the server: status, headers and body."""

    path: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def content_type(self) -> str:
        """Value of its header."""
        return dict(self.headers)["Content-Type"]

    @property
    def is_page(self) -> bool:
        """Whether it is HTML, and neither a redirect nor an error."""
        return self.status == 200 and self.content_type.startswith("text/html")


@dataclass(slots=True)
class Site:
    """Collects the resources of one host.

    Attributes:
        name: The host's name in the demo web, for example ``news``.
        rng: Source of every choice on this host.
        language: Value of ``<html lang>``.
    """

    name: str
    rng: random.Random
    language: str = "en"
    resources: dict[str, Resource] = field(default_factory=dict)
    truth: dict[str, PageTruth] = field(default_factory=dict)

    def page(
        self,
        path: str,
        kind: str,
        title: str,
        body: Node,
        *,
        head: Sequence[Node] = (),
        status: int = 200,
        **writing: Unpack[Writing],
    ) -> None:
        """Serialise a page and file it with its truth; see `PageTruth` for the arguments' meaning."""
        charset, declared = writing.get("charset", "utf-8"), writing.get("declared", "both")
        broken = writing.get("broken", False)
        metas: list[Node] = []
        if declared in {"meta", "both"}:
            if self.rng.random() < 0.5:
                metas.append(el("meta", charset=charset))
            else:
                metas.append(el("meta", http_equiv="Content-Type", content=f"text/html; charset={charset}"))
        heading = el("head", *metas, el("title", title), *head)
        root = el("html", heading, body, lang=writing.get("language", self.language))
        slips = random.Random(self.rng.random()) if broken else None
        text, runs = Serialiser(slips).write(root)
        mime = f"text/html; charset={charset}" if declared in {"header", "both"} else "text/html"
        content = f"<!DOCTYPE html>\n{text}\n".encode(charset, "xmlcharrefreplace")
        self._file(path, status, mime, content)
        self.truth[path] = PageTruth(path, kind, runs, charset, declared, not broken, writing.get("story"))

    def empty(self, path: str) -> None:
        """A page of zero bytes."""
        self._file(path, 200, "text/html; charset=utf-8", b"")
        self.truth[path] = PageTruth(path, "empty", ())

    def redirect(self, path: str, target: str, status: int = 302) -> None:
        """An answer that points elsewhere on the host."""
        self._file(path, status, "text/html; charset=utf-8", b"<p>Moved.</p>", (("Location", target),))

    def file(self, path: str, mime: str, body: bytes) -> None:
        """Something that is no page."""
        self._file(path, 200, mime, body)

    def robots(self, disallowed: Iterable[str]) -> None:
        """The host's robots.txt."""
        lines = ["User-agent: *", *(f"Disallow: {path}" for path in disallowed), ""]
        self._file("/robots.txt", 200, "text/plain; charset=utf-8", "\n".join(lines).encode())

    def _file(self, path: str, status: int, mime: str, body: bytes, headers: tuple[tuple[str, str], ...] = ()) -> None:
        if path in self.resources:
            raise ValueError(f"{self.name} has two resources at {path}")
        self.resources[path] = Resource(path, status, (("Content-Type", mime), *headers), body)


def png(width: int, height: int, rgb: tuple[int, int, int]) -> bytes:
    """Return a PNG of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes(rgb) * width) * height
    size = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def pdf(text: str) -> bytes:
    """Return a PDF of one page with one line of text."""
    stream = f"BT /F1 14 Tf 60 760 Td ({text}) Tj ET".encode("latin-1", "replace")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources 6 0 R >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Font << /F1 5 0 R >> >>",
    ]
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    xref = len(out)
    out += b"xref\n0 7\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer << /Size 7 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % xref
    return bytes(out)
