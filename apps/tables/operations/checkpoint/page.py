"""The page of a checkpoint: what it would hold, and how far readers go without."""

from typing import Final

from apps.pages.changes.forms import form_of
from apps.tables.head.newest import newest_definition
from apps.tables.head.table_head import TableHead
from apps.tables.models import Table
from apps.tables.operations.checkpoint.operation import (
    CHECKPOINT,
    CheckpointDetail,
    CheckpointDone,
    WriteCheckpoint,
)
from apps.tables.operations.pages.page import OperationPage
from apps.tables.operations.stored import StoredPreview, StoredResult
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
    head: TableHead,
    shown: StoredPreview[CheckpointDetail] | StoredResult[CheckpointDone] | None,
) -> dict[str, int | None]:
    """Return the files of the version that was looked at, if it is the newest one.

    A look does not count those of a large log; the index knows the newest version's.
    """
    known, table = None, head.table
    if isinstance(shown, StoredPreview) and shown.version == table.version:
        known = table.num_files
    return {"indexed_files": known}


CHECKPOINT_PAGE: Final = OperationPage(
    operation=CHECKPOINT,
    form=form_of(WriteCheckpoint),
    heading="Checkpoint",
    about="Saves the table's state so readers need not replay earlier commits. Nothing "
    "is deleted.",
    icon="device-floppy",
    failed="The checkpoint was not written",
    check=check_checkpoint,
    more_of_table=checkpoint_shown,
    says="Nothing is deleted, and readers see the same table.",
    does="Write the checkpoint",
)
