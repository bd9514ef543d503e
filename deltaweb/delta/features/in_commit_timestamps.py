"""In-commit timestamps: commits carry their own times.

A table that was given them later has commits without: which these are, its properties
say, and the times of those are of their files.

Source: delta_protocol.md, "In-Commit Timestamps".
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from deltaweb.delta.features.feature import Feature
from deltaweb.delta.protocol.actions import Metadata, Protocol

IN_COMMIT_TIMESTAMP: Final = "inCommitTimestamp"
IN_COMMIT_TIMESTAMPS: Final = "delta.enableInCommitTimestamps"
ENABLED_AT_VERSION: Final = "delta.inCommitTimestampEnablementVersion"
ENABLED_AT_MS: Final = "delta.inCommitTimestampEnablementTimestamp"
_LONG = re.compile(r"[0-9]{1,18}", re.ASCII)


@dataclass(frozen=True, slots=True)
class OwnTimes:
    """Which commits of a table carry their own times.

    Attributes:
        since_ms: Its time, in milliseconds since the Unix epoch; None where all do.
    """

    first_version: int = 0
    since_ms: int | None = None


def has_in_commit_timestamps(configuration: Mapping[str, str]) -> bool:
    """Return whether the property turns them on, whatever the protocol says."""
    return configuration.get(IN_COMMIT_TIMESTAMPS, "false").lower() == "true"


def own_times(protocol: Protocol, metadata: Metadata) -> OwnTimes | None:
    """Return which commits carry their own times, None where files have them.

    As with mapping, the property alone means nothing.
    """
    return own_times_of(protocol.writer_features or (), metadata.configuration)


def own_times_of(
    writer_features: Collection[str], configuration: Mapping[str, str]
) -> OwnTimes | None:
    """Return the same by the parts of a protocol and a metaData that say it."""
    if IN_COMMIT_TIMESTAMP not in writer_features:
        return None
    if not has_in_commit_timestamps(configuration):
        return None
    first, since = (
        int(text) if _LONG.fullmatch(text) else None
        for text in (
            configuration.get(ENABLED_AT_VERSION, ""),
            configuration.get(ENABLED_AT_MS, ""),
        )
    )
    return OwnTimes() if first is None else OwnTimes(first, since)


FEATURE: Final = Feature(IN_COMMIT_TIMESTAMP, is_written=True)
