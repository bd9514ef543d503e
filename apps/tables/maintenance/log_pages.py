"""The pages of a table's log: a checkpoint, and the clean-up of what has expired."""

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from deltaweb.delta.features.registry import log_writing_refusal
from deltaweb.delta.protocol.table_properties import (
    DEFAULT_LOG_RETENTION,
    LOG_RETENTION,
    deleted_file_retention_ms,
)
from deltaweb.delta.writing.checkpoint.request import MAX_PARTS
from deltaweb.delta.writing.log_cleanup import cleanup_refusal, retention_cutoff
from deltaweb.web.tables.head.operation_page import OperationPage
from deltaweb.web.tables.head.table_head import TableHead
from deltaweb.web.tables.maintenance.editing.definitions import newest_definition
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.operations.checkpoint import CHECKPOINT, WriteCheckpoint
from deltaweb.web.tables.operations.clean_up import CLEAN_UP, CleanUp


class CheckpointForm(forms.Form):
    """Of which version, and into how many files; left empty it is a single one."""

    version = forms.IntegerField(
        min_value=0,
        required=False,
        error_messages={"invalid": "Give the number of a version."},
    )
    parts = forms.IntegerField(
        min_value=1,
        max_value=MAX_PARTS,
        required=False,
        error_messages={"invalid": f"Give a whole number from 1 to {MAX_PARTS}."},
    )


class CleanUpForm(forms.Form):
    """A clean-up asks for nothing."""


def check_checkpoint(table: Table, _asked: WriteCheckpoint) -> None:
    """Refuse a table that gets no checkpoint from us.

    Raises:
        DeltaError: With what it asks of writers, or a property that is none.
    """
    definition = newest_definition(table)
    if definition is None:
        return
    refusal = log_writing_refusal(
        definition.protocol,
        definition.metadata,
        root=table.location,
        version=definition.version,
        operation="no checkpoint",
    )
    if refusal is not None:
        raise refusal
    deleted_file_retention_ms(definition.metadata.configuration)


def check_clean_up(table: Table, _asked: CleanUp) -> None:
    """Refuse a log that is not cleaned up.

    Raises:
        DeltaError: With what the table asks of writers, or a retention that is none.
    """
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
    head: TableHead, result: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return how long the table keeps its history, and the cut of a list."""
    definition = newest_definition(head.table)
    properties = definition.metadata.configuration if definition else {}
    return {
        "retention": properties.get(LOG_RETENTION, DEFAULT_LOG_RETENTION).removeprefix(
            "interval "
        ),
        "is_default": LOG_RETENTION not in properties,
        "cutoff": parse_datetime(result["cutoff"]) if result else None,
    }


def checkpoint_shown(
    _head: TableHead, result: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return when the newest checkpoint that a look found was written."""
    newest = (result or {}).get("newest_checkpoint")
    return {"written_at": parse_datetime(newest["written_at"]) if newest else None}


CHECKPOINT_PAGE: Final = OperationPage(
    operation=CHECKPOINT,
    form=CheckpointForm,
    heading="Checkpoint",
    about="All that a reader needs of a version, without the commits before: shortens "
    "the way to it. Nothing is deleted.",
    icon="device-floppy",
    failed="The checkpoint was not written",
    check=check_checkpoint,
    more_of_table=checkpoint_shown,
    says="Nothing is deleted, and no reader sees another table.",
    does="Write the checkpoint",
)
CLEAN_UP_PAGE: Final = OperationPage(
    operation=CLEAN_UP,
    form=CleanUpForm,
    heading="Clean up the log",
    about="Commits and checkpoints that are older than the table keeps its history are "
    "deleted; data files are not touched.",
    icon="eraser",
    failed="The log was not cleaned up",
    look_words="List what would go",
    check=check_clean_up,
    more_of_table=retention_shown,
)
