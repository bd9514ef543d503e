"""The page of a checkpoint: what it would hold, and how far readers go without."""

from collections.abc import Mapping
from typing import Any, Final

from django.utils.dateparse import parse_datetime

from apps.tables.head.newest import newest_definition
from apps.tables.head.table_head import TableHead
from apps.tables.models import Table
from apps.tables.operations.checkpoint.operation import (
    CHECKPOINT,
    WriteCheckpoint,
)
from apps.tables.operations.pages.forms import form_of
from apps.tables.operations.pages.page import OperationPage
from deltaweb.delta.features.registry import log_writing_refusal
from deltaweb.delta.protocol.table_properties import deleted_file_retention_ms


def check_checkpoint(table: Table, _asked: WriteCheckpoint) -> None:
    """Refuse a table that gets no checkpoint from us."""
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


def checkpoint_shown(
    head: TableHead, result: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return when the newest checkpoint that was found was written, and the files.

    A look does not count those of a large log; the index knows the newest version's.
    """
    found = result or {}
    newest, table = found.get("newest_checkpoint"), head.table
    is_newest = found.get("version") == table.version
    return {
        "written_at": parse_datetime(newest["written_at"]) if newest else None,
        "indexed_files": table.num_files if is_newest else None,
    }


CHECKPOINT_PAGE: Final = OperationPage(
    operation=CHECKPOINT,
    form=form_of(WriteCheckpoint),
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
