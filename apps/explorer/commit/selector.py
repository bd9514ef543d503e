"""One commit: what it says of itself, and its actions as storage holds them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.urls import reverse

from apps.accounts.models import User
from apps.explorer.commit.actions import (
    CommitActions,
    FileChange,
    commit_actions,
    with_known_rows,
)
from apps.explorer.commit.changes import (
    Change,
    metadata_changes,
    protocol_changes,
)
from apps.explorer.history.parameters import (
    Parameter,
    commit_parameters,
    format_predicate,
    value_text,
    words_of,
)
from apps.explorer.version.page import TablePage
from apps.explorer.version.table_version import TableVersion, table_version
from apps.pages.errors import PageError
from apps.pages.lists.paging import Paged, PageLinks, paged
from apps.pages.page_json import Named, OnPage, Spread, in_json
from apps.tables.models import Commit, Table
from apps.tables.versions.resources import CommitResource, commit_resource
from deltaweb.delta.log.commits.partition_keys import partition_keys
from deltaweb.words import duration_text

MAX_FILES_SHOWN = 200
CHANGES_A_PAGE = 200
MAX_PARTITIONS_SHOWN = 8


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
        resource: What every machine form says of it.
        recorded_parameters, recorded_metrics: What its writer recorded, for these.
        num_changes: The number of changes of metadata and protocol.
        changes: The first of these changes.
    """

    commit: OnPage[Commit]
    resource: Spread[CommitResource]
    recorded_parameters: Annotated[Mapping[str, object], Named("parameters")]
    recorded_metrics: Annotated[Mapping[str, object], Named("metrics")]
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
        return f"v{self.commit.version}"

    @property
    def shown_added(self) -> Sequence[FileChange]:
        return self.actions.added[:MAX_FILES_SHOWN]

    @property
    def shown_removed(self) -> Sequence[FileChange]:
        return self.actions.removed[:MAX_FILES_SHOWN]

    @property
    def partitions(self) -> Sequence[tuple[str, int, int]]:
        """The first of the partitions that files came to or went from."""
        return self.actions.partitions[:MAX_PARTITIONS_SHOWN]

    @property
    def has_changed_rows(self) -> bool:
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
    def may_be_undone(self) -> bool:
        """Whether an undo of it has anything to do, as far as the index tells.

        A change of schema or properties alone is only undone while it is the newest.
        """
        commit = self.commit
        if commit.is_archived or not commit.version:
            return False
        is_newest = commit.version == self.at.table.version
        return commit.changes_files or (is_newest and commit.changes_metadata)

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
    """Return the commit that made a version."""
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
    """Return one commit of a table, with a page of its changes."""
    at = table_version(user, namespace, name, str(version))
    commit = find_commit(at, version)
    neighbours = at.table.commits.order_by().values_list("version", flat=True)
    parameters = dict(commit.parameters or {})
    predicate = format_predicate(parameters.pop("predicate", None))
    changes = _changes(at.table, commit)
    place = paged(len(changes), page, length=CHANGES_A_PAGE)
    return CommitPage(
        at=at,
        commit=commit,
        resource=commit_resource(commit),
        recorded_parameters=commit.parameters,
        recorded_metrics=commit.metrics,
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


def _partition_names(at: TableVersion) -> dict[str, str]:
    """Return the partition columns of a version by what files call them."""
    if at.protocol is None or at.metadata is None:
        return {}
    metadata = at.metadata.as_action()
    keys = partition_keys(at.protocol.as_action(), metadata)
    return dict(zip(keys, dict.fromkeys(metadata.partition_columns), strict=True))


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
            value=duration_text(number / 1000),
            exact=f"{number:,} ms",
        )
    if "bytes" in name.lower():
        exact = f"{number:,} bytes"
        return Metric(
            name=name, label=label, value=exact, exact=exact, size_bytes=number
        )
    return Metric(name=name, label=label, value=f"{number:,}", exact=f"{number:,}")


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
