"""The change data feed: the rows that each version inserted, updated and deleted.

Source: delta_protocol.md, "Add CDC File" and "Change Data Files".
"""

from typing import TYPE_CHECKING

from deltaweb.delta.feed.changed_rows import FeedRequest, read_changes
from deltaweb.delta.feed.errors import (
    FeedFileMissingError,
    FeedOffError,
    FeedRangeError,
    FeedSchemaError,
)
from deltaweb.delta.feed.row_schema import (
    COMMIT_TIMESTAMP,
    COMMIT_VERSION,
    FEED_COLUMNS,
)
from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.delta.feed import row_diff as row_diff
    from deltaweb.delta.feed import versions as versions
else:
    __getattr__ = modules_on_demand(__name__)

__all__ = [
    "COMMIT_TIMESTAMP",
    "COMMIT_VERSION",
    "FEED_COLUMNS",
    "FeedFileMissingError",
    "FeedOffError",
    "FeedRangeError",
    "FeedRequest",
    "FeedSchemaError",
    "read_changes",
]
