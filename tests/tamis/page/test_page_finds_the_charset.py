import pytest

from tamis.page.page import Page
from tamis.page.parsing import decode, decoded


def test_a_byte_order_mark_goes_before_a_wrong_header_and_is_not_text() -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        assert Page.parse("<p>é</p>".encode(encoding), encoding="windows-1251").block_texts() == ["é"]


@pytest.mark.parametrize(
    "encoding", ["no-such-charset", "", "utf-8; x", "\N{SNOWMAN}", "hex", "idna", "undefined", "punycode"]
)
def test_unknown_charset_names_are_passed_over(encoding: str) -> None:
    assert Page.parse("<p>Größe</p>".encode(), encoding=encoding).block_texts() == ["Größe"]


def test_bytes_that_are_wrong_for_the_charset_become_replacement_characters() -> None:
    assert Page.parse(b"<p>\xc3\xa9\xc3\xa9\xff\xfeb</p>", encoding="utf-8").block_texts() == ["éé\ufffd\ufffdb"]


def test_latin_1_means_windows_1252_as_in_browsers() -> None:
    assert decode(b"\x93x\x94", "iso-8859-1") == "“x”"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\x93It\x92s late\x94", "“It’s late”"),
        ("You\xe2\x80\x99re late, Zo\xc3\xab \xf0\x9f\x98\x80\xe2\x80\xa6", "You’re late, Zoë 😀…"),
        ("caf\xe9 \x97 «5 à 7»", "café — «5 à 7»"),
        ("ä\xb8\x81 \x81", "丁"),
        ("Ã© is two letters", "Ã© is two letters"),
    ],
)
def test_characters_that_show_nothing_are_read_as_what_they_were(text: str, seen: str) -> None:
    for html in (f"<p>{text}</p>", f"<p>{text}</p>".encode()):
        assert Page.parse(html).block_texts() == [seen]


def test_pages_converted_to_utf8_are_read_so_whatever_their_meta_still_says() -> None:
    text = "人民网北京九月九日电：共享单车这门生意还能做多久"
    html = f"<html><head><meta charset='gb2312'></head><body><p>{text}</p></body></html>"
    assert Page.parse(html.encode("utf-8")).block_texts() == [text]
    assert Page.parse(html.encode("gb18030")).block_texts() == [text]


def test_a_few_bytes_that_happen_to_be_utf8_do_not_outweigh_the_meta() -> None:
    html = "<html><head><meta charset='gbk'></head><body><p>茅台</p></body></html>".encode("gbk")
    assert html.decode("utf-8"), "two characters of GBK that are two of UTF-8 as well"
    assert Page.parse(html).block_texts() == ["茅台"]


LONG = "Größe und café, naïve Übung für Schüler. " * 5


WRONG = [b"\xff", b"\xc0\x80", b"\xe0\x80", b"\xed\xa0", b"\xf4\x90"]


@pytest.mark.parametrize(
    "damaged", [*(LONG.encode() + x + LONG.encode() for x in WRONG), LONG.encode() + b"\xe2\x82", b"caf\xc3\xa9 \xe2"]
)
def test_utf8_with_a_wrong_byte_or_cut_off_in_a_character_is_still_utf8(damaged: bytes) -> None:
    text = decode(b"<p>" + damaged)
    assert text == "<p>" + damaged.decode("utf-8", "replace")


def test_utf8_with_a_wrong_byte_outweighs_a_meta_of_another_charset() -> None:
    html = b"<meta charset=windows-1252><p>" + LONG.encode() + b"\xff"
    assert LONG in decode(html)


@pytest.mark.parametrize("name", ["utf-16", "UTF-16LE", "utf-16be"])
def test_utf_16_in_a_meta_means_utf_8_since_the_meta_could_be_read(name: str) -> None:
    assert decode(f'<meta charset="{name}"><p>plain</p>'.encode()).endswith("<p>plain</p>")
    assert "é" in decode(f'<meta charset="{name}"><p>é</p>'.encode())


ENGLISH = "The storm reached the coast on Monday and moved inland, the weather service said. "


@pytest.mark.parametrize("signs", ["“this is it” – it’s over", "\xa9 2010", "\xa0\xa0\xbb More", "£20 or €25…"])
def test_a_page_of_ascii_and_a_few_signs_is_windows_1252_as_in_browsers(signs: str) -> None:
    assert decoded(f"<p>{ENGLISH}{signs}".encode("windows-1252")) == ("cp1252", f"<p>{ENGLISH}{signs}")
    assert decoded(b"<p>plain") == ("cp1252", "<p>plain")


SAMPLES = {  # a sentence of each charset
    "utf-8": "Die Brücke über die Straße: „Größe“ ist für Schüler — naïve Übung.",
    "iso-8859-1": "Die Brücke über die Straße: Größe ist für Schüler eine schöne Übung.",
    "windows-1252": "Le président a déclaré que l’été serait très chaud; les élèves étaient à l’école.",
    "windows-1250": "Zażółć gęślą jaźń, mówił prezydent, który był wczoraj w Łodzi i Gdańsku.",
    "iso-8859-2": "Vláda včera schválila návrh zákona, který změní důchody příštího roku.",
    "windows-1254": "Cumhurbaşkanı dün İstanbul'da yaptığı açıklamada ışıkların söndürüldüğünü söyledi.",
    "windows-1251": "Правительство вчера одобрило законопроект, который изменит пенсии.",
    "koi8-r": "Президент сообщил, что переговоры пройдут на следующей неделе в Москве.",
    "koi8-u": "Уряд учора схвалив законопроєкт, який змінить пенсії наступного року в Україні.",
    "iso-8859-5": "Правительство вчера одобрило законопроект, который изменит пенсии.",
    "windows-1253": "Η κυβέρνηση ενέκρινε χθες το νομοσχέδιο που θα αλλάξει τις συντάξεις.",
    "windows-1255": "הממשלה אישרה אתמול את הצעת החוק שתשנה את הפנסיות בשנה הבאה.",
    "windows-1256": "وافقت الحكومة أمس على مشروع القانون الذي سيغير المعاشات العام المقبل.",
    "cp874": "รัฐบาลเห็นชอบร่างกฎหมายใหม่เมื่อวานนี้เพื่อเปลี่ยนแปลงบำนาญในปีหน้า",
    "shift_jis": "政府は昨日、来年の年金を変える法案を承認した。日本語のページです。",
    "euc-jp": "政府は昨日、来年の年金を変える法案を承認した。日本語のページです。",
    "iso-2022-jp": "政府は昨日、来年の年金を変える法案を承認した。日本語のページです。",
    "gbk": "政府昨天批准了一项法案，将改变明年的养老金。这是一个中文网页。",
    "big5": "政府昨天批准了一項法案，將改變明年的養老金。這是一個中文網頁。",
    "euc-kr": "정부는 어제 내년 연금을 바꾸는 법안을 승인했다. 한국어 페이지입니다.",
    "utf-16-le": "Die Brücke über die Straße: Größe ist für Schüler eine Übung.",
    "utf-16-be": "政府昨天批准了一项法案，将改变明年的养老金。",
}
RIGHT = "right"
DECLARATIONS = [
    *[(RIGHT, None), (None, RIGHT), (RIGHT, "utf-8"), (RIGHT, "windows-1252"), (RIGHT, "gbk"), (RIGHT, "windows-1251")],
    *[(None, None), ("utf-8", None), (None, "utf-8"), ("utf-8", RIGHT)],
]


@pytest.mark.parametrize("charset", SAMPLES)
@pytest.mark.parametrize(("header", "meta"), DECLARATIONS)
def test_a_right_charset_is_used_and_one_that_would_damage_the_text_is_not(
    charset: str, header: str | None, meta: str | None
) -> None:
    header, meta = (charset if name == RIGHT else name for name in (header, meta))
    for text in (SAMPLES[charset], SAMPLES[charset] * 10, ENGLISH * 40 + SAMPLES[charset]):
        html = (f'<meta charset="{meta}">' if meta else "") + f"<title>x</title><p>{text}"
        assert decode(html.encode(charset), header) == html


@pytest.mark.parametrize("text", ["café", "für 3 €", "it’s"])
@pytest.mark.parametrize("declared", ["iso-8859-1", "windows-1250", "koi8-r"])
def test_a_single_character_of_utf8_outweighs_a_charset_of_single_bytes(text: str, declared: str) -> None:
    for header, meta in ((declared, "x"), (None, declared), (declared, "utf-8")):
        html = f"<meta charset={meta}><p>{text}"
        assert decode(html.encode(), header) == html


def test_cyrillic_greek_and_the_like_that_is_declared_latin_1_is_recognised() -> None:
    for charset in ("windows-1251", "koi8-r", "windows-1253", "windows-1255", "cp874", "gbk", "shift_jis", "euc-kr"):
        assert decode(f"<p>{SAMPLES[charset]}".encode(charset), "iso-8859-1") == f"<p>{SAMPLES[charset]}"
    assert decode(f"<p>{SAMPLES['windows-1252']}".encode("cp1252"), "gbk") == f"<p>{SAMPLES['windows-1252']}"
