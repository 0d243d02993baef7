import numpy as np

from winnow.fingerprints import FINGERPRINT_VERSION, node_fingerprints, text_fingerprints
from winnow.page.page import Page

HTML = """<html><head><title>T</title></head><body class="home page-id-7"><nav id="menu-1"><a href="../about/?v=3"
class="active x">ABOUT &Uuml;ber</a> | <a href="/c">\u65e5\u672c \U0001f600</a></nav><p>Some <em>text</em>, 42.<br>
More</p><custom-tag>z</custom-tag><img src="a.png" alt="A  b"></body></html>"""
URL = "https://example.org/blog/post/"


def test_values_of_version_1_never_change() -> None:
    page = Page.parse(HTML, URL)
    markup, text = node_fingerprints(page), text_fingerprints(page)
    assert FINGERPRINT_VERSION == 1
    assert markup.dtype == text.dtype == np.uint64
    assert f"{markup[0]:016x} {markup[-1]:016x}" == "99dae1fceb301f3f dbec06d577c61325"
    assert f"{text[0]:016x} {text[-1]:016x}" == "8cb557bcef94afda 7f12c4fef5eb3a30"
