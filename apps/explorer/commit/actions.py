"""The actions of a commit as storage holds them, or why they are not to be had."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from apps.explorer.grid import SHOWN_LENGTH, named_value
from apps.explorer.history.parameters import decoded
from apps.pages.page_json import Named, OnPage
from apps.pages.request.server_paths import text_for_reader
from apps.tables.models import Commit, Table
from apps.tables.storage.bounded_read import StorageSlowError, read_within
from apps.tables.storage.opening import open_table, roots_of_server
from deltaweb.delta.errors import DeltaError, LogCorruptError
from deltaweb.words import cut

ARCHIVED_PROBLEM = "The table's log was cleaned, and its file went with it."
ARCHIVED_HINT = (
    "What was indexed of it before is all here; "
    "its raw actions and the paths of its files are gone."
)
SLOW_HINT = "What is indexed is shown; reload the page to try again."
MAX_ACTIONS_SHOWN = 50
MAX_ACTION_LENGTH = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A file that the commit added or removed; None is what it does not tell."""

    path: str
    size_bytes: Annotated[int | None, Named("size")]
    partition: str
    num_records: int | None
    is_added: OnPage[bool]
    data_change: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitActions:
    """The actions of a commit file, or why storage could not give them.

    `is_broken` tells a commit that does not read, now or later, from storage that does
    not answer now.
    """

    raw: Sequence[Mapping[str, Any]] = ()
    added: Sequence[FileChange] = ()
    removed: Sequence[FileChange] = ()
    partitions: Sequence[tuple[str, int, int]] = ()  # partition, added, removed
    problem: str = ""
    hint: str = ""
    is_broken: bool = False

    @property
    def shown(self) -> list[str]:
        """The first actions as text, long ones cut."""
        return [_action_text(action) for action in self.raw[:MAX_ACTIONS_SHOWN]]

    @property
    def num_hidden(self) -> int:
        return max(len(self.raw) - MAX_ACTIONS_SHOWN, 0)


def with_known_rows(actions: CommitActions, commit: Commit) -> CommitActions:
    """Fill in the rows of a removed file that the commit alone does not tell.

    The log told of them when the file was added; the index has kept their sum.
    """
    without_rows = [file for file in actions.removed if file.num_records is None]
    num_rows = sum(file.num_records or 0 for file in actions.removed)
    is_whole = len(actions.removed) == commit.num_removed_files
    if commit.removed_rows is None or len(without_rows) != 1 or not is_whole:
        return actions
    rows = commit.removed_rows - num_rows
    if rows < 0:
        return actions
    filled = replace(without_rows[0], num_records=rows)
    removed = [filled if file is without_rows[0] else file for file in actions.removed]
    return replace(actions, removed=removed)


def commit_actions(
    table: Table, commit: Commit, partition_names: Mapping[str, str] | None = None
) -> CommitActions:
    """Read one commit file from storage, within a second.

    The one thing a page asks of storage; when it fails, that is told in the answer.
    Storage is not asked for what the log has lost.
    """
    if commit.is_archived:
        return CommitActions(problem=ARCHIVED_PROBLEM, hint=ARCHIVED_HINT)
    version = commit.version
    try:
        log = open_table(table, roots=roots_of_server())  # asks the database
        raw = read_within(lambda: log.read_commit(version))
    except LogCorruptError as error:
        return _unread(error, table, is_broken=True)
    except DeltaError as error:
        return _unread(error, table)
    except StorageSlowError as error:
        return CommitActions(problem=str(error), hint=SLOW_HINT)
    return _commit_actions(raw, partition_names or {})


def _unread(
    error: DeltaError, table: Table, *, is_broken: bool = False
) -> CommitActions:
    return CommitActions(
        problem=text_for_reader(error.message, table.location),
        hint=text_for_reader(error.hint, table.location),
        is_broken=is_broken,
    )


def _commit_actions(
    raw: Sequence[Mapping[str, Any]], names: Mapping[str, str]
) -> CommitActions:
    added, removed = (
        [_file_change(action[kind], names, kind) for action in _holding(raw, kind)]
        for kind in ("add", "remove")
    )
    counts: Counter[tuple[str, bool]] = Counter(
        (change.partition, change.is_added) for change in (*added, *removed)
    )
    partitions = sorted({partition for partition, _ in counts if partition})
    per_partition = [(p, counts[p, True], counts[p, False]) for p in partitions]
    per_partition.sort(key=lambda entry: (-(entry[1] + entry[2]), entry[0]))
    return CommitActions(
        raw=raw, added=added, removed=removed, partitions=per_partition
    )


def _holding(
    raw: Sequence[Mapping[str, Any]], name: str
) -> Iterator[Mapping[str, Any]]:
    return (action for action in raw if isinstance(action.get(name), Mapping))


def _file_change(
    action: Mapping[str, Any], names: Mapping[str, str], kind: str
) -> FileChange:
    size = action.get("size")
    values = action.get("partitionValues")
    return FileChange(
        path=str(action.get("path", "")),
        size_bytes=size if isinstance(size, int) else None,
        partition=_partition_text(values, names) if isinstance(values, Mapping) else "",
        num_records=_live_records(action),
        is_added=kind == "add",
        data_change=action.get("dataChange") is not False,
    )


def _partition_text(values: Mapping[str, Any], names: Mapping[str, str]) -> str:
    text = " / ".join(
        named_value(names.get(key, key), value) for key, value in values.items()
    )
    return cut(text, SHOWN_LENGTH)


def _live_records(action: Mapping[str, Any]) -> int | None:
    """Return the rows of a file that its deletion vector leaves; None if unknown."""
    count, vector = _num_records(action.get("stats")), action.get("deletionVector")
    if count is None or not isinstance(vector, Mapping):
        return count
    deleted = vector.get("cardinality")
    if not isinstance(deleted, int) or not 0 <= deleted <= count:
        return None
    return count - deleted


def _num_records(stats: object) -> int | None:
    parsed = decoded(stats)
    count = parsed.get("numRecords") if isinstance(parsed, dict) else None
    return count if isinstance(count, int) else None


def _action_text(action: Mapping[str, Any]) -> str:
    text = json.dumps(action, indent=2, ensure_ascii=False)
    if len(text) <= MAX_ACTION_LENGTH:
        return text
    num_cut = len(text) - MAX_ACTION_LENGTH
    return f"{text[:MAX_ACTION_LENGTH]}\n… {num_cut:,} more characters"
