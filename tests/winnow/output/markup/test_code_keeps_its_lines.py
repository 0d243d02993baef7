import numpy as np
import pytest

from winnow.output.html import write_html
from winnow.output.markdown import to_markdown
from winnow.output.stripping import remains
from winnow.output.text import block_texts, join_blocks
from winnow.page.page import Page

LINES = "def f(x):\n    return x\n\n# end"


def outputs(html: str) -> tuple[str, str]:
    page = Page.parse(html)
    template = np.zeros(page.n + page.m, bool)
    texts = block_texts(page)
    return join_blocks(page, texts, np.ones(page.m, bool)), to_markdown(write_html(page, remains(page, template)))


@pytest.mark.parametrize(
    "html",
    [
        f"<pre>{LINES}</pre>",
        f"<pre>\n{LINES}\n</pre>",
        f"<pre><code>{LINES}\n</code></pre>",
        "<pre><div>def f(x):</div><div>    return x</div><div></div><div># end</div></pre>",
        "<pre><div>def f(x):</div>\n<div>    return x</div>\n<div><br></div>\n<div># end</div>\n</pre>",
        "<pre><span>def</span> f(x):<br>    return x<br><br># end</pre>",
        "<pre><code><span class=line>def f(x):</span>\n<span class=line>    return x</span>\n\n# end</code></pre>",
    ],
)
def test_lines_and_indentation_stay_however_a_line_is_marked(html: str) -> None:
    text, markdown = outputs(html)
    assert text == LINES
    assert markdown == f"```\n{LINES}\n```"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<pre><code class=language-python>x</code></pre>", "python"),
        ("<pre class='lang-js prettyprint'>x</pre>", "js"),
        ("<div class='highlight highlight-source-shell'><pre>x</pre></div>", "shell"),
        ("<div class='highlight-python3 notranslate'><div class=highlight><pre>x</pre></div></div>", "python3"),
        ("<pre class='brush: ruby'>x</pre>", "ruby"),
        ("<div class=sourceCode><pre class='sourceCode haskell'><code>x</code></pre></div>", "haskell"),
        ("<pre><code class='hljs cpp'>x</code></pre>", "cpp"),
        ("<pre data-lang=go>x</pre>", "go"),
        ("<pre class='language-plaintext'>x</pre>", ""),
        ("<div class=highlight-default><pre>x</pre></div>", ""),
        ("<pre>x</pre>", ""),
    ],
)
def test_the_language_is_known_by_the_marks_of_highlighters(html: str, language: str) -> None:
    assert outputs(html)[1] == f"```{language}\nx\n```"


def test_numbers_beside_the_lines_are_no_code() -> None:
    html = "<pre><span class=linenos>1</span>a = 1\n<span class=linenos>2</span>b = 2</pre>"
    assert outputs(html) == ("a = 1\nb = 2", "```\na = 1\nb = 2\n```")
    table = "<table><tr><td class=gutter><pre>1\n2</pre></td><td class=code><pre>a = 1\nb = 2</pre></td></tr></table>"
    assert outputs(table)[0] == "a = 1\nb = 2"


def test_fences_inside_code_do_not_end_it() -> None:
    assert outputs("<pre>```\nx\n````</pre>")[1] == "`````\n```\nx\n````\n`````"
