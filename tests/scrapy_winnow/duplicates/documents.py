"""Documents for the tests of near-duplicates: addresses, and shingles that are made up."""

import numpy as np

from winnow.duplicates.documents import document_id


def made(*numbers: int) -> np.ndarray:
    """Shingles; different numbers differ in the bits that the index goes by."""
    return np.array(sorted(set(numbers)), np.uint64) << np.uint64(16)


def story(number: int, copy: int = 0) -> np.ndarray:
    """Each story has copies that differ from it in two shingles."""
    begin = 100 * number
    if copy == 0:
        return made(*range(begin, begin + 8))
    return made(*range(begin, begin + 6), begin + 20 + 2 * copy, begin + 21 + 2 * copy)


def url(name) -> str:
    return f"http://{name}.example/"


def id_of(name) -> str:
    return document_id(url(name)).hex()
