"""Whose times a history shows, in one sentence."""

from collections.abc import Collection, Mapping
from typing import Final

from deltaweb.delta.table_features import IN_COMMIT_TIMESTAMP, keeps_commit_times

TIMES_OF: Final = "commit files"
FILE_TIMES: Final = "Times are those of the commit files."
NOT_COMMIT_TIMES: Final = (
    "Times are those of the commit files. This table keeps the times of its commits in "
    f"the commits ({IN_COMMIT_TIMESTAMP}), which deltaweb does not read yet."
)


def times_note(
    writer_features: Collection[str], configuration: Mapping[str, str]
) -> str:
    """Return the sentence for a table.

    Args:
        writer_features: Those of its protocol.
        configuration: The properties of its metaData.
    """
    has_own = keeps_commit_times(writer_features, configuration)
    return NOT_COMMIT_TIMES if has_own else FILE_TIMES
