from typing import Any

from _typeshed import ReadableBuffer, WriteableBuffer

def flatten(
    root: Any,
    tag_ids: dict[str, int],
    title: int,
    image: int,
    block_level: ReadableBuffer,
    unseen: ReadableBuffer,
    properties: ReadableBuffer,
    seed: int,
    most_nodes: int,
    most_levels: int,
    /,
) -> dict[str, Any] | tuple[int, int] | None: ...
def count_kinds(
    text: str, run_offset: ReadableBuffer, properties: ReadableBuffer, totals: WriteableBuffer, /
) -> None: ...
def block_texts(
    text: str, run_offset: ReadableBuffer, begin: ReadableBuffer, end: ReadableBuffer, properties: ReadableBuffer, /
) -> str: ...
def leading_words(
    lines: str,
    title: str,
    properties: ReadableBuffer,
    prefix: int,
    number: int,
    words: WriteableBuffer,
    told: WriteableBuffer,
    /,
) -> bytearray: ...
def text_hashes(
    text: str,
    run_offset: ReadableBuffer,
    starts: ReadableBuffer,
    properties: ReadableBuffer,
    tokens: ReadableBuffer,
    base: int,
    exponent: WriteableBuffer,
    sums: WriteableBuffer,
    correction: WriteableBuffer,
    /,
) -> None: ...
def name_parts(
    data: bytes, begin: ReadableBuffer, chosen: ReadableBuffer, seed: int, number: int, parts: WriteableBuffer, /
) -> bytearray: ...
def class_signatures(
    data: bytes, begin: ReadableBuffer, chosen: ReadableBuffer, signatures: WriteableBuffer, /
) -> None: ...
def having_parts(
    data: bytes, begin: ReadableBuffer, chosen: ReadableBuffer, parts: bytes, found: WriteableBuffer, /
) -> None: ...
def date_signs(texts: list[str], longest: int, signs: WriteableBuffer, /) -> None: ...
def pool(
    values: ReadableBuffer,
    weight: ReadableBuffer,
    begin: ReadableBuffer,
    end: ReadableBuffer,
    scale: ReadableBuffer,
    means: WriteableBuffer,
    /,
) -> None: ...
def contract(
    parent: ReadableBuffer, opinion: ReadableBuffer, penalty: ReadableBuffer, member_of: WriteableBuffer, /
) -> tuple[bytearray, bytearray, bytearray]: ...
def solve_rows(
    parent: ReadableBuffer,
    member_of: ReadableBuffer,
    index: ReadableBuffer,
    weight: ReadableBuffer,
    X: ReadableBuffer,
    penalty: ReadableBuffer,
    lowest: ReadableBuffer,
    chosen: WriteableBuffer,
    most_cells: int,
    /,
) -> int | None: ...
