"""The change data feed: rows that a version changed are written beside its files.

Source: delta_protocol.md, "Add CDC File".
"""

from typing import Final

from deltaweb.delta.features.feature import Feature
from deltaweb.delta.protocol.actions import Metadata, Protocol

CHANGE_DATA_FEED: Final = "changeDataFeed"
CHANGE_DATA_FEED_PROPERTY: Final = "delta.enableChangeDataFeed"
FEED_WRITER_VERSIONS: Final = range(4, 7)  # brought it, by their number
RESERVED: Final = ("_change_type", "_commit_version", "_commit_timestamp")
"""Names of columns of the feed, which no column of the table can have."""


def is_turned_on(metadata: Metadata) -> bool:
    """Return whether the property turns it on, whatever the protocol says."""
    text = metadata.configuration.get(CHANGE_DATA_FEED_PROPERTY, "")
    return text.lower() == "true"


def writes_changes(protocol: Protocol, metadata: Metadata) -> bool:
    """Return whether a change of rows is to be told beside the files."""
    is_known = (
        CHANGE_DATA_FEED in (protocol.writer_features or ())
        or protocol.min_writer_version in FEED_WRITER_VERSIONS
    )
    return is_known and is_turned_on(metadata)


def _is_hidden_by_columns(metadata: Metadata) -> bool:
    """Return whether columns of the table may be called as those of the feed."""
    schema = (metadata.schema_string or "").lower()
    return is_turned_on(metadata) and any(f'"{name}"' in schema for name in RESERVED)


FEATURE: Final = Feature(CHANGE_DATA_FEED, asks_writers=_is_hidden_by_columns)
