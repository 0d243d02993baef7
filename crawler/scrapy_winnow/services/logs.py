"""Log lines as JSON, one object a line, for those who collect them."""

from __future__ import annotations

import datetime
import json
import logging
import sys
from typing import Final

FORMATS: Final = ("text", "json")

_OF_A_RECORD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """Formats a record as one JSON object: ``time``, ``level``, ``logger``, ``message``, and its extra fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line."""
        about = {
            "time": datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        about |= {name: value for name, value in vars(record).items() if name not in _OF_A_RECORD}
        if record.exc_info:
            about["exception"] = self.formatException(record.exc_info)
        return json.dumps(about, ensure_ascii=False, default=str)


def log_to_stderr(form: str, text: str) -> None:
    """Send what is logged to standard error.

    Args:
        form: one of :data:`FORMATS`.
        text: format of a line of text.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else logging.Formatter(text))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
