from collections.abc import Mapping
from typing import Any

from _typeshed import ReadableBuffer, WriteableBuffer

VERSION: int

def flatten(
    root: Any,
    tag_ids: dict[str, int],
    title: int,
    image: int,
    block_level: ReadableBuffer,
    unseen: ReadableBuffer,
    raw: ReadableBuffer,
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
def lower_case(text: str, properties: ReadableBuffer, /) -> str: ...
def leading_words(
    lines: str,
    title: str,
    properties: ReadableBuffer,
    prefix: int,
    number: int,
    words: WriteableBuffer,
    title_overlap: WriteableBuffer,
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
def attribute_tokens(
    values: bytes,
    value_begin: ReadableBuffer,
    name_of: ReadableBuffer,
    place: ReadableBuffer,
    names: list[str],
    kinds: ReadableBuffer,
    words: tuple[bytes, bytes, bytes, bytes],
    page: tuple[bool, bytes, bytes, bytes],
    properties: ReadableBuffer,
    tokens: WriteableBuffer,
    marks: WriteableBuffer,
    /,
) -> None: ...
def node_fingerprints(
    page: tuple[ReadableBuffer, ...],
    tag_tokens: ReadableBuffer,
    block_level: ReadableBuffer,
    unseen: ReadableBuffer,
    first: ReadableBuffer,
    attribute_begin: ReadableBuffer,
    tokens: ReadableBuffer,
    marks: ReadableBuffer,
    unknown: ReadableBuffer,
    text: str,
    run_offset: ReadableBuffer,
    properties: ReadableBuffer,
    characters: ReadableBuffer,
    base: int,
    inverse: int,
    close: int,
    block: int,
    typed_into: int,
    hashes: WriteableBuffer,
    /,
) -> None: ...
def nearest(parent: ReadableBuffer, chosen: ReadableBuffer, found: WriteableBuffer, /) -> None: ...
def limit_attributes(html: bytes, most: int, /) -> bytes: ...
def find_end(html: bytes, /) -> int: ...
def shingles(
    text: bytes,
    kinds: ReadableBuffer,
    tokens: ReadableBuffer,
    base: int,
    inverse: int,
    size: int,
    smallest: WriteableBuffer,
    /,
) -> int: ...
def name_parts(
    data: bytes,
    begin: ReadableBuffer,
    place: ReadableBuffer,
    chosen: ReadableBuffer,
    first: ReadableBuffer,
    attribute_begin: ReadableBuffer,
    block_begin: ReadableBuffer,
    block_end: ReadableBuffer,
    seed: int,
    number: int,
    known: Mapping[str, tuple[int, ...]],
    /,
) -> tuple[bytearray, bytearray]: ...
def class_signatures(
    data: bytes, begin: ReadableBuffer, place: ReadableBuffer, chosen: ReadableBuffer, signatures: WriteableBuffer, /
) -> None: ...
def hiding_rules(css: bytes, /) -> tuple[str, list[tuple[str, str]]]: ...
def match_predicates(
    data: bytes,
    begin: ReadableBuffer,
    name_of: ReadableBuffer,
    of_name: ReadableBuffer,
    any_value: int,
    parts: bytes,
    of_part: ReadableBuffer,
    marks: WriteableBuffer,
    /,
) -> int: ...
def date_signs(texts: list[str], longest: int, signs: WriteableBuffer, /) -> None: ...
def sequence_logits(
    parts: tuple[ReadableBuffer, ...],
    clip: float,
    mean: ReadableBuffer,
    scale: ReadableBuffer,
    dense_panels: ReadableBuffer,
    dense_bias: ReadableBuffer,
    input_panels: ReadableBuffer,
    input_bias: ReadableBuffer,
    state_panels: ReadableBuffer,
    state_bias: ReadableBuffer,
    output_panels: ReadableBuffer,
    output_bias: ReadableBuffer,
    page_weight: ReadableBuffer,
    last_weight: ReadableBuffer,
    last_bias: float,
    logits: WriteableBuffer,
    /,
) -> None: ...
def limit_registers(most: int, /) -> int: ...
def static_features(
    page: tuple[ReadableBuffer, ...],
    tag_flags: ReadableBuffer,
    tag_group: ReadableBuffer,
    kinds: ReadableBuffer,
    first: ReadableBuffer,
    attribute_begin: ReadableBuffer,
    class_signature: ReadableBuffer,
    hides: ReadableBuffer,
    properties: ReadableBuffer,
    title_overlap: ReadableBuffer,
    lines: str,
    lowered: str,
    title: int,
    seed: int,
    rows: WriteableBuffer,
    of_page: WriteableBuffer,
    words: WriteableBuffer,
    levels: WriteableBuffer,
    owner: WriteableBuffer,
    /,
) -> None: ...
def word_features(
    number: ReadableBuffer, word: ReadableBuffer, odds: ReadableBuffer, rows: WriteableBuffer, /
) -> None: ...
def name_features(
    name_element: ReadableBuffer,
    name: ReadableBuffer,
    odds: ReadableBuffer,
    parent: ReadableBuffer,
    end: ReadableBuffer,
    owner: ReadableBuffer,
    levels: ReadableBuffer,
    rows: WriteableBuffer,
    /,
) -> None: ...
def smooth(
    parent: ReadableBuffer,
    in_tree: ReadableBuffer,
    score: ReadableBuffer,
    weight: ReadableBuffer,
    penalty: ReadableBuffer,
    value: WriteableBuffer,
    section: WriteableBuffer,
    max_work: int,
    /,
) -> float: ...
