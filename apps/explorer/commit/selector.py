"""One commit: what it says of itself, and its actions as storage holds them."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.urls import reverse

from deltaweb.delta.errors import DeltaError, LogCorruptError
from deltaweb.delta.log.commits.partition_keys import partition_keys
from deltaweb.web.accounts.models import User
from deltaweb.web.explorer.commit.changes import (
    Change,
    metadata_changes,
    protocol_changes,
)
from deltaweb.web.explorer.grid.cells import named_value, shortened
from deltaweb.web.explorer.grid.long_texts import SHOWN_LENGTH
from deltaweb.web.explorer.history.parameters import (
    Parameter,
    commit_parameters,
    decoded,
    format_predicate,
    value_text,
    words_of,
)
from deltaweb.web.explorer.history.selector import commit_data
from deltaweb.web.explorer.version.page import TablePage
from deltaweb.web.explorer.version.table_version import TableVersion, table_version
from deltaweb.web.pages.errors import PageError
from deltaweb.web.pages.page_json import Named, OnPage, Spread, in_json
from deltaweb.web.pages.paging import Paged, PageLinks, paged
from deltaweb.web.pages.request.server_paths import text_for_reader
from deltaweb.web.tables.models import Commit, Table
from deltaweb.web.tables.storage.bounded_read import StorageSlowError, read_within
from deltaweb.web.tables.storage.opening import open_table, roots_of_server

ARCHIVED_PROBLEM = "The table's log was cleaned, and its file went with it."
ARCHIVED_HINT = (
    "What was indexed of it before is all here; "
    "its raw actions and the paths of its files are gone."
)
SLOW_HINT = "What is indexed is shown; reload the page to try again."
MAX_FILES_SHOWN = 200
CHANGES_A_PAGE = 200
MAX_ACTIONS_SHOWN = 50
MAX_ACTION_LENGTH = 4000
MAX_PARTITIONS_SHOWN = 8


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
        """How many actions the page leaves to the download."""
        return max(len(self.raw) - MAX_ACTIONS_SHOWN, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """What the writer recorded, named in words; `size_bytes` where it is a size."""

    name: str
    label: str
    value: str
    exact: str = ""
    size_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class CommitPage(TablePage):
    """One commit: its sentence, metrics, files, changes and raw actions.

    Attributes:
        facts: What the JSON form has of it.
        num_changes: How many changes of metadata and protocol it makes.
        changes: Some of these.
    """

    commit: OnPage[Commit]
    facts: Spread[Mapping[str, object]]
    predicate: OnPage[str]
    parameters: OnPage[Sequence[Parameter]]
    metrics: OnPage[Sequence[Metric]]
    num_changes: int
    changes: Sequence[Change]
    paged: OnPage[Paged]
    previous_version: OnPage[int | None]
    next_version: OnPage[int | None]
    actions: OnPage[CommitActions]
    links: Spread[PageLinks] = field(default_factory=PageLinks)

    @in_json
    def added(self) -> Sequence[FileChange]:
        """The files that it adds."""
        return self.actions.added

    @in_json
    def removed(self) -> Sequence[FileChange]:
        """The files that it removes."""
        return self.actions.removed

    @in_json
    def actions_unavailable(self) -> str | None:
        """Why its actions are not there."""
        return self.actions.problem or None

    @property
    def leaf(self) -> str:
        """What the way here ends with."""
        return f"v{self.commit.version}"

    @property
    def shown_added(self) -> Sequence[FileChange]:
        """The first of the files that were added."""
        return self.actions.added[:MAX_FILES_SHOWN]

    @property
    def shown_removed(self) -> Sequence[FileChange]:
        """The first of the files that were removed."""
        return self.actions.removed[:MAX_FILES_SHOWN]

    @property
    def partitions(self) -> Sequence[tuple[str, int, int]]:
        """The first of the partitions that files came to or went from."""
        return self.actions.partitions[:MAX_PARTITIONS_SHOWN]

    @property
    def has_changed_rows(self) -> bool:
        """Whether its rows can be compared with those of the version before."""
        unreadable = {Commit.Readability.GONE, Commit.Readability.UNSUPPORTED}
        return (
            self.previous_version == self.commit.version - 1
            and self.commit.readability not in unreadable
            and self.commit.changes_files
        )

    @property
    def has_feed(self) -> bool:
        """Whether the table recorded which rows it changed."""
        return self.commit.is_in_feed(self.at.metadata)

    @property
    def are_rows_few(self) -> bool:
        """Whether comparing them reads so little that nobody need see it first."""
        size_bytes = self.commit.added_bytes + (self.commit.removed_bytes or 0)
        return size_bytes <= settings.SPARK_DIFF_BYTES

    @property
    def is_cut(self) -> bool:
        """Whether the commit holds more than the page has read of it."""
        return not self.actions.problem and (
            len(self.actions.added) < self.commit.num_added_files
            or len(self.actions.removed) < self.commit.num_removed_files
        )


def find_commit(at: TableVersion, version: int) -> Commit:
    """Return the commit that made a version.

    Raises:
        PageError: 404 when nobody indexed it before the log lost it.
    """
    commit = at.table.commits.filter(version=version).first()
    if commit is None:
        names = [at.table.namespace, at.table.name]
        raise PageError(
            status=404,
            code="commit-not-found",
            message=f"The log no longer holds the commit of version {version}.",
            hint="The history lists the commits that are known.",
            way_out=("To the history", reverse("explorer:commit-list", args=names)),
        )
    return commit


def commit_page(
    user: User | AnonymousUser, namespace: str, name: str, version: int, page: int = 1
) -> CommitPage:
    """Return one commit of a table, with a page of its changes.

    Raises:
        PageError: 404 when the table or the commit is not known.
    """
    at = table_version(user, namespace, name, str(version))
    commit = find_commit(at, version)
    neighbours = at.table.commits.order_by().values_list("version", flat=True)
    parameters = dict(commit.parameters or {})
    predicate = format_predicate(parameters.pop("predicate", None))
    changes = _changes(at.table, commit)
    place = paged(len(changes), page, length=CHANGES_A_PAGE)
    facts = {"parameters": commit.parameters, "metrics": commit.metrics}
    return CommitPage(
        at=at,
        commit=commit,
        facts=commit_data(commit) | facts,
        predicate=predicate,
        parameters=commit_parameters(parameters),
        metrics=[
            metric(key, value) for key, value in sorted((commit.metrics or {}).items())
        ],
        num_changes=len(changes),
        changes=changes[place.rows],
        paged=place,
        previous_version=neighbours.filter(version__lt=version)
        .order_by("-version")
        .first(),
        next_version=neighbours.filter(version__gt=version).order_by("version").first(),
        actions=with_known_rows(
            commit_actions(at.table, commit, _partition_names(at)), commit
        ),
    )


def with_known_rows(actions: CommitActions, commit: Commit) -> CommitActions:
    """Fill in the rows of a removed file that the commit alone does not tell.

    The log told of them when the file was added; the index has kept their sum.
    """
    untold = [file for file in actions.removed if file.num_records is None]
    told = sum(file.num_records or 0 for file in actions.removed)
    is_whole = len(actions.removed) == commit.num_removed_files
    if commit.removed_rows is None or len(untold) != 1 or not is_whole:
        return actions
    rows = commit.removed_rows - told
    if rows < 0:
        return actions
    filled = replace(untold[0], num_records=rows)
    removed = [filled if file is untold[0] else file for file in actions.removed]
    return replace(actions, removed=removed)


def _partition_names(at: TableVersion) -> dict[str, str]:
    """Return the partition columns of a version by what files call them."""
    if at.protocol is None or at.metadata is None:
        return {}
    metadata = at.metadata.as_action()
    keys = partition_keys(at.protocol.as_action(), metadata)
    return dict(zip(keys, dict.fromkeys(metadata.partition_columns), strict=True))


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


def metric(name: str, value: object) -> Metric:
    """Name a metric in words and give its value a unit."""
    text = value_text(value)
    label = words_of(name)
    number = int(text) if re.fullmatch(r"-?\d{1,18}", text) else None
    if number is None:
        return Metric(name=name, label=label, value=text)
    if name.endswith(("Ms", "_ms")):
        return Metric(
            name=name,
            label=label.removesuffix(" ms"),
            value=_duration_text(number),
            exact=f"{number:,} ms",
        )
    if "bytes" in name.lower():
        exact = f"{number:,} bytes"
        return Metric(
            name=name, label=label, value=exact, exact=exact, size_bytes=number
        )
    return Metric(name=name, label=label, value=f"{number:,}", exact=f"{number:,}")


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
    return shortened(text, SHOWN_LENGTH)


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


def _changes(table: Table, commit: Commit) -> list[Change]:
    changes: list[Change] = []
    version = commit.version
    if commit.changes_metadata or commit.changes_schema:
        metadata = list(table.metadata_versions.filter(version__lte=version)[:2])
        if metadata and metadata[0].version == version:
            before = metadata[1] if len(metadata) > 1 else None
            changes += metadata_changes(before, metadata[0])
    if commit.changes_protocol:
        protocols = list(table.protocol_versions.filter(version__lte=version)[:2])
        if protocols and protocols[0].version == version:
            earlier = protocols[1] if len(protocols) > 1 else None
            changes += protocol_changes(earlier, protocols[0])
    return changes


def _action_text(action: Mapping[str, Any]) -> str:
    text = json.dumps(action, indent=2, ensure_ascii=False)
    if len(text) <= MAX_ACTION_LENGTH:
        return text
    num_cut = len(text) - MAX_ACTION_LENGTH
    return f"{text[:MAX_ACTION_LENGTH]}\n… {num_cut:,} more characters"


def _duration_text(duration_ms: int) -> str:
    if duration_ms < 1000:  # noqa: PLR2004 (milliseconds of a second)
        return f"{duration_ms} ms"
    seconds = duration_ms / 1000
    if seconds < 60:  # noqa: PLR2004 (seconds of a minute)
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"
