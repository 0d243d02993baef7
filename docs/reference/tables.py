"""Writes the tables of settings, stats and options of commands into their pages; ``make docs`` runs it."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy_tamis import stats
from scrapy_tamis.commands import make_parser
from scrapy_tamis.config import PREFIX, SETTINGS, Config
from scrapy_tamis.stats import STATS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FOLDER: Final = Path(__file__).parent


def texts_below(where: object) -> list[str]:
    """Return what stands below the attributes of a class, or the variables of a module."""
    body = ast.parse(inspect.getsource(where)).body  # type: ignore[arg-type]
    body = body[0].body if isinstance(body[0], ast.ClassDef) else body
    return [" ".join(node.value.value.split()) for node in body[1:] if isinstance(node, ast.Expr)]


GROUPS: Final = {
    "What is kept": ["CLEAN", "RULES"],
    "What is written on items": ["FIELD_NAMES", "OUTPUTS", "KEEP_HTML"],
    "Near-duplicates": ["DUPLICATES", "DUPLICATES_RESEMBLANCE"],
    "Where Tamis works": ["ENABLED", "REQUIRED", "SITE_EVIDENCE", "READ_ONLY", "PROCESSES"],
    "Redis": ["REDIS_URL", "REDIS_PREFIX", "REDIS_TIMEOUT", "REDIS_RETRY_INTERVAL", "STATE_DIR", "STATE_BYTES"],
    "How much is remembered": ["HOST_BUDGET", "SETTLE_PAGES", "DOMAIN_HOSTS", "TTL"],
    "Reports": ["REPORT", "METRICS"],
}
"""The settings by task."""


def settings_by_task() -> str:
    """Return a section for each task, with a heading for each setting."""
    meanings = dict(zip(SETTINGS, texts_below(Config), strict=True))
    lines = []
    for task, names in GROUPS.items():
        lines += [f"## {task}", ""]
        for name in (f"{PREFIX}{name}" for name in names):
            unit = f" ({SETTINGS[name].unit})" if SETTINGS[name].unit else ""
            lines += [
                f"### {name}",
                "",
                f"Default: `{SETTINGS[name].default}`{unit}. {_sentence(meanings.pop(name))}",
                "",
            ]
    if meanings:
        raise ValueError(f"{', '.join(meanings)}: in no group of GROUPS")
    return "\n".join(lines)


def _sentence(text: str) -> str:
    return re.sub(r"^\[?\w", lambda begin: begin[0].upper(), text) + "."


def with_settings(page: str) -> str:
    """Return the page with the settings between its marks."""
    begin, end = "<!-- settings -->\n", "<!-- /settings -->\n"
    return f"{page.partition(begin)[0]}{begin}\n{settings_by_task()}\n{end}{page.partition(end)[2]}"


def stats_table() -> str:
    """Return the rows of the stats."""
    rows = [f"| `{name}` | {meaning} |" for name, meaning in zip(STATS, texts_below(stats)[1:], strict=True)]
    return "\n".join(["| stat | counts |", "|---|---|", *rows, ""])


def options_list(command: argparse.ArgumentParser, shared: Mapping[str, str]) -> str:
    """Return the list of a command's options; those that mean the same in several commands are one entry."""
    listed, same = [], []
    for name, text in _options(command):
        if shared.get(name) == text:
            same.append(f"`{name}`")
        else:
            listed.append(f"* `{name}`: {text}")
    if same:
        listed.append(f"* *also* {', '.join(same)}")
    return _options_list(listed)


def _options_list(listed: list[str]) -> str:
    return "\n".join(["Options:", "", *listed, ""])


def _options(command: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """Each option of a command, and what it means."""
    for action in command._actions:
        if not isinstance(action, argparse._HelpAction):
            name = "`, `".join(action.option_strings) or str(action.metavar or action.dest)
            values = f" (`{'`, `'.join(map(str, action.choices))}`)" if action.choices else ""
            text = (action.help or "") % (vars(action) | {"prog": command.prog})
            text = re.sub(r"(?<![\w-])--[a-z-]+", r"`\g<0>`", text)
            yield name, text + values


def with_table(page: str, table: str) -> str:
    """Return a page with the table in the place of the one that has the same head."""
    head = re.escape(table.partition("\n")[0])
    return re.sub(rf"^{head}\n(\|.*\n)*", lambda _: table, page, count=1, flags=re.MULTILINE)


def with_list(part: str, options: str) -> str:
    """Return a section with its list of options."""
    return re.sub(r"^Options:\n\n(?:\* .*\n)*", lambda _: options, part, count=1, flags=re.MULTILINE)


def with_options(page: str) -> str:
    """Return the page of the commands with the options of each under its heading."""
    (commands,) = (each for each in make_parser()._actions if isinstance(each, argparse._SubParsersAction))
    parts = re.split(r"^(?=## tamis (?:\w+)$)", page, flags=re.MULTILINE)
    written = {part.split("\n")[0].removeprefix("## tamis "): part for part in parts[1:]}
    missing = commands.choices.keys() - written.keys()
    if missing:
        raise ValueError(f"{PAGE_OF_COMMANDS} has no section of {missing}")
    everywhere = [option for command in commands.choices.values() for option in _options(command)]
    shared = {name: text for name, text in everywhere if name in SHARED and everywhere.count((name, text)) > 1}
    first = _options_list([f"* `{name}`: {shared[name]}" for name in SHARED])
    return with_list(parts[0], first) + "".join(
        part if name == "site" else with_list(part, options_list(commands.choices[name], shared))
        for name, part in written.items()  # the methods of `site` have options, too
    )


SHARED: Final = (
    "--model",
    "--scope",
    "--favor",
    "--rules",
    "--redis-url",
    "--state-dir",
    "--prefix",
    "--port",
    "--no-browser",
)
"""Options that mean the same in several commands."""

PAGE_OF_COMMANDS: Final = FOLDER / "command-line.md"
PAGES: Final = {
    FOLDER / "settings.md": with_settings,
    FOLDER / "stats.md": lambda page: with_table(page, stats_table()),
    PAGE_OF_COMMANDS: with_options,
}

if __name__ == "__main__":
    for file, written in PAGES.items():
        file.write_text(written(file.read_text(encoding="utf-8")), encoding="utf-8")
