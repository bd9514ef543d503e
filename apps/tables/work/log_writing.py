"""The record of what writes into a table's log."""

from collections.abc import Mapping
from typing import Final

from apps.pages.actions import Action, Stamp, report
from apps.tables.models import Table

MAX_FILES_NAMED: Final = 200  # of a checkpoint, or of a clean-up, oldest first


def record_log_writing(
    action: str, table: Table, *, detail: Mapping[str, object], stamp: Stamp
) -> None:
    """Record that somebody writes into a table's log.

    Args:
        action: `table.checkpoint`, `table.cleanup`, or what a commit does.
    """
    report(
        Action(
            name=action,
            stamp=stamp,
            table=table.full_name,
            table_id=table.id,
            detail=detail,
        )
    )
