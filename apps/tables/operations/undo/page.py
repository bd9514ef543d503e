"""The page that undoes a commit."""

from collections.abc import Mapping
from typing import Final

from apps.pages.changes.forms import form_of
from apps.tables.head.table_head import TableHead
from apps.tables.models import Commit
from apps.tables.operations.pages.page import OperationPage
from apps.tables.operations.stored import StoredPreview, StoredResult
from apps.tables.operations.undo.operation import UNDO, Undo, UndoDetail
from deltaweb.delta.writing.transaction import CommitResult


def commit_shown(
    head: TableHead,
    shown: StoredPreview[UndoDetail] | StoredResult[CommitResult] | None,
) -> Mapping[str, Commit | None]:
    """Return the commit that the preview is about, if the index has it."""
    if not isinstance(shown, StoredPreview):
        return {"undone": None}
    commits = head.table.commits.filter(version=shown.detail.undoes)
    return {"undone": commits.defer("parameters", "metrics").first()}


UNDO_PAGE: Final = OperationPage(
    operation=UNDO,
    form=form_of(Undo),
    heading="Undo a commit",
    about="Commits the reverse of one commit: rows that it added go, and rows that it "
    "removed return. Later commits keep their effect, and no version is lost.",
    icon="rotate",
    failed="The commit was not undone",
    more_of_table=commit_shown,
    picks="version",
)
