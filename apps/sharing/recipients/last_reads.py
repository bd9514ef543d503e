"""What has changed in each table since a recipient last read it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import (
    Count,
    FloatField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
)
from django.db.models.functions import Cast

from apps.sharing.models import Hold, LastRead, Recipient, SharedTable
from apps.tables.extension.guards import HeldVersions
from apps.tables.models import Commit, Table
from deltaweb.words import counted

MAX_SHOWN: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LastReadResource:
    """What a token last read of a table, and what has changed since.

    Attributes:
        table: The table as `schema.table`, by its names in the share.
        token: The prefix of the token.
        version: The version that was read.
        newest_version: The newest indexed version; null without an index.
        num_versions_behind: The number of versions since then; null without an index.
        added_rows: The rows that these versions added; null if unknown.
        added_bytes: The bytes of the files that these versions added.
        num_schema_changes: The number of these versions that changed the schema.
        held_version: The oldest version that a hold keeps for the recipient; null
            without a hold.
        held_until: The time when the hold ends.
    """

    share: str
    table: str
    token: str
    version: int
    read_at: datetime
    newest_version: int | None
    num_versions_behind: int | None
    added_rows: int | None
    added_bytes: int
    num_schema_changes: int
    held_version: int | None
    held_until: datetime | None

    @property
    def words(self) -> str:
        """How far behind it is, in words."""
        if self.num_versions_behind is None:
            return "not indexed"
        if self.num_versions_behind <= 0:
            return "up to date"
        parts = [counted(self.num_versions_behind, "version") + " behind"]
        if self.added_rows:
            parts.append(f"{counted(self.added_rows, 'row')} added")
        if self.num_schema_changes:
            parts.append(counted(self.num_schema_changes, "schema change"))
        return ", ".join(parts)


def last_reads(recipient: Recipient, *, now: datetime) -> list[LastReadResource]:
    """Return what each token last read, the newest reads first, by two queries."""
    held = {
        hold.shared_table_id: hold
        for hold in Hold.objects.filter(recipient=recipient, ends_at__gt=now)
    }
    reads = (
        LastRead.objects.filter(token__recipient=recipient)
        .select_related("token", "shared_table__share", "shared_table__table")
        .annotate(
            rows=_since(Sum(Cast("added_rows", FloatField()))),
            num_bytes=_since(Sum(Cast("added_bytes", FloatField()))),
            num_silent=_since(
                Count("id", filter=Q(added_rows=None, num_added_files__gt=0))
            ),
            num_schemas=_since(Count("id", filter=Q(changes_schema=True))),
        )
        .order_by("-read_at", "-id")
    )
    return [
        _resource(read, held.get(read.shared_table_id)) for read in reads[:MAX_SHOWN]
    ]


def readers_behind(tables: Iterable[SharedTable]) -> dict[UUID, tuple[int, int]]:
    """Return of each table how many readers are behind, and how many there are.

    One query; a recipient counts by the newest version that its tokens have read.
    """
    newest = {shared.id: shared.table.version for shared in tables}
    found = (
        LastRead.objects.filter(shared_table__in=newest)
        .values("shared_table", "token__recipient")
        .annotate(newest=Max("version"))
    )
    counts: dict[UUID, tuple[int, int]] = {}
    for row in found:
        version = newest[row["shared_table"]]
        behind, all_of_them = counts.get(row["shared_table"], (0, 0))
        is_behind = version is not None and row["newest"] < version
        counts[row["shared_table"]] = (behind + is_behind, all_of_them + 1)
    return counts


def holds_of_recipients(table: Table, now: datetime) -> list[HeldVersions]:
    """Return what is held of a table for recipients, at a moment."""
    holds = Hold.objects.filter(shared_table__table=table, ends_at__gt=now)
    return [
        HeldVersions(
            version=hold.version,
            ends_at=hold.ends_at,
            holder=(
                f"{hold.recipient.name}, who reads it as "
                f"{hold.shared_table.share.name}.{hold.shared_table.full_name}"
            ),
        )
        for hold in holds.select_related("recipient", "shared_table__share")
    ]


def _since(what: Sum | Count) -> Subquery:
    """Return a subquery over the commits after the version that was read."""
    commits: QuerySet[Commit] = Commit.objects.filter(
        table=OuterRef("shared_table__table"),
        version__gt=OuterRef("version"),
        data_change=True,
    )
    return Subquery(
        commits.order_by().values("table").annotate(found=what).values("found")
    )


def _resource(read: LastRead, hold: Hold | None) -> LastReadResource:
    newest = read.shared_table.table.version
    facts = vars(read)
    return LastReadResource(
        share=read.shared_table.share.name,
        table=read.shared_table.full_name,
        token=read.token.prefix,
        version=read.version,
        read_at=read.read_at,
        newest_version=newest,
        num_versions_behind=None if newest is None else max(0, newest - read.version),
        added_rows=None if facts["num_silent"] else int(facts["rows"] or 0),
        added_bytes=int(facts["num_bytes"] or 0),
        num_schema_changes=facts["num_schemas"] or 0,
        held_version=None if hold is None else hold.version,
        held_until=None if hold is None else hold.ends_at,
    )
