import json
import re
from html import escape
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tamis.output.markdown import to_markdown
from tests.tamis.output.rendered import letters, meaning, rendered
from tests.tamis.output.written import write

EXAMPLES = json.loads((Path(__file__).parent / "commonmark" / "examples.json").read_text("utf-8"))
EMPTY_HEADINGS, TITLES_THAT_REPEAT_THE_TEXT, LINKS_THAT_TOUCH = {79}, {217}, {570}

# Words that are markup somewhere, and letters around them.
MARKUP = [
    *("*", "**", "_", "__", "`", "``", "~", "~~", "#", "##", "-", "---", "+", "=", "==", "1.", "2)", ">", "<", "|"),
    *("<b>", "</b>", "<!--", "&amp;", "&#35;", "&copy", "[", "]", "[x]", "[ ]", "](", "](/u)", "]:", "![", "!", "\\"),
    "\\*",
    *("$x$", "|--|", ":--", "http://a.example/", "www.example.com", "```", "~~~", "***", "___", "- - -"),
    *("a", "ä", "中", "“", "”", "€", "(", ")", '"', "'", ".", ",", ":", "1", "\xa0", "\u2028"),
]
slow = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=50)

words = st.lists(st.sampled_from([*MARKUP, " ", "word"]), min_size=1, max_size=5).map("".join)
texts = words.map(lambda text: escape(text, quote=False))
addresses = st.sampled_from(["/a", "b?c=1&d=2", "c(d", "e)f(", "g h", "http://k.example/l_m", "&copy;x", "a|b"])
images = st.tuples(addresses.filter(bool), words).map(lambda x: f'<img src="{escape(x[0])}" alt="{escape(x[1])}">')
codes = words.map(lambda text: text.strip().replace("]:", "")).map(
    lambda text: f"<code>{escape(text or 'x', quote=False)}</code>"
)
bare = st.lists(texts | codes | images, min_size=1, max_size=3).map("".join)


def within(name: str) -> st.SearchStrategy[str]:
    return st.recursive(
        bare,
        lambda inner: st.tuples(st.sampled_from(["em", "strong", "del", "b", "i"]), inner).map(
            lambda x: f"<{x[0]}>{x[1]}</{x[0]}>"
        ),
        max_leaves=4,
    ).map(name.format)


links = st.tuples(addresses, within("{}")).map(lambda x: f'<a href="{escape(x[0])}">{x[1]}</a>')
line = st.lists(within("{}") | within("<em>{}</em>x") | links, min_size=1, max_size=3).map("".join)
lines = st.lists(line, min_size=1, max_size=3).map(lambda found: f"<p>{'<br>'.join(found)}</p>")
headings = st.tuples(st.integers(1, 6), line).map(lambda x: f"<h{x[0]}>{x[1]}</h{x[0]}>")
code = st.lists(st.sampled_from([*MARKUP, " ", "\n", "\n    "]), min_size=1, max_size=8).map("".join)
preformatted = code.map(lambda text: f"<pre><code>x{escape(text, quote=False)}\n</code></pre>")


def table(cells: list[list[str]]) -> str:
    head, body = (
        "".join(f"<{name}>{cell}</{name}>" for cell in row) for name, row in zip(("th", "td"), cells, strict=True)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody><tr>{body}</tr></tbody></table>"


tables = st.lists(st.lists(line, min_size=2, max_size=2), min_size=2, max_size=2).map(table)
leaves = lines | headings | preformatted | st.just("<hr>") | tables


def containers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    blocks = st.lists(inner, min_size=1, max_size=2).map("".join)
    items = st.lists(blocks | line | st.tuples(line, inner).map("".join), min_size=1, max_size=3)
    listed = items.map(lambda found: "".join(f"<li>{item}</li>" for item in found))
    starts = st.sampled_from(["", ' start="3"', ' start="0"'])
    return (
        blocks.map(lambda html: f"<blockquote>{html}</blockquote>")
        | listed.map(lambda html: f"<ul>{html}</ul>")
        | st.tuples(starts, listed).map(lambda x: f"<ol{x[0]}>{x[1]}</ol>")
    )


documents = st.lists(st.recursive(leaves, containers, max_leaves=4), min_size=1, max_size=3).map("".join)

kinds = st.sampled_from([("em", "strong"), ("strong", "em"), ("b", "i"), ("i", "b")])
lettered = texts.map(lambda text: f"{text}a")
emphasised = st.tuples(kinds, lettered, lettered, texts).map(
    lambda x: f"<{x[0][0]}>{x[1]}<{x[0][1]}>{x[2]}</{x[0][1]}>{x[3]}</{x[0][0]}>"
)


@slow
@given(documents)
def test_a_document_renders_to_the_same_blocks_words_links_and_images(html: str) -> None:
    html = re.sub("(?<=</a>)(?=<)|(?<=</b>)(?=<)|(?<=</strong>)(?=<)|(?<=</code>)(?=<)", " ", html)  # words apart
    spaced = html.replace("\xa0", " ")
    assert meaning(rendered(to_markdown(html)), emphasis=False) == meaning(spaced, emphasis=False)


@slow
@given(st.tuples(texts, emphasised, texts).map("".join))
def test_emphasis_of_letters_stays_where_it_is_next_to_any_character(html: str) -> None:
    assert letters(rendered(to_markdown(f"<p>{html}</p>"))) == letters(f"<p>{html}</p>")


@pytest.mark.parametrize("section", sorted({example["section"] for example in EXAMPLES}))
def test_the_examples_of_the_specification_render_to_themselves(section: str) -> None:
    different = {
        example["example"]
        for example in EXAMPLES
        if example["section"] == section and meaning(rendered(to_markdown(example["html"]))) != meaning(example["html"])
    }
    assert different <= EMPTY_HEADINGS | TITLES_THAT_REPEAT_THE_TEXT | LINKS_THAT_TOUCH


def test_a_sign_next_to_a_letter_loses_its_emphasis() -> None:
    assert to_markdown("<p>Fair Trade<em>™</em> coffee, <em>—</em> and <b>“bold”</b>s.</p>") == (
        "Fair Trade™ coffee, *—* and **“bold**”s."
    )


def test_pictures_have_no_emphasis() -> None:
    assert to_markdown("<p><b><img src=/i></b>Ada, <i><a href=/a><img src=/j></a> and</i> <b><img src=/k></b>") == (
        "![](/i)Ada, *[![](/j)](/a) and* ![](/k)"
    )


def test_punctuation_leaves_emphasis_that_a_letter_touches() -> None:
    assert to_markdown("<p><b>财经网：</b>去年<b><i>（二、</i></b>三<del>“四”</del>五") == (
        "**财经网**：去年（**_二_**、三“~~四~~”五"
    )


def test_a_title_is_written_unless_it_repeats_the_text_of_its_link_or_the_description_of_its_picture() -> None:
    assert to_markdown("<p><a href=/a title='Go On'>Go <b>on</b></a>, <a href=/a title=Further>on</a></p>") == (
        '[Go **on**](/a), [on](/a "Further")'
    )
    link = "<a href=/a title='{} Storm'>Storm</a>"
    assert to_markdown(link.format("Permanent Link to")) == "[Storm](/a)"
    assert to_markdown(link.format("2.3.")) == '[Storm](/a "2.3. Storm")'
    assert to_markdown("<img src=/a alt='A  ship' title='A ship'><img src=/b alt=Ship title='At sea'>") == (
        '![A ship](/a)![Ship](/b "At sea")'
    )


def test_a_link_around_several_blocks_is_in_its_heading_else_in_its_first_text_else_around_its_picture() -> None:
    card = "<a href=/a><img src=/i><p>New</p>{}<p>$5</p></a>"
    assert to_markdown(card.format("<h3>Ship</h3>")) == "![](/i)\n\nNew\n\n### [Ship](/a)\n\n$5"
    assert to_markdown(card.format("<p>Ship</p>")) == "![](/i)\n\n[New](/a)\n\nShip\n\n$5"
    assert to_markdown("<a href=/a><div><img src=/i></div></a>") == "[![](/i)](/a)"
    assert to_markdown("<table><tr><th>A<th>B<tr><td><a href=/a><p>New</p><h3>Ship</h3></a><td>$5</table>") == (
        "| A | B |\n| --- | --- |\n| New<br>[**Ship**](/a) | $5 |"
    )


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>", r"\<script>alert(1)\</script>"),
        ("<p>&lt;2024.5@bay.example&gt; wrote</p>", r"\<2024.5@bay.example> wrote"),
        ("<p># x</p><p>1. y</p><p>+ z</p><p>* a</p><p>- b</p>", "\\# x\n\n1\\. y\n\n\\+ z\n\n\\* a\n\n\\- b"),
        ("<p>snake_case, 2 * 3, ~5 and C:\\dir</p>", "snake_case, 2 * 3, ~5 and C:\\dir"),
        ("<a href=/a><h3>Title</h3><p>Words</p></a>", "### [Title](/a)\n\nWords"),
        ("<dl><dt>Term</dt><dd>Meaning</dd></dl>", "**Term**\n\nMeaning"),
        ("<details><summary>More</summary><p>Inside</p></details>", "**More**\n\nInside"),
        ("<p>from $5 to $6, $5-$7</p>", "from $5 to $6, $5-$7"),
        ("<p>$x$</p>", r"\$x\$"),
        ("<h2>1. One</h2><p><a href=/a>Go!</a></p>", "## 1. One\n\n[Go!](/a)"),
        ("<p>Go!<a href=/a>x</a></p>", r"Go\![x](/a)"),
        ("<p><kbd>Ctrl</kbd><kbd>C<b>1</b></kbd></p>", "`Ctrl` `C`**`1`**"),
        ("<ul><li>One<li><video src=/v></video></ul><ol><li><video src=/v></video><li>Two</ol>", "- One\n\n1.\n2. Two"),
        ("<p><code>harbour.</code><code>Boat</code></p>", "`harbour.Boat`"),
        ("<p><code>sea #</code><code>sail</code></p>", "`sea #` `sail`"),
        ("<p><code>use boat;</code><code>sea</code></p>", "`use boat;` `sea`"),
        ("<p><tt>ls</tt> and more</p>", "`ls` and more"),
        ("<div><tt>cd /<br>ls</tt></div><div><kbd>cd<br>ls</kbd></div>", "```\ncd /\nls\n```\n\n```\ncd\nls\n```"),
        ("<h2><p>One</p><p>Two</p></h2><p>Words</p>", "## One Two\n\nWords"),
    ],
)
def test_markdown_is_written_as_documented(html: str, markdown: str) -> None:
    assert to_markdown(html) == markdown


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
        ("<pre><code class=language-1c>x</code></pre>", "1c"),
        ("<pre><code class=language-.js>x</code></pre>", "js"),
        ("<pre><code class='language-{r}'>x</code></pre>", "{r}"),
        ("<pre class='language-plaintext'>x</pre>", ""),
        ("<div class=highlight-default><pre>x</pre></div>", ""),
        ("<pre>x</pre>", ""),
    ],
)
def test_the_language_of_code_is_read_from_the_classes_of_highlighters(html: str, language: str) -> None:
    assert write(html).markdown == f"```{language}\nx\n```"


def test_fences_inside_code_do_not_end_it() -> None:
    assert to_markdown("<pre>```\nx\n````</pre>") == "`````\n```\nx\n````\n`````"


def test_a_checkbox_in_a_label_of_its_own_stands_before_the_text_of_its_item() -> None:
    item = "<li><div><label><input type=checkbox{}><span></span></label><div>{}</div></div>"
    found = write(f"<ul>{item.format('', '300 g butter')}{item.format(' checked', '5 eggs')}</ul>")
    assert found.markdown.split("\n") == ["- [ ] 300 g butter", "- [x] 5 eggs"]
    assert found.text.split("\n") == ["[ ] 300 g butter", "[x] 5 eggs"]


@pytest.mark.parametrize("bold", ["<strong>Visas</strong> and <i>money</i>", "<b>Visas and <i>money</i></b>"])
def test_bold_text_in_a_heading_is_written_as_the_rest_of_it(bold: str) -> None:
    assert to_markdown(f"<h2>{bold}</h2><p><b>a</b></p>") == "## Visas and *money*\n\n**a**"


def test_a_table_of_one_row_is_data_if_another_of_its_class_has_more() -> None:
    several, one = (
        "<table class=args><tr><td>a<td>an oar<tr><td>b<td>a rope</table>",
        "<table class={}><tr><td>c<td>a sail</table>",
    )
    row = "|  |  |\n| --- | --- |\n| c | a sail |"
    assert to_markdown(several + one.format("args")).endswith(row)
    without = several.replace("args", "''") + one.format("''")
    for other in (several + one.format("row"), one.format("args") * 2, without):
        assert to_markdown(other).endswith("c\n\na sail")


def test_tables_get_a_head_and_keep_alignment_lists_breaks_and_code_in_their_cells() -> None:
    markdown = to_markdown("<table><tr><td>a<td align=right>1<tr><td>b<td align=right>2</table>")
    assert markdown.split("\n") == ["|  |  |", "| --- | --: |", "| a | 1 |", "| b | 2 |"]
    assert to_markdown("<table><tr><th>#<th>b<tr><td>1. c<td>- d</table>").split("\n")[::2] == [
        *("| # | b |", "| 1. c | - d |")
    ]
    cells = "<td><ul><li>a<li>b|c</ul><td><h3>d</h3>e<br>f<td><pre>g\n h|i</pre>"
    assert to_markdown(f"<table><tr><th>1<th>2<th>3<tr>{cells}</table>").split("\n")[2:] == [
        "| a<br>b\\|c | **d**<br>e<br>f | `g`<br>` h\\|i` |"
    ]
