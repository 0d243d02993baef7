"""Dates as pages write them, in digits or in the words of some 30 languages.

Month names are from Unicode's CLDR, as in dateparser, without accents. Only years from 1990 to the next one are read
from text, so years of other calendars (2567, 1403), prices and visitor counts are no dates; nor are relative dates
("2 days ago").
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final
from unicodedata import combining, normalize

if TYPE_CHECKING:
    from collections.abc import Iterator

_MIN_YEAR: Final = 1990


def _fold(name: str) -> str:
    """Lower case without accents; the Turkish dotless i gets a dot."""
    return "".join(c for c in normalize("NFKD", name.lower().replace("ı", "i")) if not combining(c))


def _number_months(table: str) -> dict[str, int]:
    """Number of the month by each of its names, whose first one begins a line."""
    months = re.split(r"\n(?=\S)", table.strip())
    return {_fold(name): number for number, names in enumerate(months, 1) for name in names.split()}


_MONTHS: Final = _number_months("""
jan january januar janner janvier janv enero ene gennaio gen janeiro januari sty stycznia styczen led ledna leden
    januara ian ianuarie oca ocak янв января январь січ січня ιαν ιανουαριου яну януари sijecnja gener يناير جانفي
    ינואר tammikuuta
feb february februar feber fevrier fevr fev febrero febbraio fevereiro februari lut lutego uno unora unor februara
    februarie sub subat фев февр февраля лют лютого φεβ φεβρουαριου февруари veljace febrer فبراير فيفري פברואר
    helmikuuta
mar march marz mrz mars marzo marco maart mrt marts marca brezna brezen marec marcius marc martie mart мар марта март
    бер березня μαρ μαρτιου ozujka maret مارس מרץ maaliskuuta
apr april avril avr abril abr aprile kwi kwietnia dub dubna duben aprila aprilis aprilie nis nisan апр апреля апрель
    квіт квітня απρ απριλιου април travnja أبريل ابريل افريل אפריל huhtikuuta
may mai mayo maggio mag maio mei maj maja kve kvetna kveten majus mayis мая май маи трав травня μαι μαιου svibnja maig
    مايو ماي מאי toukokuuta
jun june juni juin junio giugno giu junho cze czerwca czerwiec cervna cerven juna junius iunie haz haziran июн июня
    июнь черв червня ιουν ιουνιου юни lipnja juny يونيو جوان יוני kesakuuta
jul july juli juillet juil julio luglio lug julho lip lipca lipiec cervence cervenec jula julius iulie tem temmuz июл
    июля июль липня ιουλ ιουλιου юли srpnja juliol يوليو جويلية יולי heinakuuta
aug august aout agosto ago augustus augusti sie sierpnia sierpien srp srpna srpen augusta augusztus agu agustus
    agustos авг августа август серп серпня αυγ αυγουστου kolovoza agost أغسطس اغسطس أوت אוגוסט elokuuta
sep september sept septembre septiembre setiembre settembre set setembro wrz wrzesnia wrzesien zari septembra
    szeptember septembrie eyl eylul сен сент сентября сентябрь вер вересня σεπ σεπτεμβριου септември rujna setembre
    سبتمبر ספטמבר syyskuuta
oct october oktober okt octobre octubre ottobre ott outubro out paz pazdziernika pazdziernik rijna rijen oktobra
    octombrie eki ekim окт октября октябрь жовт жовтня οκτ οκτωβριου октомври أكتوبر اكتوبر אוקטובר lokakuuta
nov november novembre noviembre novembro lis listopada listopad listopadu novembra noiembrie kas kasim ноя нояб ноября
    ноябрь листопада νοε νοεμβριου ноември studenoga نوفمبر נובמבר marraskuuta
dec december dez dezember decembre diciembre dic dicembre dezembro des desember gru grudnia grudzien prosince prosinec
    decembra decembrie ara aralik дек декабря декабрь груд грудня δεκ δεκεμβριου декември prosinca desembre ديسمبر
    דצמבר joulukuuta
""")

_YEAR_END: Final = r"(?!\d(?!\d?:\d\d))"  # also: "May 17, 20249:53 AM"
_YEARS: Final = tuple(  # that begin with a literal, which is found fast
    re.compile(rf"{century}(?<!\d\d\d)\d\d{_YEAR_END}") for century in (19, 20)
)
# Linear: each is only tried in the few characters around a year.
_FORMATS: Final = tuple(
    re.compile(form)
    for form in (
        r"(?<!\d)(?P<y>\d{4})\s?(?P<s>[-/.年년])\s?(?P<m>\d\d?)\s?(?:(?P=s)|[月월])\s?(?P<d>\d\d?)(?!\d)",
        (
            r"(?:\b(?P<a>(?i:mon|tue|wed|thu|fri|sat|sun))[a-z]{0,6},?\s)?(?<![\d.,/-])(?P<d>\d\d?)(?P<s>[./-])\s?"
            r"(?P<m>\d\d?)(?P=s)\s?(?P<y>\d{4})" + _YEAR_END
        ),
        (
            r"(?<!\d)(?P<d>\d\d?)(?:st|nd|rd|th|er|º|ª)?[.,-]?\s?(?:(?:de|of)\s|d['’])?(?P<w>[^\W\d_]{3,12})[.,-]{0,2}"
            r"\s?(?:del?\s)?(?P<y>\d{4})" + _YEAR_END
        ),
        r"(?P<w>[^\W\d_]{3,20})\.?\s(?P<d>\d\d?)(?:st|nd|rd|th)?,?\s(?:at\s\d\d?:\d\d,?\s)?(?P<y>\d{4})" + _YEAR_END,
        r"(?<!\d)(?P<y>\d{4})\.?\s(?P<w>[^\W\d_]{3,12})\.?\s(?P<d>\d\d?)(?!\d)",
        r"(?<!\d)(?P<d>\d\d?)\s(?:tháng|thg)\s(?P<m>\d\d?),?\s(?:năm\s)?(?P<y>\d{4})" + _YEAR_END,
    )
)
_SHORT: Final = re.compile(r"(?P<a>)(?<![\d.,/-])(?P<d>\d\d)(?P<s>[./])(?P<m>\d\d)(?P=s)(?P<y>\d\d)(?![\d./-])")
_IN_ADDRESS: Final = re.compile(
    r"[/_-]((?:19|20)\d{2})[/_-]?(0[1-9]|1[0-2]|/[a-z]{3}/)[/_-]?(0[1-9]|[12]\d|3[01])(?=[/_.-]|$)"
)
_MONTH_FIRST: Final = re.compile(r"en(?!-(?:gb|au|nz|ie|in|za|sg|hk|my))", re.IGNORECASE)
_GLUED: Final = re.compile(r"^.*(?=[A-Z])")  # "Ada ByronMay 17, 2024"
_EPOCH: Final = re.compile(r"1\d{9}(?:\d{3})?")
_COMPACT: Final = re.compile(r"((?:19|20)\d{6})(\d{6})")  # 20240517103000


def iso_date(value: object, language: str | None = None) -> str | None:
    """Return the first date in a text as ISO 8601, with its time and zone if given; ``None`` without one.

    Args:
        value: a text; anything else has no date.
        language: code of the page's language, which decides whether 3/4/2024 is in March or April.
    """
    if not isinstance(value, str):
        return None
    text = value.strip()[:200]
    for parse in (_parse_timestamp, datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = parse(text)
        except (ValueError, OverflowError):
            continue
        if not _is_plausible(moment.year):
            return None
        has_time = len(text) > len("2024-05-17")
        return moment.isoformat() if has_time else moment.date().isoformat()
    return next((day for _, _, day in dates_in(text, language)), None)


def dates_in(text: str, language: str | None = None) -> Iterator[tuple[int, int, str]]:
    """Yield begin, end and ISO 8601 day of the dates in a text; of dates that share a year only one."""
    last_end = 0
    years = sorted(year.span() for form in _YEARS for year in form.finditer(text))
    for year_begin, year_end in years[:500]:
        begin = max(last_end, year_begin - 32)
        window = text[begin : year_end + 16]
        found = _find_around(window, year_begin - begin, year_end - begin, language)
        if found:
            match, day = found
            last_end = begin + match.end()
            yield begin + match.start(), last_end, day


def _find_around(window: str, year_begin: int, year_end: int, language: str | None) -> tuple[re.Match[str], str] | None:
    """The first date with a year in a text of few characters, and its day."""
    has_digit_before = any(map(str.isdecimal, window[:year_begin]))
    has_digit_after = any(map(str.isdecimal, window[year_end:]))
    for form in _FORMATS:
        is_year_first = form.groupindex["y"] == 1
        if not (has_digit_after if is_year_first else has_digit_before):
            continue
        for match in form.finditer(window):
            day = _read_match(match, language) if match.start("y") == year_begin else None
            if day:
                return match, day
    return None


def short_dates_in(line: str, language: str | None = None) -> Iterator[tuple[int, int, str]]:
    """Yield begin, end and ISO 8601 day of the dates in a line with two digits each for day, month and year."""
    for found in _SHORT.finditer(line):
        century = 20 if int(found["y"]) < _MIN_YEAR % 100 else 19
        if day := _order_day_and_month(found, language, f"{century}{found['y']}"):
            yield found.start("d"), found.end(), day


def is_month(word: str) -> bool:
    """Whether a word is the name of a month."""
    return _fold(word) in _MONTHS


def date_in_address(url: str) -> str | None:
    """Return the date in an address, as in ``/2024/05/17/story``; ``None`` without one."""
    found = _IN_ADDRESS.search(url)
    if not found:
        return None
    month = found[2].strip("/")
    return _iso_day(found[1], month if month.isdecimal() else _MONTHS.get(month, 0), found[3])


def _read_match(found: re.Match[str], language: str | None) -> str | None:
    parts = found.groupdict()
    if parts.get("w"):
        month = _MONTHS.get(_fold(parts["w"])) or _MONTHS.get(_GLUED.sub("", parts["w"]).lower())
        return _iso_day(parts["y"], month, parts["d"]) if month else None
    if parts.get("s") and found.start("d") < found.start("y"):
        return _order_day_and_month(found, language, parts["y"])
    return _iso_day(parts["y"], parts["m"], parts["d"])


def _order_day_and_month(found: re.Match[str], language: str | None, year: str) -> str | None:
    """Tell day and month apart by their values, else by the day of the week, or by separator and language."""
    first, second = found["d"], found["m"]
    is_month_first = found["s"] != "." and bool(_MONTH_FIRST.match(language or ""))
    if int(second) > 12 or (is_month_first and int(first) <= 12):
        first, second = second, first
    likelier, other = _iso_day(year, second, first), _iso_day(year, first, second)
    is_other = found["a"] and found["a"].lower() in {_weekday(other)} - {_weekday(likelier)}
    return other if is_other else likelier


def _weekday(day: str | None) -> str:
    """The first three letters of the day of the week of an ISO 8601 day."""
    return ("mon", "tue", "wed", "thu", "fri", "sat", "sun")[date.fromisoformat(day).weekday()] if day else ""


def _parse_timestamp(seconds: str) -> datetime:
    """Parse seconds or milliseconds since 1970, or a day and a time without signs between them."""
    if found := _COMPACT.fullmatch(seconds):
        return datetime.fromisoformat("T".join(found.groups()))
    if not _EPOCH.fullmatch(seconds):
        raise ValueError(seconds)
    return datetime.fromtimestamp(int(seconds[:10]), UTC).replace(microsecond=0)


def _is_plausible(year: int) -> bool:
    return _MIN_YEAR <= year <= datetime.now(UTC).year + 1


def _iso_day(year: str, month: str | int, day: str) -> str | None:
    try:
        found = date(int(year), int(month), int(day))
    except ValueError:
        return None
    return found.isoformat() if _is_plausible(found.year) else None
