"""What every cleaned item has, unless the settings say otherwise."""

from typing import Final

FIELDS: Final = frozenset(
    """
    url text comments title template_share confidence kind label_source label_version evidence_pages status
    site_label_version shingles
    """.split()  # noqa: SIM905
)
