"""The page of a clean-up: which history has expired."""

from typing import Any, Final

from django.utils import timezone

from apps.pages.changes.forms import form_of
from apps.tables.head.newest import newest_definition
from apps.tables.head.table_head import TableHead
from apps.tables.models import Table
from apps.tables.operations.clean_up.operation import (
    CLEAN_UP,
    CleanedUp,
    CleanUp,
    ExpiredHistory,
)
from apps.tables.operations.pages.page import OperationPage
from apps.tables.operations.stored import StoredPreview, StoredResult
from deltaweb.delta.protocol.table_properties import (
    DEFAULT_LOG_RETENTION,
    LOG_RETENTION,
)
from deltaweb.delta.writing.log_cleanup import cleanup_refusal, retention_cutoff


def check_clean_up(table: Table, _asked: CleanUp) -> None:
    """Refuse a log that is not cleaned up."""
    definition = newest_definition(table)
    if definition is None:
        return
    metadata = definition.metadata
    retention_cutoff(metadata.configuration, now=timezone.now())
    refusal = cleanup_refusal(
        definition.protocol,
        metadata,
        root=table.location,
        version=definition.version,
    )
    if refusal is not None:
        raise refusal


def retention_shown(
    head: TableHead,
    shown: StoredPreview[ExpiredHistory] | StoredResult[CleanedUp] | None,
) -> dict[str, Any]:
    """Return how long the table keeps its history, and the cut of a list."""
    definition = newest_definition(head.table)
    properties = definition.metadata.configuration if definition else {}
    log: ExpiredHistory | None = None
    if isinstance(shown, StoredPreview):
        log = shown.detail
    elif shown is not None and shown.result is not None:
        log = shown.result.log
    return {
        "retention": properties.get(LOG_RETENTION, DEFAULT_LOG_RETENTION).removeprefix(
            "interval "
        ),
        "is_default": LOG_RETENTION not in properties,
        "cutoff": log.cutoff if log else None,
    }


CLEAN_UP_PAGE: Final = OperationPage(
    operation=CLEAN_UP,
    form=form_of(CleanUp),
    heading="Clean up the log",
    about="Deletes commits and checkpoints that are older than the table's log "
    "retention. Data files are not affected.",
    icon="eraser",
    failed="The log was not cleaned up",
    preview_words="List what would be deleted",
    check=check_clean_up,
    more_of_table=retention_shown,
)
