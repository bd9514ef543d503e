"""The page that brings a version of before back."""

from collections.abc import Mapping
from typing import Any, Final

from apps.tables.head.table_head import TableHead
from apps.tables.models import Commit
from apps.tables.operations.pages.forms import form_of
from apps.tables.operations.pages.page import OperationPage
from apps.tables.operations.restore.operation import RESTORE, Restore
from apps.tables.versions.missing_files import (
    missing_files_of,
    vacuum_version_of,
)


def vacuum_shown(
    head: TableHead, result: Mapping[str, Any] | None
) -> dict[str, Commit | None]:
    """Return the VACUUM that took files of the version, as far as the history tells."""
    version = (result or {}).get("restores")
    if not isinstance(version, int) or not (result or {}).get("num_missing"):
        return {"vacuum": None}
    missing = missing_files_of(head.table, [version]).get(version)
    taken_at = vacuum_version_of(head.table, missing) if missing else None
    if taken_at is None:
        return {"vacuum": None}
    return {"vacuum": head.table.commits.filter(version=taken_at).first()}


RESTORE_PAGE: Final = OperationPage(
    operation=RESTORE,
    form=form_of(Restore),
    heading="Restore a version",
    about="The files of that version are restored, and later files are removed. The "
    "table gets a new version; nothing is deleted from storage, and nothing of the "
    "history.",
    icon="rotate",
    failed="The version was not restored",
    more_of_table=vacuum_shown,
)
