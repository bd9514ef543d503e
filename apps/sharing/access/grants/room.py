"""The room for the copies of a share: what tables may take, and what is erased first.

A table never takes the copies that recipients of another table read now. If there is no
room for all of them, the table that comes last fails, and says so.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from uuid import UUID

from django.conf import settings
from django.db.models import F, QuerySet, Sum

from apps.sharing.access.grants.offered import RuledVersion
from apps.sharing.access.grants.prepared import erase
from apps.sharing.access.grants.rules import TableRule
from apps.sharing.errors import PreparedRoomError
from apps.sharing.models import PreparedFile, PreparedVersion, Share, SharedTable


@dataclass(slots=True, eq=False)
class ShareRoom:
    """The room for the copies of a share, while it is prepared.

    Attributes:
        reserved: The bytes of the copies that recipients read now, by the id of the
            table and the digest of the rule.
        needed: The keys of the copies of newest versions.
        kept: The ids of tables that stay at an older version, with all their copies.
    """

    reserved: dict[tuple[UUID, str], int] = field(default_factory=dict)
    needed: set[str] = field(default_factory=set)
    kept: set[UUID] = field(default_factory=set)

    @classmethod
    def of(cls, share: Share, rules: Collection[tuple[UUID, str]]) -> "ShareRoom":
        """Return the room of a share before it is prepared.

        Args:
            rules: The ids of its tables, each with the digest of a rule.
        """
        of_share = {"shared_table__share": share}
        versions = PreparedVersion.objects.filter(**of_share).order_by("version")
        newest = {
            (table_id, rule): size_bytes
            for table_id, rule, size_bytes in versions.values_list(
                "shared_table_id", "rule", "size_bytes"
            )
        }
        files = PreparedFile.objects.filter(**of_share, changes=None).order_by()
        stored = files.values_list("shared_table_id", "rule").annotate(
            Sum("size_bytes")
        )
        return cls(
            reserved={
                (table_id, rule): min(size_bytes, newest[table_id, rule])
                for table_id, rule, size_bytes in stored
                if (table_id, rule) in newest and (table_id, rule) in rules
            }
        )

    def check(
        self,
        shared: SharedTable,
        rule: TableRule,
        ruled: RuledVersion,
        missing_bytes: int,
    ) -> None:
        """Refuse copies that are known to have no room, before they are made.

        Args:
            missing_bytes: The size of the files that are to be copied. The copies of a
                part of a table may be much smaller.
        """
        key = shared.id, rule.digest
        versions = PreparedVersion.objects.filter(
            shared_table=shared, rule=rule.digest, version=ruled.version.version
        )
        size_bytes = versions.values_list("size_bytes", flat=True).first()
        if size_bytes is None:
            if not rule.is_whole:
                return
            names = [name for names in ruled.keys for name in names]
            ready = [ruled.ready[name] for name in names if name in ruled.ready]
            size_bytes = missing_bytes + sum(one.size_bytes for one in ready)
        others = sum(size for one, size in self.reserved.items() if one != key)
        if size_bytes + others > settings.PREPARED_BYTES:
            raise PreparedRoomError

    def take(
        self, shared: SharedTable, rule: TableRule, files: Iterable[PreparedFile]
    ) -> None:
        """Note the copies of the newest version of a table."""
        size_bytes = 0
        for file in files:
            self.needed.add(file.key)
            size_bytes += file.size_bytes
        self.reserved[shared.id, rule.digest] = size_bytes

    def needs(self, file: PreparedFile) -> bool:
        """Return whether recipients read a copy now."""
        is_row_file = file.changes_id is None
        return file.key in self.needed or (
            is_row_file and file.shared_table_id in self.kept
        )


def expire(
    share: Share, *, room: ShareRoom | None = None, now: datetime
) -> list[PreparedFile]:
    """Erase copies that were not requested for a long time, or are too many.

    Those with changes go first, the oldest of them, then the least recently used, and
    only then those that recipients read now: all of a table, beginning with a table
    whose copies were just made.

    Args:
        room: The copies that recipients read now; None if that is not known.

    Returns:
        The copies that were erased.
    """
    rows = PreparedFile.objects.filter(shared_table__share=share)
    gone = list(rows.filter(last_used_at__lt=_oldest(now)))
    kept = rows.exclude(id__in=[file.id for file in gone])
    surplus = kept.aggregate(sum=Sum("size_bytes"))["sum"] or 0
    surplus -= settings.PREPARED_BYTES
    if surplus > 0:
        for some in _in_order(kept, room or ShareRoom(), now=now):
            gone += some
            surplus -= sum(file.size_bytes for file in some)
            if surplus <= 0:
                break
    for shared_id in {file.shared_table_id for file in gone}:
        erase(shared_id, [file for file in gone if file.shared_table_id == shared_id])
    return gone


def tables_without_room(
    gone: Iterable[PreparedFile], room: ShareRoom, *, now: datetime
) -> set[UUID]:
    """Return the tables whose copies were erased although recipients read them."""
    oldest = _oldest(now)
    return {
        file.shared_table_id
        for file in gone
        if room.needs(file) and file.last_used_at >= oldest
    }


def _oldest(now: datetime) -> datetime:
    return now - timedelta(days=settings.PREPARED_DAYS)


def _in_order(
    files: QuerySet[PreparedFile], room: ShareRoom, *, now: datetime
) -> Iterator[list[PreparedFile]]:
    """Yield copies in the order in which they are erased, the last ones by table."""
    needed = []
    order = F("changes__version").asc(nulls_last=True), "last_used_at", "id"
    for file in files.order_by(*order).iterator():
        if room.needs(file):
            needed.append(file)
        else:
            yield [file]
    by_table = attrgetter("shared_table_id")
    tables = [list(some) for _, some in groupby(sorted(needed, key=by_table), by_table)]
    tables.sort(
        key=lambda some: (
            all(file.prepared_at != now for file in some),
            max(file.last_used_at for file in some),
        )
    )
    yield from tables
