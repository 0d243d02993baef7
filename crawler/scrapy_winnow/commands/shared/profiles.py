"""Site profiles on the command line: ``winnow hosts --export`` and ``--import``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_winnow.commands.shared.failures import FAILED, CommandError, reason
from scrapy_winnow.commands.shared.inputs import InputError, read_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redis import Redis

_MOST_SAMPLED = 50


def export_profile(client: Redis, prefix: str, host: str, samples: Sequence[Path], output: Path | None) -> int:
    """Write the profile of a host to a file, or to standard output."""
    from scrapy_winnow.hosts.labels import HostLabels  # noqa: PLC0415
    from scrapy_winnow.profiles.profile import Profile  # noqa: PLC0415
    from winnow.fingerprints.units import FINGERPRINT_VERSION  # noqa: PLC0415

    labels = HostLabels.read(client, prefix, FINGERPRINT_VERSION, host)
    if labels is None:
        print(f"winnow: {host}: not counted, or fewer than 10 of its pages", file=sys.stderr)
        return FAILED
    profile = Profile.of(host, labels, _sampled(samples, host))
    if not samples:
        print("winnow: without --sample pages there are labels, but no selectors", file=sys.stderr)
    elif not profile.template:
        print(f"winnow: the pages of --sample have nothing of the template of {host}", file=sys.stderr)
    try:
        if output is None:
            print(profile.to_json())
        else:
            output.write_text(f"{profile.to_json()}\n", encoding="utf-8", errors="replace")
    except OSError as error:
        raise CommandError(f"-o {output}: {reason(error)}") from error
    return 0


def import_profiles(client: Redis, prefix: str, files: Sequence[str], ttl: int) -> int:
    """Make the hosts of some profiles settled ones; those that are known already stay as they are."""
    from scrapy_winnow.profiles.profile import Profile, ProfileError  # noqa: PLC0415
    from winnow.fingerprints.units import FINGERPRINT_VERSION  # noqa: PLC0415

    code = 0
    for file in files:
        try:
            profile = Profile.from_json(Path(file).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, ProfileError) as error:
            print(f"winnow: {file}: {reason(error)}", file=sys.stderr)
            code = FAILED
            continue
        if profile.labels.write(client, prefix, FINGERPRINT_VERSION, profile.host, ttl):
            print(f"{profile.host}: settled with {len(profile.labels.fingerprints):,} labels")
        else:
            print(f"winnow: {profile.host}: is known already; winnow hosts --forget makes room", file=sys.stderr)
            code = FAILED
    return code


def _sampled(samples: Sequence[Path], host: str) -> Iterator[tuple[str | None, bytes]]:
    from winnow.training.sites import page_files  # noqa: PLC0415

    files = [file for sample in samples for file in (page_files(sample) if sample.is_dir() else [sample])]
    for file in files[:_MOST_SAMPLED]:
        try:
            yield f"http://{host}/{file.name}", read_page(str(file))
        except InputError as error:
            print(f"winnow: {file}: {error}", file=sys.stderr)
