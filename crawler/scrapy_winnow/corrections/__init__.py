"""``WINNOW_CORRECTIONS``: early pages of a host wait on disk until it has settled, and are cleaned again."""
