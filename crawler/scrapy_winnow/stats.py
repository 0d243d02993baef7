"""The names of the stats; ``docs/reference/stats.md`` says what each one counts. There are no others."""

from __future__ import annotations

from typing import Final

PAGES_COUNTED: Final = "winnow/pages/counted"
PAGES_REPLACED: Final = "winnow/pages/replaced"
PAGES_SETTLED: Final = "winnow/pages/settled"
PAGES_REPEATED: Final = "winnow/pages/repeated"
PAGES_UNCOUNTED: Final = "winnow/pages/uncounted"
PAGES_READ: Final = "winnow/pages/read"
PAGES_SKIPPED: Final = "winnow/pages/skipped"
PAGES_TOO_LARGE: Final = "winnow/pages/too_large"
PAGES_FAILED: Final = "winnow/pages/failed"

HOSTS_SETTLED: Final = "winnow/hosts/settled"
HOSTS_REOPENED: Final = "winnow/hosts/reopened"

ITEMS_CLEANED: Final = "winnow/items/cleaned"
ITEMS_WITH_EVIDENCE: Final = "winnow/items/with_site_evidence"
ITEMS_WITH_COMMENTS: Final = "winnow/items/with_comments"
ITEMS_FALLBACK: Final = "winnow/items/fallback"
ITEMS_EMPTY: Final = "winnow/items/empty"
ITEMS_TOO_LARGE: Final = "winnow/items/too_large"
ITEMS_IN_PROCESS: Final = "winnow/items/in_process"
ITEMS_IN_THREAD: Final = "winnow/items/in_thread"
ITEMS_WITHOUT_HTML: Final = "winnow/items/without_html"
ITEMS_NOT_HTML: Final = "winnow/items/not_html"
ITEMS_OPTED_OUT: Final = "winnow/items/opted_out"
ITEMS_FAILED: Final = "winnow/items/failed"
ITEMS_INCOMPLETE: Final = "winnow/items/incomplete"
ITEMS_WITHOUT_FIELD: Final = "winnow/items/without_field"
ITEMS_DUPLICATE: Final = "winnow/items/duplicate"
ITEMS_DROPPED: Final = "winnow/items/dropped"

CORRECTIONS_SENT: Final = "winnow/corrections/sent"
CORRECTIONS_UNCHANGED: Final = "winnow/corrections/unchanged"
CORRECTIONS_NO_ROOM: Final = "winnow/corrections/no_room"

LEARNING_EXAMPLES: Final = "winnow/learning/examples"
LEARNING_LEFT_OUT: Final = "winnow/learning/left_out"
LEARNING_MODELS: Final = "winnow/learning/models"
LEARNING_REFUSED: Final = "winnow/learning/refused"

WARC_WRITTEN: Final = "winnow/warc/written"
WARC_FAILED: Final = "winnow/warc/failed"

PROCESSES_DIED: Final = "winnow/processes/died"

REDIS_FAILURES: Final = "winnow/redis/failures"
REDIS_OUTAGES: Final = "winnow/redis/outages"
