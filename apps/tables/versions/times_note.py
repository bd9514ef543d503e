"""Whose times a history shows, in one sentence."""

from typing import Final

from deltaweb.delta.features.in_commit_timestamps import OwnTimes

OF_FILES: Final = "commit files"
OF_COMMITS: Final = "commits"
FILE_TIMES: Final = "Times are those of the commit files."
COMMIT_TIMES: Final = "Times are those that the commits carry (in-commit timestamps)."


def times_note(own: OwnTimes | None) -> str:
    """Return the sentence for a table.

    Args:
        own: Which of its commits carry their own times.
    """
    if own is None:
        return FILE_TIMES
    if not own.first_version:
        return COMMIT_TIMES
    return (
        "Times are those that the commits carry (in-commit timestamps) from version "
        f"{own.first_version:,} on, and those of the commit files before."
    )


def times_of(own: OwnTimes | None, version: int) -> str:
    """Return whose time that of a version is, as JSON has it."""
    return OF_FILES if own is None or version < own.first_version else OF_COMMITS
