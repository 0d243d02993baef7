import numpy as np
import pytest

import winnow
from winnow.evidence.main_content import LEAST_LENGTH, beside_story, own_paragraphs, says_more
from winnow.models.scores import FixedThreshold, Scores
from winnow.page.page import Page

STORY = "The harbour stayed shut for a third day while divers looked for the buoy that the storm had torn loose."
DOUBTFUL = "What you have to know: ferries to the islands leave from the old pier until Sunday night at the earliest."
ELSEWHERE = "Our photographer was there, and these are the pictures that readers liked best of all he has ever taken."
TRAIL = "<a href=/>Home</a> > <a href=/m>Meetings</a> > Minutes of the Planning Enforcement committee, 15 February"
LINKED = "Ten ways to sail around the island without getting wet, and what the neighbours had to say about them all."
HTML = f"""
<main><p>{TRAIL}</p><p>{STORY}</p><p>{DOUBTFUL}</p><p>Saturday, 18:00</p><p><a href="/ten">{LINKED}</a></p></main>
<aside><p>{ELSEWHERE}</p></aside>
<footer><p>All rights of the Harbour Times are reserved, in print and on line.</p></footer>
"""
PAGE = Page.parse(HTML)
TEXTS = PAGE.block_texts()
TEXT_OF = dict(zip(("TRAIL", "STORY", "DOUBTFUL", "DATE", "LINKED", "ELSEWHERE", "FOOTER"), TEXTS, strict=True))
LENGTHS = np.array([len(text) for text in TEXTS])


class Doubting:
    """A model that is told what it thinks of each text; what it is not told it takes for content."""

    name, version = "doubting", "doubting-1"

    def __init__(self, **templateness: float) -> None:
        self.templateness = {TEXT_OF[name]: value for name, value in templateness.items()}

    def score(self, page: Page) -> Scores:
        blocks = [self.templateness.get(text, 0.2) for text in page.block_texts()]
        weight = np.concatenate([np.zeros(page.n, np.int64), np.ones(page.m, np.int64)])
        every = np.ones(page.n + page.m, bool)
        return Scores(
            np.append(np.zeros(page.n), blocks), weight, every, np.full(page.n + page.m, 0.01), FixedThreshold(0.5)
        )


def df_of(page: Page, *, footer: int = 20) -> np.ndarray:
    df = np.ones(page.n + page.m, np.int64)
    df[-1] = footer
    return df


def cleaned(model: Doubting, *, pages: int = 20) -> str:
    return winnow.clean(PAGE, model=model, smooth=False, df=df_of(PAGE), pages=pages).text


def test_own_paragraphs_are_long_sentences_with_few_links_that_no_other_page_has() -> None:
    own = own_paragraphs(PAGE, LENGTHS, df_of(PAGE), 20)
    assert [text for text, chosen in zip(TEXTS, own, strict=True) if chosen] == [STORY, DOUBTFUL, ELSEWHERE]
    assert len("Saturday, 18:00") < LEAST_LENGTH < min(map(len, (STORY, DOUBTFUL, LINKED)))


def test_nothing_is_known_to_be_the_pages_own_before_ten_pages_were_counted() -> None:
    assert not own_paragraphs(PAGE, LENGTHS, df_of(PAGE), 9).any()
    assert own_paragraphs(PAGE, LENGTHS, df_of(PAGE), 10).any()


def test_an_own_paragraph_that_the_model_doubts_stays_beside_the_story() -> None:
    model = Doubting(DOUBTFUL=0.8, ELSEWHERE=0.8, LINKED=0.8)
    assert DOUBTFUL not in winnow.clean(PAGE, model=model, smooth=False).text
    text = cleaned(model)
    assert DOUBTFUL in text
    assert ELSEWHERE not in text, "nothing that is kept stands where it stands"
    assert LINKED not in text, "lists of other stories are the page's own, too"
    assert DOUBTFUL not in cleaned(model, pages=9)


@pytest.mark.parametrize(("templateness", "stays"), [(0.85, True), (0.95, False)])
def test_what_the_model_is_sure_of_goes_though_no_other_page_has_it(templateness: float, stays: bool) -> None:
    assert (DOUBTFUL in cleaned(Doubting(DOUBTFUL=templateness))) == stays


def test_a_page_of_which_nothing_is_kept_gets_nothing_back() -> None:
    own = own_paragraphs(PAGE, LENGTHS, df_of(PAGE), 20)
    nothing = np.zeros(PAGE.m, bool)
    assert not beside_story(PAGE, own, nothing, np.full(PAGE.m, 0.5), 0.5).any()
    assert not beside_story(PAGE, nothing, ~nothing, np.full(PAGE.m, 0.5), 0.5).any()


def test_a_page_with_a_story_is_no_further_address_of_another_page() -> None:
    menu = np.array([text.startswith("All rights") for text in TEXTS])
    own = own_paragraphs(PAGE, LENGTHS, df_of(PAGE), 20)
    assert says_more(own, menu, LENGTHS)
    assert not says_more(np.zeros(PAGE.m, bool), menu, LENGTHS)


def test_template_that_the_model_keeps_is_cut_where_the_page_has_a_story_of_its_own() -> None:
    model = Doubting(STORY=0.6, DOUBTFUL=0.6, ELSEWHERE=0.95, LINKED=0.95, TRAIL=0.95)
    copied = PAGE.n + np.flatnonzero([text.startswith(("All rights", "Saturday")) for text in TEXTS])
    df = df_of(PAGE)
    df[copied] = 20
    text = winnow.clean(PAGE, model=model, smooth=False, df=df, pages=20).text
    assert "All rights" not in text
    assert STORY in text
    every_address = np.full(PAGE.n + PAGE.m, 20)
    assert "All rights" in winnow.clean(PAGE, model=model, smooth=False, df=every_address, pages=20).text
