"""The first spider of the documentation, as a reader would run it."""

import json
import re
from pathlib import Path

PAGE = "<title>Only page</title><p>The only page of a site has a few words to say and no links to others.</p>"
START = Path(__file__).parents[3] / "docs" / "start.md"


def test_the_first_spider_of_the_docs_takes_a_site_of_one_page(web, forks, tmp_path):
    (program,) = re.findall(r"```python\n(# pages_spider.py.*?)```", START.read_text("utf-8"), re.DOTALL)
    (tmp_path / "pages_spider.py").write_text(program)
    url = web.add("/", PAGE)
    web.add("/robots.txt", "", Content_Type="text/plain")
    options = ("-a", f"url={url}", "-O", "items.jsonl", "-s", "TELNETCONSOLE_ENABLED=0")
    done = forks.scrapy("runspider", "pages_spider.py", *options, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (item,) = map(json.loads, (tmp_path / "items.jsonl").read_text().splitlines())
    assert (item["url"], item["title"], item["status"]) == (url, "Only page", "cleaned")
    assert (tmp_path / "report.html").exists()
