"""A blog post with comments, in the markup of a well-known system or in nobody's."""

from winnow.page.page import Page

STORY = """<article><h1>How to bake bread at home</h1>
<p>Bread is made of flour, water, salt and time, and of these four it is time that most recipes forget to speak of.</p>
<p>Mix them in the evening, leave the dough in a cool place, and in the morning you will find that it has doubled.</p>
<p>Bake it in a hot oven for forty minutes, in a pot with a lid, and take the lid off for the last ten of them, so that
the crust turns brown and the house smells of it until the next day.</p></article>"""

SAID = (
    ("Anna", "March 3, 2019 at 10:15 am", "Thank you so much, I tried this yesterday and my kids loved it!"),
    ("Bob", "March 4, 2019 at 8:02 pm", "How much salt did you take? Mine was a bit bland I am afraid."),
    ("Carol", "March 9, 2019 at 1:44 pm", "Great post, I will try it with rye next weekend and tell you."),
)


def page_of(body: str) -> str:
    """A page with a menu and a footer around its body."""
    return f"""<html><head><title>Bread</title></head><body><nav><a href="/">Home</a> <a href="/a">About us</a></nav>
{body}<footer><p>Copyright 2019 Bread Blog</p></footer></body></html>"""


def thread(named: str = "", list_named: str = "") -> str:
    """A thread of comments with attributes for each of them and for their list."""
    comments = "".join(
        f"<li{named}><div><b>{name}</b> <span>says:</span></div><div><a href='#{name}'>{date}</a></div><p>{text}</p>"
        f"<div><a href='?answer={name}'>Reply</a></div></li>"
        for name, date, text in SAID
    )
    return f"<div{list_named}><h2>3 thoughts on “How to bake bread at home”</h2><ol>{comments}</ol></div>"


BLOG_POST = page_of(STORY + thread())
NAMED_BLOG_POST = page_of(STORY + thread(' class="comment"', ' class="comments-area"'))


def blocks_of(page: Page, *texts: str) -> list[int]:
    """Numbers of the blocks with some texts."""
    return [number for number, text in enumerate(page.block_texts()) if text in texts]
