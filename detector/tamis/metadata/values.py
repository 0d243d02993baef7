"""Reads the values of facts: texts, names, keywords and addresses, each written in many forms."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise
from typing import Any, Final

from tamis.metadata.dates import is_month
from tamis.page.text import UNSEEN_CHARACTERS, UNSPACED_RUN

MAX_VALUES: Final = 20  # authors or tags
TAG: Final = re.compile(r"</?[A-Za-z][^<>]*>|<!--[^<>]*>")  # linear: it ends at the next angle bracket

# Linear, all of them: white space in the texts that they see is single spaces.
_DECLARED_PREFIX: Final = re.compile(
    r"^(?:(?:written|posted|published) )?(?:by|author|autor|auteur)\b:? ", re.IGNORECASE
)
_PREFIX: Final = re.compile(
    r"^(?:(?:(?:written|posted|published|authored|submitted|reported|created|words|story|text|article|guide) )?by"
    r"|authors?|author name"
    r"|(?:verfasst |geschrieben |ein beitrag )?von|autor(?:in|en)?|(?:(?:rédigé|publié|écrit|posté) )?par|auteure?s?"
    r"|(?:(?:escrito|publicado|redactado) )?por|autora?(?:es)?|(?:a cura )?di|(?:scritto|pubblicato) da|autore"
    r"|(?:geschreven )?door|(?:skrevet |skriven )?av|(?:skrevet )?af|forfatter|szerző|írta|kirjoittaja|kirjoittanut"
    r"|napsala?|yazar|yazan|автор|текст|από|συντάκτης|tác giả|oleh|penulis)(?: ?[:：] ?| )"
    r"|^(?:كتب(?:ت)?|بقلم|الكاتب|تحرير|نوشته|نویسنده|מאת|โดย|ditulis oleh|pisze|tekst|του|της|skriver|écrit par)"
    r"(?: ?[:：] ?| )"
    r"|^(?:作者|撰文|文|记者|記者|投稿者|著者|執筆者?|ライター|글쓴이|글|작성자)(?: ?[:：／/|] ?| )",
    re.IGNORECASE,
)
_AMBIGUOUS: Final = re.compile(r"^(?:von|par|por|di|door|av|af|posted|written) $", re.IGNORECASE)
_INNER_PREFIX: Final = re.compile(
    r"^(?:posted|published|written|submitted|created|updated|last)\b[^|]{0,60}?\bby:? (?=\S)"
    r"|^(?!copyright|\(c\))[^|©]{0,30}\d{4}\W{0,5}\bby (?=\S)",
    re.IGNORECASE,
)
_NO_AUTHOR: Final = re.compile(
    r"\b(?:review|check|edit|photo|illustrat|verif|approv|power|sponsor|present|image|translat|design|site)[a-z]* by\b",
    re.IGNORECASE,
)
_DAY: Final = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
_AFTER_NAME: Final = re.compile(
    r" [–—-]+ | ?[|•·⋅@/(\[<>»] ?|[:：,]? \b(?:updated|published|posted|last|on|in|at|for|is|was|views?|mins?)\b"
    r"|,? ?\d| (?:executive|senior|staff|deputy|former|managing|associate|editor|reporter|correspondent|guest)\b"
    r"| (?:writer|columnist)\b"
    r"| contribut(?:or|ing)\b"
    r"|(?<=[^\W\d_]{3})(?=(?-i:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? \d)"
    rf"|,? {_DAY}\b",
    re.IGNORECASE,
)
_WEEKDAY: Final = re.compile(rf"{_DAY}[.,]?", re.IGNORECASE)
AND: Final = r"(?:and|und|et|och|og|with|(?-i:e|i|y|[EIY](?= [^\W\d_a-z]{2,} [^\W\d_a-z]{2})))"
"""A word between names, of any case; a single letter in upper case is an initial, unless two such words follow."""
_BETWEEN_NAMES: Final = re.compile(rf" ?(?:,|;|\||&|\b{AND}\b) |[、，；]| / ", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"://|^(?:www\.|\.{0,2}/)")
_CREDENTIAL: Final = re.compile(r"[A-Z][A-Za-z.]{0,5}[®.]?")

_USER: Final = re.compile(r"[a-z0-9_]{3,20}|[A-Z][a-z]{1,20} [a-z]{3,20}")  # after "By"
_LOWER_NAME: Final = re.compile(r"[a-z]{3,20} [a-z]{3,20}")  # of a marked element
_PARTICLES: Final = frozenset(
    "de la del der den van von zu zur af av da das do dos du di el al bin ibn ben ter ten e y le les san".split()
)
_ROLES: Final = frozenset(
    """staff writer writers editor editors reporter reporters correspondent contributor contributors contributing
    senior guest author authors admin administrator editorial team desk newsroom by chief columnist columnists
    journalist press the name nombre 名前 имя имя: jméno user webmaster root redaktion redaktor redacción redação
    redazione rédaction nom web content anonymous unknown publisher owner moderator default none null written""".split()
)
_NO_NAMES: Final = frozenset(
    """read more share comment comments view all posts post follow subscribe sign log home about contact us click here
    this that our your we you how what why when where which best top new news blog article articles story stories
    search menu skip page website email e-mail name* published updated category categories tags in on for with from
    and reply leave see learn minutes min next previous copyright terms privacy policy free print save
    advertisement phone message status get conditions register login""".split()
)


def unescape_text(text: str) -> str:
    """Replace character references; a text with one of thousands of digits, which Python does not read, stays."""
    try:
        return unescape(text)
    except ValueError:
        return text


def clean_text(value: object) -> str | None:
    """Text without markup, with normalised white space, also if it was escaped twice; ``None`` for no text."""
    if not isinstance(value, str):
        return None
    if "&" in value:
        value = unescape_text(unescape_text(value))
    return normalize_text(TAG.sub(" ", value)) or None


def normalize_text(text: str) -> str:
    """Text as readers see it: without soft hyphens and the like, and with normalised white space."""
    if not text.isascii():
        text = UNSEEN_CHARACTERS.sub("", text)
    return " ".join(text.split())


def as_list(value: Any) -> list[Any]:
    """The values of a property that may have one or a list of them."""
    return value if isinstance(value, list) else [value]


def as_objects(values: list[Any]) -> list[dict[str, Any]]:
    """The JSON objects among some values."""
    return [value for value in values if isinstance(value, dict)]


def first_object(value: Any) -> dict[str, Any]:
    """The first value of a property if it is an object; else an empty one."""
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, dict) else {}


def word_set(text: str) -> set[str]:
    """Words of a text in lower case, and pairs of characters of unspaced scripts."""
    spaced = UNSPACED_RUN.sub(lambda run: f" {' '.join(map(''.join, pairwise(run[0])))} ", text.lower())
    return set(re.findall(r"\w+", spaced))


def person_names(value: Any, by_id: dict[str, dict[str, Any]]) -> list[str]:
    """Names of people in JSON-LD, of organisations if there are no people.

    Args:
        value: a text, an object with a name, given and family names or the id of such an object, or a list of these.
        by_id: objects by their ids.
    """
    people: list[str] = []
    organisations: list[str] = []
    for stated in as_list(value):
        if not isinstance(stated, dict):
            people += split_names(clean_text(stated) or "")
            continue
        person = _with_referenced(stated, by_id)
        names = list(filter(None, map(clean_text, as_list(person.get("name")))))
        if not names:
            parts = map(clean_text, map(person.get, ("givenName", "additionalName", "familyName")))
            names = [" ".join(filter(None, parts))]
        for name in names:
            (organisations if "Organization" in str(person.get("@type")) else people).extend(split_names(name))
    return list(dict.fromkeys(people or organisations))[:MAX_VALUES]


def _with_referenced(thing: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """An object with what it lacks of the one that its id stands for."""
    return by_id.get(str(thing.get("@id")), {}) | {name: value for name, value in thing.items() if value}


def split_names(text: str) -> list[str]:
    """Split a declared text into names, without addresses, numbers, roles, credentials and too long texts."""
    found = []
    for number, between in enumerate(_BETWEEN_NAMES.split(_DECLARED_PREFIX.sub("", text))):
        part = between.strip(' *※:,"')
        is_other = "@" in part or part.isdecimal() or _ADDRESS.search(part) or _is_role(part)
        is_credential = number > 0 and _CREDENTIAL.fullmatch(part) and sum(map(str.isupper, part)) > 1
        if 0 < len(part) <= 80 and not is_other and not is_credential:
            found.append(part)
    return found


def is_byline(text: str) -> bool:
    """Whether a text begins as a byline does, such as "By ..." or "Posted on 17 May by ..."."""
    return bool(_PREFIX.match(text) or _INNER_PREFIX.match(text))


def names_in_byline(text: str, *, needs_prefix: bool, is_marked: bool = False) -> tuple[list[str], bool]:
    """Return the names in a possible byline, and whether it begins as one does, such as "By ..."; else maybe none.

    Args:
        text: the byline.
        needs_prefix: a text that does not begin so has no names.
        is_marked: its markup is that of a byline: what stands after "By" may be a user name.
    """
    if " by" in text.lower():
        text = _NO_AUTHOR.split(text, maxsplit=1)[0]
    found = _PREFIX.match(text) or _INNER_PREFIX.match(text)
    if found:
        rest = text[found.end() :]
        people = _people(rest)
        may_be_user = is_marked or found[0].endswith("by ")
        if not people and may_be_user and _USER.fullmatch(rest) and not _is_role(rest):
            people = [rest]
        is_ambiguous = _AMBIGUOUS.match(found[0]) and not (people and " " in people[0])  # "Di Maria"
        if not is_ambiguous:
            return people, True
    if needs_prefix:
        return [], False
    people = _people(text)
    if not people and is_marked and _LOWER_NAME.fullmatch(text) and not _is_role(text):
        people = [text]
    return people, False


def _people(text: str) -> list[str]:
    end = _AFTER_NAME.search(text)
    names = split_names(text[: end.start()] if end else text)
    is_dated = end is not None and end[0][-1:].isdigit()
    return list(filter(_is_name, [_drop_date(name) if is_dated or " " not in name else name for name in names]))


def _is_name(text: str) -> bool:
    """Whether a text looks like the name of a person: a few capitalised words, none typical of menus or roles."""
    words = text.split()
    if not 0 < len(words) <= 5 or len(text) < 2 or any(map(str.isdigit, text)):
        return False
    if len(words) == 1 and not text.isascii() and not text[0].isupper() and len(text) > 12:
        return False
    lowered = text.lower().split()
    if _PARTICLES.issuperset(lowered) or _is_role(text) or any(word.strip(".:") in _NO_NAMES for word in lowered):
        return False
    return all(word[0].isalpha() and (not word[0].islower() or word.lower() in _PARTICLES) for word in words)


def is_user_name(text: str) -> bool:
    """Whether a name looks like that of an account, not of a person."""
    return re.fullmatch(r"[a-z0-9_.-]+", text) is not None


def _is_role(text: str) -> bool:
    words = [word.lower().strip(".:*") for word in text.replace("_", " ").replace("-", " ").split()]
    return "admin" in words or all(word in _ROLES for word in words)


def _drop_date(text: str) -> str:
    """Drop the month at the end of a name that stood before a date; "" for a month or a day of the week alone."""
    words = text.split()
    while words and is_month(words[-1].strip(".,")):
        words.pop()
    return "" if len(words) == 1 and _WEEKDAY.fullmatch(words[0]) else " ".join(words)


def keywords(value: Any) -> list[str]:
    """Split keywords: a list of several, or one text with commas or the like, in Chinese also with spaces alone."""
    parts = as_list(value)
    if len(parts) == 1:
        parts = re.split("[,;，；、،|]", clean_text(parts[0]) or "")
    if len(parts) == 1:
        words = parts[0].split()
        if len(list(filter(UNSPACED_RUN.search, words))) >= 3:  # fewer may be a headline
            parts = words
    return list(dict.fromkeys(filter(None, map(clean_text, parts))))[:MAX_VALUES]


def image_address(value: Any, by_id: dict[str, dict[str, Any]]) -> str | None:
    """Address of the first image: a text, an object with a ``url`` or the id of such an object, or a list of these."""
    for image in as_list(value):
        addresses = [image]
        if isinstance(image, dict):
            stated = _with_referenced(image, by_id)
            addresses = as_list(stated.get("url")) + as_list(stated.get("contentUrl"))
            if "#" not in str(stated.get("@id")):
                addresses.append(stated.get("@id"))
        for address in addresses:
            if isinstance(address, str) and address.strip():
                return address.strip()
    return None
