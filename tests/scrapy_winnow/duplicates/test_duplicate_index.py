"""The index in Redis and the one in memory: one contract, the same verdicts."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.scrapy_winnow.duplicates.documents import id_of, made, url
from winnow.duplicates.documents import Verdict
from winnow.duplicates.index import CANDIDATES, FORGOTTEN, HOT, MemoryIndex

STORY = made(*range(1, 9))
OTHER = made(*range(101, 109))


async def test_four_shingles_in_common_make_a_near_duplicate_of_the_first(new_index):
    index = new_index()
    assert await index.decide(url("a"), STORY) == Verdict(None, None, id_of("a"))
    four = np.concatenate([STORY[:4], OTHER[:4]])
    assert await index.decide(url("b"), four) == Verdict(url("a"), 0.5, id_of("a"))
    assert (await index.decide(url("c"), np.concatenate([STORY[:3], OTHER[4:]]))).duplicate_of is None


async def test_the_first_document_represents_its_story_and_copies_keep_their_verdict(new_index):
    index = new_index()
    for _ in range(2):
        for name in "abcd":
            verdict = await index.decide(url(name), STORY)
            assert verdict == (Verdict(cluster=id_of("a")) if name == "a" else Verdict(url("a"), 1.0, id_of("a")))


async def test_of_several_originals_the_most_similar_counts_and_then_the_earliest(new_index):
    index = new_index()
    await index.decide(url("a"), made(1, 2, 3, 4, 11, 12, 13, 14))
    await index.decide(url("b"), made(5, 6, 7, 8, 21, 22, 23, 24))
    await index.decide(url("c"), made(4, 31, 32, 33, 34, 6, 7, 8))
    assert (await index.decide(url("d"), STORY)).duplicate_of == url("a")
    assert (await index.decide(url("e"), made(4, 5, 6, 7, 8, 41, 42, 43))).duplicate_of == url("b")


async def test_a_page_fetched_again_is_no_duplicate_of_itself(new_index):
    index = new_index()
    for address in ("http://a.example/?x=1&y=2", "http://a.example/?y=2&x=1"):
        assert (await index.decide(address, STORY)).duplicate_of is None
    assert await index.size() == 1


async def test_a_changed_page_replaces_its_own_entry(new_index):
    index = new_index()
    await index.decide(url("a"), STORY)
    await index.decide(url("b"), STORY)
    await index.decide(url("a"), OTHER)
    assert (await index.decide(url("c"), OTHER)).duplicate_of == url("a")
    # The copy's original has another story now, so the copy is the first to tell this one.
    assert (await index.decide(url("b"), STORY)).duplicate_of is None
    assert (await index.decide(url("d"), STORY)).duplicate_of == url("b")
    assert await index.size() == 4


async def test_a_page_that_has_become_a_duplicate_gives_its_entry_up(new_index):
    index = new_index()
    await index.decide(url("a"), STORY)
    await index.decide(url("b"), OTHER)
    assert (await index.decide(url("b"), STORY)).duplicate_of == url("a")
    assert (await index.decide(url("c"), OTHER)).duplicate_of is None


async def test_looking_without_entering_changes_nothing(new_index):
    index = new_index()
    assert (await index.decide(url("a"), STORY, enter=False)).duplicate_of is None
    assert await index.size() == 0
    await index.decide(url("a"), STORY)
    assert (await index.decide(url("b"), STORY, enter=False)).duplicate_of == url("a")
    assert (await index.decide(url("a"), OTHER, enter=False)).duplicate_of is None
    assert (await index.decide(url("c"), STORY)).duplicate_of == url("a")
    assert await index.size() == 2


async def test_a_page_without_words_is_nobodys_duplicate_and_not_remembered(new_index):
    index = new_index()
    for name in "ab":
        assert await index.decide(url(name), STORY[:0]) == Verdict()
    assert await index.size() == 0
    await index.decide(url("a"), STORY)
    assert await index.decide(url("a"), STORY[:0]) == Verdict()
    assert (await index.decide(url("c"), STORY)).duplicate_of is None


async def test_a_short_text_is_only_a_duplicate_of_one_with_exactly_its_shingles(new_index):
    index = new_index()
    await index.decide(url("long"), STORY)
    assert (await index.decide(url("a"), STORY[:3])).duplicate_of is None
    assert (await index.decide(url("b"), STORY[:2])).duplicate_of is None
    assert await index.decide(url("c"), STORY[:3]) == Verdict(url("a"), 1.0, id_of("a"))
    assert (await index.decide(url("d"), STORY[:2])).duplicate_of == url("b")


async def test_template_text_as_shingles_leads_to_nobody_once_too_many_documents_have_it(new_index):
    index = new_index()
    template = [1, 2, 3]
    pages = [made(*template, *(100 * number + k for k in range(5))) for number in range(1, HOT + 3)]
    for number, page in enumerate(pages):
        verdict = await index.decide(url(number), page)
        assert verdict.duplicate_of is None
        assert verdict.hot == (3 if number > HOT else 0)
    # A hot shingle is in common all the same: one other leads to the document, and the paper's rule decides.
    assert (await index.decide(url("near"), made(*template, 100, *range(9001, 9005)))).duplicate_of == url(0)
    assert (await index.decide(url("far"), made(1, 2, 101, *range(9011, 9016)))).duplicate_of is None
    # Exact copies are found when all they have is hot.
    for number in range(HOT + 1):
        for first in (1001, 1003, 1005, 1007):
            page = made(first, first + 1, *(first * 100 + number * 8 + k for k in range(6)))
            await index.decide(url(f"{number}-{first}"), page)
    all_hot = made(*range(1001, 1009))
    assert await index.decide(url("all-hot"), all_hot) == Verdict(cluster=id_of("all-hot"), hot=8)
    assert await index.decide(url("hot-copy"), all_hot) == Verdict(url("all-hot"), 1.0, id_of("all-hot"))
    assert (await index.decide(url("hot-near"), made(*range(1001, 1008), 5))).duplicate_of is None


async def test_a_hot_shingle_is_looked_up_again_when_all_that_had_it_are_gone(new_index):
    index = new_index(hot=2)
    for number in range(3):
        await index.decide(url(number), made(1, 2, 3, *(100 * number + k for k in range(20, 25))))
    assert (await index.decide(url("x"), made(1, 2, 3, 9, 10, 11, 12, 13), enter=False)).hot == 3
    for number in range(3):
        await index.decide(url(number), made(*(1000 * (number + 1) + k for k in range(8))))
    assert (await index.decide(url("x"), made(1, 2, 3, 9, 10, 11, 12, 13))).hot == 0
    assert (await index.decide(url("y"), made(1, 2, 3, 9, 14, 15, 16, 17))).duplicate_of == url("x")


async def test_no_more_than_the_cap_is_remembered_and_what_was_met_stays_longest(new_bounded_index):
    index = new_bounded_index(cap=3)
    for number in range(3):
        await index.decide(url(number), made(*range(100 * number, 100 * number + 8)))
    assert (await index.decide(url(0), made(*range(8)))).duplicate_of is None  # met again
    await index.decide(url(3), made(*range(300, 308)))
    assert await index.size() == 3
    assert (await index.decide(url("x"), made(*range(8)), enter=False)).duplicate_of == url(0)
    assert (await index.decide(url("x"), made(*range(100, 108)), enter=False)).duplicate_of is None
    assert (await index.decide(url("x"), made(*range(200, 208)), enter=False)).duplicate_of == url(2)


async def test_a_page_that_has_become_empty_is_forgotten_like_others(new_bounded_index):
    index = new_bounded_index(ttl=100)
    await index.decide(url("a"), STORY, now=1000)
    await index.decide(url("a"), STORY[:0], now=1060)
    for now, size in ((1099, 1), (1100, 1), (1199, 1), (1200, 0)):
        await index.decide(url("x"), STORY[:0], now=now)
        assert await index.size() == size


async def test_the_cap_holds_when_all_that_is_remembered_was_met(new_bounded_index):
    index = new_bounded_index(cap=6)
    for _ in range(2):
        for number in range(6):
            await index.decide(url(number), made(*range(100 * number, 100 * number + 8)))
    await index.decide(url(6), made(*range(600, 608)))
    assert await index.size() == 6
    # Three had another turn, so it was the fourth that went.
    found = [await index.decide(url("x"), made(*range(100 * k, 100 * k + 8)), enter=False) for k in range(7)]
    assert [verdict.duplicate_of is None for verdict in found] == [number == FORGOTTEN - 1 for number in range(7)]


async def test_a_document_is_forgotten_after_its_time_unless_it_was_met(new_bounded_index):
    index = new_bounded_index(ttl=100)
    await index.decide(url("a"), STORY, now=1000)
    await index.decide(url("b"), OTHER, now=1000)
    await index.decide(url("c"), STORY, now=1050)
    await index.decide(url("z"), made(500), now=1100)  # b is due, a and c have been met or are not
    assert (await index.decide(url("x"), OTHER, now=1100, enter=False)).duplicate_of is None
    assert (await index.decide(url("x"), STORY, now=1100, enter=False)).duplicate_of == url("a")
    assert await index.size() == 3
    await index.decide(url("z"), made(500), now=1200)
    assert await index.size() == 1


async def test_a_larger_sketch_estimates_the_resemblance_better_and_never_changes_a_verdict(new_index):
    index = new_index(keep=64)
    long = made(*range(1, 65))
    await index.decide(url("a"), long)
    verdict = await index.decide(url("b"), np.concatenate([long[:32], made(*range(200, 232))]))
    assert verdict == Verdict(url("a"), 0.5, id_of("a"))
    assert (await index.decide(url("c"), made(1, 2, 3, *range(20, 80)))).duplicate_of is None
    # Of texts with fewer windows than are kept, all is known: the resemblance is exact.
    await index.decide(url("d"), made(*range(1001, 1011)))
    verdict = await index.decide(url("e"), made(*range(1001, 1006), 2000))
    assert verdict.resemblance == pytest.approx(5 / 11, abs=1e-4)


async def test_with_a_least_resemblance_one_shingle_leads_and_the_sketch_decides(new_index):
    index = new_index(keep=64, least=0.4)
    rest = range(100, 156)
    await index.decide(url("a"), made(*range(1, 9), *rest))
    # One of the eight smallest in common is less than the paper asks for; of all that is kept it is most.
    near = made(*range(8, 16), *rest)[:64]
    verdict = await index.decide(url("b"), near)
    assert (verdict.duplicate_of, verdict.resemblance) == (url("a"), pytest.approx(50 / 64, abs=1e-4))
    assert (await index.decide(url("b"), near)).duplicate_of == url("a")
    # All but one of the eight smallest are more than enough for the paper; of all that is kept they are little.
    assert (await index.decide(url("c"), made(*range(2, 9), *range(300, 357)))).duplicate_of is None
    # Of two that are near the more similar counts, whatever came first.
    await index.decide(url("d"), made(*range(501, 565)))
    verdict = await index.decide(url("e"), made(*range(504, 512), *range(520, 565), *range(900, 911)))
    assert verdict.duplicate_of == url("d")
    # Short texts and exact copies are treated as ever.
    for name, shingles in (("f", made(7001, 7002)), ("g", made(*range(2, 9), *range(300, 357)))):
        await index.decide(url(name), shingles)
        assert (await index.decide(url(f"{name}-copy"), shingles)).resemblance == 1.0


async def test_of_too_many_candidates_those_that_share_most_are_compared(new_index):
    index = new_index(hot=9)
    own = iter(range(10_000, 100_000))

    async def enter(name, *numbers) -> None:
        page = made(*numbers, *(next(own) for _ in range(8 - len(numbers))))
        assert (await index.decide(url(name), page)).duplicate_of is None

    hot, cold = (1, 2, 3), (11, 12, 13, 14, 15)
    for number in range(10):
        await enter(f"hot-{number}", *hot)
    for shingle in cold:
        for number in range(8):
            await enter(f"{shingle}-{number}", shingle)
    assert len(cold) * 8 > CANDIDATES
    await enter("near", *hot[:2], *cold[3:])
    verdict = await index.decide(url("x"), made(*hot, *cold))
    assert (verdict.duplicate_of, verdict.hot) == (url("near"), 3)


def test_the_example_of_the_documentation_runs(capsys):
    page = (Path(__file__).parents[3] / "docs" / "guides" / "near-duplicates.md").read_text()
    (example,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    exec(compile(example, "near-duplicates.md", "exec"), {})  # noqa: S102 - our own page
    assert capsys.readouterr().out == "https://courier.example/a 1.0\n"


def test_bounds_that_cannot_work_are_refused():
    for options in ({"ttl": 0}, {"cap": 0}, {"keep": 7}, {"least": 0.0}, {"least": 1.1}):
        with pytest.raises(ValueError, match="must be"):
            MemoryIndex(**options)
