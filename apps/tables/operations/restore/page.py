"""The page that brings a version of before back."""

from typing import Final

from apps.pages.changes.forms import form_of
from apps.tables.head.table_head import TableHead
from apps.tables.models import Commit
from apps.tables.operations.pages.page import OperationPage
from apps.tables.operations.restore.operation import (
    RESTORE,
    Restore,
    RestoreDetail,
)
from apps.tables.operations.stored import StoredPreview, StoredResult
from apps.tables.versions.missing_files import (
    missing_files_of,
    vacuum_version_of,
)
from deltaweb.delta.writing.transaction import CommitResult


def vacuum_shown(
    head: TableHead,
    shown: StoredPreview[RestoreDetail] | StoredResult[CommitResult] | None,
) -> dict[str, Commit | None]:
    """Return the VACUUM that took files of the version, as far as the history tells."""
    if not isinstance(shown, StoredPreview) or not shown.detail.num_missing:
        return {"vacuum": None}
    version = shown.detail.restores
    missing = missing_files_of(head.table, [version]).get(version)
    taken_at = vacuum_version_of(head.table, missing) if missing else None
    if taken_at is None:
        return {"vacuum": None}
    return {"vacuum": head.table.commits.filter(version=taken_at).first()}


RESTORE_PAGE: Final = OperationPage(
    operation=RESTORE,
    form=form_of(Restore),
    heading="Restore a version",
    about="Brings back the files of an older version and removes later ones, in a "
    "new version. Nothing is deleted from storage or from the history.",
    icon="rotate",
    failed="The version was not restored",
    more_of_table=vacuum_shown,
    picks="version",
)
