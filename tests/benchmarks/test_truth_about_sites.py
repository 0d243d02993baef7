import numpy as np

from benchmarks.sites.site_methods import Overlap
from tamis.page.page import Page
from tamis.page.tree import as_mask, tag_set, within
from tamis_papers.experiments.harness import demo_sites


def test_the_demo_web_tells_the_template_of_nearly_all_its_pages():
    sites = {site.name: site for site in demo_sites(12)}
    assert set(sites) == {"news", "shop", "docs", "forum", "blog", "council"}
    news = sites["news"]
    known = [(read.page, truth) for read in news.pages.read_all() if not np.isnan(truth := news.truth(read)).any()]
    assert len(known) > 0.7 * len(news.pages)
    for page, truth in known:
        around = within(page, tag_set("nav", "footer")[page.tag])[page.block_node]
        assert truth[around].all()
        assert not truth.all()


def test_overlap_is_by_characters_of_blocks_and_by_elements_with_text():
    page = Page.parse("<div><p>four</p><p>twelve chars</p><img></div>")
    tags = [element.tag for element in page.elements]
    found = np.append(as_mask(page, [tags.index("p"), tags.index("img")]), [True, False])
    overlap = Overlap()
    overlap.add(page, found, np.array([1.0, 1.0]))
    overlap.add(page, found, np.array([np.nan, 1.0]))
    assert overlap.figures("text") == (1.0, 0.25, 0.4)
    assert overlap.figures("node") == (1.0, 0.2, 1 / 3)
    assert Overlap().figures("text") == (1.0, 1.0, 1.0)
