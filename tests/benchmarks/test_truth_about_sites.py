import numpy as np

from benchmarks.sites.site_methods import Overlap, demo_sites
from tamis.page.page import Page


def test_the_demo_web_tells_the_template_of_nearly_all_its_pages():
    sites = {site.name: site for site in demo_sites(12, seed=1)}
    assert set(sites) == {"news", "shop", "docs", "forum", "blog", "council"}
    news = sites["news"]
    known = [(read, truth) for read in news.pages.read_all() if (truth := news.truth(read)) is not None]
    assert len(known) > 0.7 * len(news.pages)
    for read, truth in known:
        page = read.page
        assert truth.shape == (page.n + page.m,)
        navigation = [number for number, element in enumerate(page.elements) if element.tag in {"nav", "footer"}]
        assert truth[navigation].all()
        assert not truth[page.n :].all()


def test_overlap_is_by_characters_of_blocks_and_by_elements_with_text():
    page = Page.parse("<div><p>four</p><p>twelve chars</p><img></div>")
    tags = [element.tag for element in page.elements]
    found, there = np.zeros((2, page.n + page.m), bool)
    found[[tags.index("p"), tags.index("img"), page.n]] = True
    there[page.n :] = True
    there[[number for number, tag in enumerate(tags) if tag == "p"]] = True
    overlap = Overlap()
    overlap.add(page, found, there)
    overlap.add(page, found, None)
    assert overlap.figures("text") == (1.0, 0.25, 0.4)
    assert overlap.figures("node") == (1.0, 0.5, 2 / 3)
    assert Overlap().figures("text") == (1.0, 1.0, 1.0)
