"""Writes the tables of settings, stats and options of commands into their pages; ``make docs`` runs it."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from pathlib import Path
from typing import Final

from scrapy_tamis import stats
from scrapy_tamis.commands import make_parser
from scrapy_tamis.config import SETTINGS, Config
from scrapy_tamis.stats import STATS

FOLDER: Final = Path(__file__).parent


def texts_below(where: object) -> list[str]:
    """Return what stands below the attributes of a class, or the variables of a module."""
    body = ast.parse(inspect.getsource(where)).body  # type: ignore[arg-type]
    body = body[0].body if isinstance(body[0], ast.ClassDef) else body
    return [" ".join(node.value.value.split()) for node in body[1:] if isinstance(node, ast.Expr)]


def settings_table() -> str:
    """Return the rows of the settings."""
    rows = [
        f"| `{name}` | `{row.default}` | {row.unit} | {meaning} |"
        for (name, row), meaning in zip(SETTINGS.items(), texts_below(Config), strict=True)
    ]
    return "\n".join(["| setting | default | unit | meaning |", "|---|---|---|---|", *rows, ""])


def stats_table() -> str:
    """Return the rows of the stats."""
    rows = [f"| `{name}` | {meaning} |" for name, meaning in zip(STATS, texts_below(stats)[1:], strict=True)]
    return "\n".join(["| stat | counts |", "|---|---|", *rows, ""])


def options_table(command: argparse.ArgumentParser) -> str:
    """Return the rows of a command's options."""
    rows = []
    for action in command._actions:
        if not isinstance(action, argparse._HelpAction):
            name = "`, `".join(action.option_strings) or str(action.metavar or action.dest)
            values = f" (`{'`, `'.join(map(str, action.choices))}`)" if action.choices else ""
            text = (action.help or "") % (vars(action) | {"prog": command.prog})
            text = re.sub(r"(?<![\w-])--[a-z-]+", r"`\g<0>`", text).replace("|", r"\|")
            rows.append(f"| `{name}` | {text}{values} |")
    return "\n".join(["| option | meaning |", "|---|---|", *rows, ""])


def with_table(page: str, table: str) -> str:
    """Return a page with the table in the place of the one that has the same head."""
    head = re.escape(table.partition("\n")[0])
    return re.sub(rf"^{head}\n(\|.*\n)*", lambda _: table, page, count=1, flags=re.MULTILINE)


def with_options(page: str) -> str:
    """Return the page of the commands with the table of each under its heading."""
    (commands,) = (each for each in make_parser()._actions if isinstance(each, argparse._SubParsersAction))
    parts = re.split(r"^(?=## tamis (?:\w+)$)", page, flags=re.MULTILINE)
    written = {part.split("\n")[0].removeprefix("## tamis "): part for part in parts[1:]}
    missing = commands.choices.keys() - written.keys()
    if missing:
        raise ValueError(f"{PAGE_OF_COMMANDS} has no section of {missing}")
    return parts[0] + "".join(
        part if name == "site" else with_table(part, options_table(commands.choices[name]))  # its methods have options
        for name, part in written.items()
    )


PAGE_OF_COMMANDS: Final = FOLDER / "command-line.md"
PAGES: Final = {
    FOLDER / "settings.md": lambda page: with_table(page, settings_table()),
    FOLDER / "stats.md": lambda page: with_table(page, stats_table()),
    PAGE_OF_COMMANDS: with_options,
}

if __name__ == "__main__":
    for file, written in PAGES.items():
        file.write_text(written(file.read_text(encoding="utf-8")), encoding="utf-8")
