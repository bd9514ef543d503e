"""The plan that undoes one commit: its files go, and the files that it removed return.

The newest commit is undone by a restore of the version before it. An older commit is
undone by an inverse commit, if the table then is as if the commit had never been made:
later commits keep their effect. No data is written, except rows for the change data
feed.

Source: delta_protocol.md, "Add File and Remove File" and "Add CDC File".
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.changes.schema import diff_schemas
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.change_feed import writes_changes
from deltaweb.delta.features.column_mapping import has_mapped_columns, mapping_mode
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS
from deltaweb.delta.features.identity_columns import differ_by_marks_alone
from deltaweb.delta.features.materialized_partitions import stores_partitions
from deltaweb.delta.features.registry import writer_features
from deltaweb.delta.features.row_tracking import assigns_row_ids
from deltaweb.delta.log.commits.partition_keys import partition_keys
from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.actions import Metadata, SetTransaction
from deltaweb.delta.protocol.schema import parse_schema
from deltaweb.delta.row_tracking.logged_fields import load_logged_fields
from deltaweb.delta.row_tracking.numbering import with_fields
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.state import load_state
from deltaweb.delta.writing.concurrent_commits import (
    WinningCommit,
    is_noted,
    read_winner,
)
from deltaweb.delta.writing.conflicts import only_grows
from deltaweb.delta.writing.errors import UndoRefusedError
from deltaweb.delta.writing.operations.restore import (
    OPERATION as RESTORE,
)
from deltaweb.delta.writing.operations.restore import (
    RestoredRows,
    count_rows,
    files_without,
    missing_files,
    restored_metadata,
    with_statistics,
)
from deltaweb.delta.writing.requirements import check_writable, row_constraints
from deltaweb.delta.writing.transaction import (
    EVERYTHING_READ,
    MARKED_FILES,
    REMOVED_FILES,
    TableRead,
    Transaction,
)

UNDO: Final = "UNDO"
NO_COUNTS: Final = RestoredRows(None, None, None, None)
OWN_APPLICATIONS: Final = "deltaweb:"
"""The prefix of the transaction identifiers that deltaweb itself writes."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class UndoPlan:
    """What the undo of a commit does, or would do.

    Attributes:
        version: The version of the commit.
        base_version: The newest version of the table.
        is_newest: Whether the table is still as the commit left it. Then the version
            before is restored, with its schema and properties.
        is_done: Whether an earlier attempt with the same `txn` has committed it.
        added: The files that return, in the columns of `MARKED_FILES`.
        removed: The files that go, in the columns of `REMOVED_FILES` and their vector.
        rows: The rows of these files and of the table.
        metadata: The metaData that returns; None if it stays the same.
        changes_schema: Whether the schema becomes another.
        feeds_changes: Whether the commit recorded its changed rows in files, so that
            the undo records them as well, in reverse.
        applications: The streams and applications whose progress the commit noted.
            They do not write its rows again.
        refusal: Why the commit cannot be undone; None if it can.
        transaction: What is committed; None if the undo is refused or done.
    """

    version: int
    base_version: int
    is_newest: bool = False
    is_done: bool = False
    added: pa.Table = field(default_factory=MARKED_FILES.empty_table)
    removed: pa.Table = field(default_factory=REMOVED_FILES.empty_table)
    rows: RestoredRows = NO_COUNTS
    metadata: Metadata | None = None
    changes_schema: bool = False
    feeds_changes: bool = False
    applications: tuple[str, ...] = ()
    refusal: DeltaError | None = None
    transaction: Transaction | None = None

    @property
    def added_bytes(self) -> int:
        return pc.sum(self.added["size"]).as_py() or 0

    @property
    def removed_bytes(self) -> int:
        return pc.sum(self.removed["size"]).as_py() or 0

    def check(self) -> None:
        """Refuse a plan that cannot be carried out."""
        if self.refusal is not None:
            raise self.refusal


def plan_undo(
    store: TableStore, version: int, *, txn: SetTransaction | None = None
) -> UndoPlan:
    """Find out what undoes a commit, or why nothing does.

    Args:
        version: The version that the commit made.
        txn: By which the log knows an undo that was committed before.

    Raises:
        VersionNotFoundError: If the table has no such version yet.
        DeltaError: If the newest version cannot be read.
    """
    now = Snapshot(store, load_state(store, None))
    if is_noted(store, txn):
        return UndoPlan(version=version, base_version=now.version, is_done=True)
    if version > now.version:
        load_state(store, version)  # says which versions there are
    try:
        return _Undo(store, now, version, txn).plan()
    except DeltaError as error:
        return UndoPlan(version=version, base_version=now.version, refusal=error)


class _Undo:
    """One commit, and the table before it, after it and now."""

    def __init__(
        self, store: TableStore, now: Snapshot, version: int, txn: SetTransaction | None
    ) -> None:
        self._store = store
        self._version = version
        self._txn = txn
        self._now = now
        if version < 1:
            reason = "it created the table"
            raise self._refused(reason, "first-version")
        self._before = self._snapshot(version - 1)
        self._after = self._snapshot(version)
        self._commit = self._read(version)
        self._changes_data = _changes_data(self._commit)

    def plan(self) -> UndoPlan:
        now, before, after = self._now, self._before, self._after
        for snapshot in (now, before, after):
            if snapshot.refusal is not None:
                raise snapshot.refusal
        added = with_statistics(before, after.files)
        removed = files_without(after.files, before.files)
        removed = removed.select([*REMOVED_FILES.names, VECTOR])
        is_newest = self._is_as_it_left_it()
        metadata = self._restored_metadata() if is_newest else None
        if not (added.num_rows or removed.num_rows or metadata):
            raise self._why_nothing()
        self._check_table(removed)
        if not is_newest:
            self._check_later(added, removed)
        if added.num_rows and assigns_row_ids(now.protocol, now.metadata):
            known = load_logged_fields(self._store, before.version).of(added["path"])
            added = with_fields(added, known)
        self._check_storage(added)
        back, _ = count_rows(before, added["path"])
        gone, _ = count_rows(after, removed["path"])
        _, total = count_rows(now, removed["path"])
        is_known = None not in (back, gone, total)
        then = total - gone + back if is_known else None  # type: ignore[operator]
        return UndoPlan(
            version=self._version,
            base_version=now.version,
            is_newest=is_newest,
            added=added,
            removed=removed,
            rows=RestoredRows(back=back, then=then, gone=gone, now=total),
            metadata=metadata,
            changes_schema=metadata is not None
            and metadata.schema_string != now.metadata.schema_string,
            feeds_changes=self._changes_data
            and writes_changes(now.protocol, metadata or now.metadata)
            and writes_changes(after.protocol, after.metadata),
            applications=tuple(
                sorted(
                    name
                    for name in self._commit.transactions
                    if not name.startswith(OWN_APPLICATIONS)
                )
            ),
            transaction=self._transaction(added, removed, metadata, is_newest),
        )

    def _transaction(
        self,
        added: pa.Table,
        removed: pa.Table,
        metadata: Metadata | None,
        is_newest: bool,  # noqa: FBT001 (passed by one caller)
    ) -> Transaction:
        num_files = self._now.num_files + added.num_rows - removed.num_rows
        back = pc.sum(added["size"]).as_py() or 0
        gone = pc.sum(removed["size"]).as_py() or 0
        only_removes = not (added.num_rows or metadata)
        return Transaction(
            base=self._now.state.definition,
            operation=RESTORE if is_newest else UNDO,
            parameters={"version": self._version - 1 if is_newest else self._version},
            read=TableRead(files=removed) if only_removes else EVERYTHING_READ,
            is_last_word=is_newest,
            added=added,
            removed=removed,
            data_change=self._changes_data,
            are_files_new=False,
            metadata=metadata,
            txn=self._txn,
            metrics={
                "numRestoredFiles": added.num_rows,
                "numRemovedFiles": removed.num_rows,
                "restoredFilesSize": back,
                "removedFilesSize": gone,
                "numOfFilesAfterRestore": num_files,
                "tableSizeAfterRestore": self._now.size_bytes + back - gone,
            },
        )

    # === The table around the commit ===

    def _snapshot(self, version: int) -> Snapshot:
        try:
            return Snapshot(self._store, load_state(self._store, version))
        except DeltaError as error:
            reason = f"the log no longer has version {version} ({error.code})"
            raise self._refused(reason, "log-cleaned") from error

    def _read(self, version: int) -> WinningCommit:
        now = self._now
        keys = partition_keys(now.protocol, now.metadata)
        try:
            return read_winner(self._store, version, keys)
        except FileNotFoundError:
            reason = f"the log no longer has the commit of version {version}"
            raise self._refused(reason, "log-cleaned") from None

    def _is_as_it_left_it(self) -> bool:
        """Whether nothing has changed since, or later commits cancel each other."""
        now, after = self._now, self._after
        if now.version == after.version:
            return True
        return (
            now.num_files == after.num_files
            and not files_without(now.files, after.files).num_rows
            and _is_same_definition(after.metadata, now.metadata)
            and now.protocol == after.protocol
        )

    def _restored_metadata(self) -> Metadata | None:
        now, before = self._now, self._before
        metadata = restored_metadata(
            now.state.definition, before.metadata, root=self._store.root
        )
        return None if metadata == now.metadata else metadata

    def _why_nothing(self) -> DeltaError:
        before, after = self._before, self._after
        if not _is_same_definition(before.metadata, after.metadata):
            return self._why_definition()
        if before.protocol != after.protocol:
            reason = "it only changed the protocol, which never goes back"
            return self._refused(reason, "protocol")
        reason = "it changed neither rows nor the table's definition"
        return self._refused(reason, "nothing")

    # === What speaks against it ===

    def _check_table(self, removed: pa.Table) -> None:
        check_writable(
            self._now.state.definition,
            root=self._store.root,
            operation=UNDO,
            removes_rows=bool(removed.num_rows) and self._changes_data,
        )

    def _check_later(self, added: pa.Table, removed: pa.Table) -> None:
        """Refuse if the table would not be as if the commit had never been made."""
        if not _is_same_definition(self._before.metadata, self._after.metadata):
            raise self._why_definition()
        live = self._now.files
        lost = files_without(removed, live)
        if lost.num_rows:
            raise self._replaced(lost)
        if not added.num_rows:
            return
        others = files_without(live, removed)
        is_there = pc.is_in(added["path"], value_set=others["path"].combine_chunks())
        if pc.any(is_there).as_py():
            path = added["path"].filter(is_there)[0]
            reason = f"the file {path} that it removed is in the table again"
            raise self._refused(reason, "files-returned")
        misfit = self._misfit(added)
        if misfit:
            raise self._refused(misfit, "definition")
        if self._changes_data:
            self._check_effects()

    def _why_definition(self) -> DeltaError:
        before, after = self._before.metadata, self._after.metadata
        part = "schema" if before.schema_string != after.schema_string else "properties"
        commit = next(self._later(), None)
        why = f"{_named(commit)} is based on it" if commit else "a restore keeps it"
        return self._refused(f"it changed the {part}, and {why}", "definition", commit)

    def _replaced(self, lost: pa.Table) -> DeltaError:
        """Name the first later commit that removed a file that the commit added."""
        for commit in self._later():
            paths = commit.removed["path"].combine_chunks()
            found = lost["path"].filter(pc.is_in(lost["path"], value_set=paths))
            if len(found):
                does = "removed or rewrote" if _changes_data(commit) else "rewrote"
                path = str(found[0])
                return self._refused(
                    f"{_named(commit)} {does} a file that it added ({path:.300})",
                    "files-rewritten",
                    commit,
                )
        path = str(lost["path"][0])
        reason = f"a file that it added is no longer in the table ({path:.300})"
        return self._refused(reason, "files-rewritten")

    def _check_effects(self) -> None:
        """Refuse if a later commit might have treated the returning rows as well."""
        for commit in self._later():
            is_append = commit.is_blind_append and not commit.removed.num_rows
            if _changes_data(commit) and not is_append:
                reason = (
                    f"{_named(commit)} changed rows later, and would perhaps have "
                    "changed the rows that return"
                )
                raise self._refused(reason, "later-change", commit)

    def _later(self) -> Iterator[WinningCommit]:
        for version in range(self._version + 1, self._now.version + 1):
            yield self._read(version)

    def _misfit(self, added: pa.Table) -> str:
        """Return why files of the version before do not fit the table now."""
        before, now = self._before, self._now
        old, new = before.metadata, now.metadata
        known = {(one.name, one.sql) for one in row_constraints(old)}
        for constraint in row_constraints(new):
            if (constraint.name, constraint.sql) not in known:
                return f"the constraint {constraint.name} was added since"
        if not (_is_same_definition(old, new) or only_grows(old, new)):
            return "the schema has changed since"
        needed = _new_required_column(old, new)
        if needed:
            return f"the column {needed} was added since, and takes no null"
        return self._layout_misfit(added)

    def _layout_misfit(self, added: pa.Table) -> str:
        """Return why the table's files are written in another way since."""
        before, now = self._before, self._now
        old, new = before.metadata, now.metadata
        if [*old.partition_columns] != [*new.partition_columns]:
            return "the table has other partition columns since"
        modes = {
            mapping_mode(one.metadata.configuration)
            if has_mapped_columns(one.protocol, one.metadata)
            else "none"
            for one in (before, now)
        }
        if len(modes) > 1:
            return "the table's column mapping has changed since"
        stores = [stores_partitions(at.protocol, at.metadata) for at in (before, now)]
        if stores == [False, True]:
            return "files must contain the partition columns since"
        has_vectors = added[VECTOR].null_count < added.num_rows
        if has_vectors and DELETION_VECTORS not in writer_features(now.protocol):
            return "the table has no deletion vectors any more"
        return ""

    def _check_storage(self, added: pa.Table) -> None:
        missing = [*missing_files(self._store, added)]
        if missing:
            raise UndoRefusedError(
                root=self._store.root,
                version=self._version,
                kind="files-missing",
                reason=f"{len(missing):,} of the files that would return are gone "
                f"from storage, perhaps vacuumed ({missing[0]:.300})",
                paths=tuple(missing),
            )

    def _refused(
        self, reason: str, kind: str, later: WinningCommit | None = None
    ) -> UndoRefusedError:
        return UndoRefusedError(
            root=self._store.root,
            version=self._version,
            reason=reason,
            kind=kind,
            later=None if later is None else later.version,
            newest=self._now.version,
        )


def _changes_data(commit: WinningCommit) -> bool:
    return any(
        bool(pc.any(files["data_change"]).as_py())
        for files in (commit.added, commit.removed)
    )


def _is_same_definition(before: Metadata, after: Metadata) -> bool:
    return before == after or differ_by_marks_alone(before, after)


def _new_required_column(before: Metadata, after: Metadata) -> str:
    """Return the first column that files of before lack and that takes no null."""
    if before.schema_string == after.schema_string:
        return ""
    schemas = [parse_schema(one.schema_string or "") for one in (before, after)]
    for change in diff_schemas(*schemas).added:
        if change.after is not None and not change.after.nullable:
            return change.name
    return ""


def _named(commit: WinningCommit) -> str:
    operation = f" ({commit.operation:.80})" if commit.operation else ""
    return f"version {commit.version}{operation}"
