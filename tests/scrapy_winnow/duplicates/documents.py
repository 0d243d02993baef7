"""Documents for the tests of near-duplicates: addresses, and shingles that are made up."""

import numpy as np

from winnow.duplicates.documents import Verdict, document_id


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


def verdicts(client, options, key="verdicts"):
    """The stream of verdicts as (name of the document, its verdict)."""
    found = []
    for _, fields in client.xrange(options.key(key)):
        about = {name.decode(): value.decode() for name, value in fields.items()}
        resemblance = float(about["resemblance"]) if about["resemblance"] else None
        verdict = Verdict(about["duplicate_of"] or None, resemblance, about["cluster"] or None)
        found.append((about["url"].removeprefix("http://").partition(".")[0], verdict))
    return found


def run(worker) -> int:
    """Decide all there is; return how many."""
    total = 0
    while batch := worker.decide().taken:
        total += batch
    return total
