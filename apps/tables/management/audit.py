"""The record of what a command wrote into a table."""

from django.utils import timezone

from deltaweb.web.pages.actions import COMMAND_LINE
from deltaweb.web.tables.catalogue.registration import find_table
from deltaweb.web.tables.work.log_writing import record_log_writing


def record(action: str, name: str | None, **detail: object) -> None:
    """Record what was done to a table; nothing where it is not registered."""
    if name is not None:
        record_log_writing(
            action,
            find_table(name),
            detail=detail,
            actor=COMMAND_LINE,
            now=timezone.now(),
        )
