"""Dates as pages write them, in numbers or in the words of some 30 languages.

Month names are those of Unicode's CLDR, as dateparser has them, without accents. Only years from 1990 to the next one
are read from text, so that years of other calendars (2567, 1403), prices and counts of visits are no dates; nor is
what says how long ago it was.
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
_MAX_DATE_CHARACTERS: Final = 200
_MAX_YEARS: Final = 500  # years of a text around which dates are looked for
_AROUND: Final = 32  # characters before and behind a year

_MONTH_NAMES: Final = """
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
"""


def _folded(name: str) -> str:
    """Lower case without accents; the Turkish i without a dot gets one."""
    return "".join(c for c in normalize("NFKD", name.lower().replace("ı", "i")) if not combining(c))


_MONTHS: Final = {
    _folded(name): number
    for number, names in enumerate(re.split(r"\n(?=\S)", _MONTH_NAMES.strip()), 1)
    for name in names.split()
}
_END: Final = r"(?!\d(?!\d?:\d\d))"  # of a year: "May 17, 20249:53 AM"
_YEAR: Final = re.compile(rf"(?<!\d)(?:19|20)\d\d{_END}")
# Linear: each is tried within the few characters around a year.
_FORMS: Final = tuple(
    re.compile(form)
    for form in (
        r"(?<!\d)(?P<y>\d{4})\s?(?P<s>[-/.年년])\s?(?P<m>\d\d?)\s?(?:(?P=s)|[月월])\s?(?P<d>\d\d?)(?!\d)",
        r"(?<![\d.,/-])(?P<d>\d\d?)(?P<s>[./-])\s?(?P<m>\d\d?)(?P=s)\s?(?P<y>\d{4})" + _END,
        (
            r"(?<!\d)(?P<d>\d\d?)(?:st|nd|rd|th|er|º|ª)?[.,-]?\s?(?:(?:de|of)\s|d['’])?(?P<w>[^\W\d_]{3,12})[.,-]{0,2}"
            r"\s?(?:del?\s)?(?P<y>\d{4})" + _END
        ),
        r"(?P<w>[^\W\d_]{3,20})\.?\s(?P<d>\d\d?)(?:st|nd|rd|th)?,?\s(?:at\s\d\d?:\d\d,?\s)?(?P<y>\d{4})" + _END,
        r"(?<!\d)(?P<y>\d{4})\.?\s(?P<w>[^\W\d_]{3,12})\.?\s(?P<d>\d\d?)(?!\d)",
        r"(?<!\d)(?P<d>\d\d?)\s(?:tháng|thg)\s(?P<m>\d\d?),?\s(?:năm\s)?(?P<y>\d{4})" + _END,
    )
)
_SHORT_YEAR: Final = re.compile(r"(?<![\d.,/-])(\d\d?)([./])(\d\d?)\2(\d\d)(?![\d.,/-])")
_IN_ADDRESS: Final = re.compile(
    r"[/_-]((?:19|20)\d{2})[/_-]?(0[1-9]|1[0-2]|/[a-z]{3}/)[/_-]?(0[1-9]|[12]\d|3[01])(?=[/_.-]|$)"
)
_MONTH_FIRST: Final = re.compile(r"en(?!-(?:gb|au|nz|ie|in|za|sg|hk|my))", re.IGNORECASE)
_DIGIT: Final = re.compile(r"\d")
_GLUED: Final = re.compile(r"^.*(?=[A-Z])")  # "Ada ByronMay 17, 2024"
_EPOCH: Final = re.compile(r"1\d{9}(?:\d{3})?")


def iso_date(value: object, language: str | None = None) -> str | None:
    """Return the first date of a text, with its time and zone where they are given, as ISO 8601; ``None`` for none.

    Args:
        value: what should be a date.
        language: code of the page's language, by which 3/4/2024 is March or April.
    """
    if not isinstance(value, str) or not (text := value.strip()[:_MAX_DATE_CHARACTERS]):
        return None
    for read in (_moment, datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text)
        except (ValueError, OverflowError):
            continue
        if not _is_likely(moment.year):
            return None
        return (
            moment.date().isoformat() if len(text) <= len("2024-05-17") and not text.isdecimal() else moment.isoformat()
        )
    if found := next(dates_in(text, language), None):
        return found[2]
    if short := _SHORT_YEAR.search(text):
        return _in_order(short[1], short[3], f"20{short[4]}", short[2], language)
    return None


def dates_in(text: str, language: str | None = None) -> Iterator[tuple[int, int, str]]:
    """Yield begin and end of the dates of a text, and the day as ISO 8601; dates that share a year once."""
    last = 0
    for number, year in enumerate(_YEAR.finditer(text)):
        if number == _MAX_YEARS:
            return
        begin = max(last, year.start() - _AROUND)
        window = text[begin : year.end() + _AROUND // 2]
        if len(_DIGIT.findall(window)) < len("2024") + 1:
            continue
        for form in _FORMS:
            for found in form.finditer(window):
                if found.start("y") != year.start() - begin:
                    continue
                if day := _read(found, language):
                    last = begin + found.end()
                    yield begin + found.start(), last, day
                    break
            else:
                continue
            break


def is_month(word: str) -> bool:
    """Whether a word is the name of a month."""
    return _folded(word) in _MONTHS


def date_in_address(url: str) -> str | None:
    """Return the date in an address, as in ``/2024/05/17/story``; ``None`` without one."""
    if not (found := _IN_ADDRESS.search(url)):
        return None
    month = found[2].strip("/")
    return _day(found[1], month if month.isdecimal() else _MONTHS.get(month, 0), found[3])


def _read(found: re.Match[str], language: str | None) -> str | None:
    parts = found.groupdict()
    if parts.get("w"):
        month = _MONTHS.get(_folded(parts["w"])) or _MONTHS.get(_GLUED.sub("", parts["w"]).lower())
        return _day(parts["y"], month, parts["d"]) if month else None
    if parts.get("s") and found.start("d") < found.start("y"):
        return _in_order(parts["d"], parts["m"], parts["y"], parts["s"], language)
    return _day(parts["y"], parts["m"], parts["d"])


def _in_order(first: str, second: str, year: str, separator: str, language: str | None) -> str | None:
    """Day and month by which of them can be a month, else by separator and language."""
    is_month_first = separator != "." and bool(_MONTH_FIRST.match(language or ""))
    if int(second) > 12 or (is_month_first and int(first) <= 12):
        first, second = second, first
    return _day(year, second, first)


def _moment(seconds: str) -> datetime:
    """Read seconds or milliseconds since 1970."""
    if not _EPOCH.fullmatch(seconds):
        raise ValueError(seconds)
    return datetime.fromtimestamp(int(seconds[:10]), UTC).replace(microsecond=0)


def _is_likely(year: int) -> bool:
    return _MIN_YEAR <= year <= datetime.now(UTC).year + 1


def _day(year: str, month: str | int, day: str) -> str | None:
    try:
        found = date(int(year), int(month), int(day))
    except ValueError:
        return None
    return found.isoformat() if _is_likely(found.year) else None
