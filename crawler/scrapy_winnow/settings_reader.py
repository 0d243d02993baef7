"""Typed look-ups in Scrapy's settings that collect what is wrong, each with the name of its setting."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from scrapy.exceptions import NotConfigured
from scrapy.utils.project import data_path
from w3lib.encoding import resolve_encoding

from scrapy_winnow.services.prometheus import address_in
from scrapy_winnow.storage.clients import check_address
from winnow.models import load_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

Word = TypeVar("Word", bound=str)

PREFIX: Final = "WINNOW_"


class ConfigError(ValueError):
    """Settings cannot work.

    Attributes:
        problems: what is wrong, one sentence each, with the name of the setting.
    """

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("; ".join(problems))


class SettingsReader:
    """Reads settings; a value that cannot work is noted, and the default stands in for it until :meth:`check`.

    Args:
        settings: the settings.
        defaults: every setting with its default.
    """

    def __init__(self, settings: BaseSettings, defaults: Mapping[str, object]) -> None:
        self._settings = settings
        self._defaults = defaults
        self._problems: list[str] = []

    def check(self) -> None:
        """Raise what was noted.

        Raises:
            ConfigError: settings have values that cannot work.
        """
        if self._problems:
            raise ConfigError(self._problems)

    def value(self, name: str) -> object:
        """The value as it was set."""
        return self._settings.get(name, self._defaults[name])

    def truth(self, name: str) -> bool:
        """True or false, in the ways that Scrapy takes them."""
        default = bool(self._defaults[name])
        try:
            return self._settings.getbool(name, default)
        except (TypeError, ValueError):
            self._wrong(f"{name} must be true or false, not {self.value(name)!r}")
            return default

    def text(self, name: str) -> str:
        """Text without white space around it."""
        return str(self.value(name) or "").strip()

    def name(self, name: str) -> str:
        """Text that is not empty."""
        if not (text := self.text(name)):
            self._wrong(f"{name} must not be empty")
        return text or str(self._defaults[name])

    def whole(self, name: str, *, least: int = 0, most: int | None = None) -> int:
        """A whole number in a range."""
        value = self.value(name)
        try:
            number = int(str(value))
        except ValueError:
            number = least - 1
        if number < least:
            self._wrong(f"{name} must be a whole number from {least} on, not {value!r}")
        elif most is not None and number > most:
            self._wrong(f"{name} must be a whole number up to {most}, not {value!r}")
        return number

    def whole_or_none(self, name: str, *, least: int) -> int:
        """A whole number from somewhere on, or 0."""
        number = self.whole(name)
        if 0 < number < least:
            self._wrong(f"{name} must be 0 or a whole number from {least} on, not {self.value(name)!r}")
        return number

    def whole_or_word(self, name: str, word: str, meant: int) -> int:
        """A whole number, or a word that stands for one."""
        text = str(self.value(name)).strip()
        if text == word:
            return meant
        if not text.isdecimal():
            self._wrong(f"{name} must be {word!r} or a whole number from 0 on, not {self.value(name)!r}")
            return 0
        return int(text)

    def seconds(self, name: str) -> float:
        """A time above 0."""
        value = self.value(name)
        try:
            number = float(str(value))
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf"):
            self._wrong(f"{name} must be a number of seconds above 0, not {value!r}")
        return number

    def share(self, name: str) -> float | None:
        """A number above 0 and at most 1, or nothing."""
        value = self.value(name)
        if value is None or value == "":
            return None
        try:
            number = float(str(value))
        except ValueError:
            number = 0.0
        if not 0 < number <= 1:
            self._wrong(f"{name} must be above 0 and at most 1, or None, not {value!r}")
        return number

    def choice(self, name: str, known: tuple[Word, ...]) -> Word:
        """One of the words that are known; the first of them where it is none."""
        word = self.text(name)
        for each in known:
            if word == each:
                return each
        self._wrong(f"{name} must be one of {', '.join(known)}; not {self.value(name)!r}")
        return known[0]

    def choices(self, name: str, known: tuple[str, ...]) -> frozenset[str]:
        """Some of the words that are known."""
        try:
            chosen = frozenset(part.strip() for part in map(str, self._settings.getlist(name)) if part.strip())
        except (TypeError, ValueError):
            chosen = frozenset({str(self.value(name))})
        if unknown := chosen - set(known):
            self._wrong(f"{name} may hold {', '.join(known)}; not {', '.join(sorted(unknown))}")
        return chosen

    def names(self, name: str, known: tuple[str, ...]) -> Mapping[str, str | None]:
        """Names of fields by the words that are known, which stand for themselves where nothing else is said."""
        names: Mapping[str, object] = {}
        try:
            names = self._settings.getdict(name)
        except (TypeError, ValueError) as error:
            self._wrong(f"{name} must map {', '.join(known)} to field names: {error}")
        if unknown := set(names) - set(known):
            self._wrong(f"{name} may map {', '.join(known)}; not {', '.join(sorted(map(str, unknown)))}")
        found: dict[str, str | None] = {}
        for key in known:
            field = names.get(key, key)
            if field is not None and (not isinstance(field, str) or not field):
                self._wrong(f"{name} must map {key} to the name of a field or to None, not to {field!r}")
            found[key] = field if isinstance(field, str) else None
        taken = [field for field in found.values() if field is not None]
        if twice := sorted({field for field in taken if taken.count(field) > 1}):
            self._wrong(f"{name} must not write two things to one field: {', '.join(twice)}")
        return found

    def model(self, name: str, published: str) -> str | None:
        """The name or path of a model that can be loaded, or ``published``, or nothing for the package's own."""
        model = self.text(name) or None
        try:
            load_model(None if model == published else model)
        except (OSError, ValueError) as error:
            self._wrong(f"{name}: {error}")
        return model

    def encoding(self, name: str) -> str | None:
        """The name of a charset, or nothing."""
        text = self.text(name) or None
        if text is not None and resolve_encoding(text) is None:
            self._wrong(f"{name} must be the name of a charset, not {text!r}")
            return None
        return text

    def redis_url(self, name: str) -> str | None:
        """An address that a client can be made for; it may hold a password, so it is never shown.

        Without the setting it is the environment variable of the same name, which no list of processes shows.
        """
        url = self.text(name) or os.environ.get(name, "").strip() or None
        if url is not None and (problem := check_address(url)):
            self._wrong(f"{name} {problem}")
        return url

    def folder(self, name: str) -> Path:
        """A folder, in the project's data folder unless it is absolute."""
        text = self.name(name)
        try:
            folder = Path(text).expanduser()
        except RuntimeError as error:
            self._wrong(f"{name}: {error}")
            return Path(text)
        try:
            return Path(data_path(folder))
        except (NotConfigured, OSError):
            # There is a settings module, but no scrapy.cfg to say where the project is: under scrapyd, in a script. Or
            # Scrapy, which makes its data folder, cannot: a container may be read-only, and needs none with a Redis.
            return Path(".scrapy", folder)

    def address(self, name: str) -> tuple[str, int] | None:
        """Where to listen, ``HOST:PORT``; ``None`` for nowhere."""
        text = self.text(name) or None
        if text is None:
            return None
        try:
            return address_in(text)
        except ValueError as error:
            self._wrong(f"{name} {error}")
            return None

    def file(self, name: str) -> str | None:
        """A file to write, in a folder that is there; ``None`` for none."""
        text = self.text(name) or None
        if text is not None and (not Path(text).parent.is_dir() or Path(text).is_dir()):
            self._wrong(f"{name} must be a file in a folder that is there, not {text!r}")
        return text

    def unknown(self) -> list[str]:
        """Say of each setting with our prefix that there is no such setting, and which one may be meant."""
        found = sorted(name for name in self._settings if str(name).startswith(PREFIX) and name not in self._defaults)
        said = []
        for name in found:
            meant = get_close_matches(name, self._defaults, n=1)
            said.append(f"there is no setting {name}" + (f"; did you mean {meant[0]}?" if meant else ""))
        return said

    def _wrong(self, problem: str) -> None:
        self._problems.append(problem)
