"""The change data feed: the rows that each version inserted, updated and deleted.

Read the modules in this order:

    errors         why there are no changes of a range
    versions       the range, and what holds at its versions
    row_schema     the one schema that all changes are shown in
    changed_files  the files that hold the changes of a version
    changed_rows   their rows, batch by batch
    row_diff       what two versions differ by, from these
    feed_files     those files, for who reads the rows elsewhere

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
