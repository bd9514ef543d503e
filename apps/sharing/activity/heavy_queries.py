"""The queries of a month that were offered most bytes, and what would make them less.

Queries are one that ask one table for the same condition. What is said of each is
sure: it comes of the record, of the commits and of the partitions of the newest
version. Sizes are those of the whole table, whatever of it the recipient may see;
columns are named that the recipient sees.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform

from apps.audit.models import AuditEvent
from apps.sharing.activity.action_words import action_words
from apps.sharing.activity.usage import sum_of_sizes
from apps.sharing.models import Recipient, SharedTable
from apps.tables.models import Table
from deltaweb.conditions.json import json_hint_text
from deltaweb.delta.feed.versions import is_feed_on
from deltaweb.sharing.table_query import TableQuery
from deltaweb.words import bytes_text

CONDITION: Final = "condition"  # in the detail of an event
NUM_QUERIES: Final = 8
MAX_GROUPS: Final = 1_000  # of queries and versions, those of most bytes
FILES: Final = "table.query"
DIGITS: Final = 3
_Key = tuple[str, str, UUID | None, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeavyQuery:
    """Queries of a month that ask for the same.

    Attributes:
        table: The table as `schema.table`, by its names in the share.
        action: The action as in the audit record.
        condition: The condition of the query; empty for all rows.
        num_versions: The number of versions that were read.
        size_bytes: The total bytes of the files whose URLs were issued.
        saved_bytes: The bytes that the advice would save; null if unknown.
        advice: How to read less, as sentences; empty if there is no advice.
    """

    share: str
    table: str
    action: str
    condition: str
    num_requests: int
    num_versions: int
    size_bytes: int
    saved_bytes: int | None
    advice: str

    @property
    def words(self) -> str:
        """What was done, in plain words."""
        return action_words(self.action)

    @property
    def each_bytes(self) -> int:
        """What one of them was offered, on average."""
        return self.size_bytes // self.num_requests


@dataclass(frozen=True, slots=True)
class _Group:
    """Queries of one version that ask for the same."""

    version: int | None
    num_requests: int
    size_bytes: int


def condition_text(query: TableQuery) -> str:
    """Return the condition that a query hints at; "" where it asks for all rows."""
    if query.predicate_hints:
        return " AND ".join(query.predicate_hints)
    hint = query.json_predicate_hints
    return json_hint_text(hint) if hint else ""


def heavy_queries(
    recipient: Recipient, events: QuerySet[AuditEvent]
) -> list[HeavyQuery]:
    """Return the heaviest queries of a recipient, those of most bytes first.

    Args:
        events: What counts of its reads.
    """
    queries = _grouped(events)
    sizes = {key: sum(one.size_bytes for one in of) for key, of in queries.items()}
    heaviest = sorted(sizes, key=lambda key: (-sizes[key], key[:2]))[:NUM_QUERIES]
    tables = Table.objects.in_bulk({key[2] for key in heaviest if key[2] is not None})
    return [
        _query(recipient, key, queries[key], tables.get(key[2]) if key[2] else None)
        for key in heaviest
        if sizes[key]
    ]


def _grouped(events: QuerySet[AuditEvent]) -> Mapping[_Key, Sequence[_Group]]:
    rows = (
        events.order_by()
        .annotate(asked=KeyTextTransform(CONDITION, "detail"))
        .values("share", "schema", "table", "table_id", "action", "asked", "version")
        .annotate(requests=Count("*"), size=sum_of_sizes(), files=Sum("num_files"))
        .order_by("-size")[:MAX_GROUPS]
    )
    queries = defaultdict(list)
    for row in rows:
        name = f"{row['schema']}.{row['table']}"
        key = (row["share"], name, row["table_id"], row["action"], row["asked"] or "")
        group = _Group(row["version"], row["requests"], int(row["size"] or 0))
        queries[key].append(group)
    return queries


def _query(
    recipient: Recipient, key: _Key, groups: Sequence[_Group], table: Table | None
) -> HeavyQuery:
    share, name, _, action, condition = key
    ways = [_repeated(groups)]
    if table is not None and action == FILES:
        ways.append(_changes(groups, table))
        if table.partition_columns and not condition:
            seen = _partition_columns_seen(recipient, share, name, table)
            ways.append(_partition(groups, table, seen))
    saved, advice = max(ways)
    return HeavyQuery(
        share=share,
        table=name,
        action=action,
        condition=condition,
        num_requests=sum(one.num_requests for one in groups),
        num_versions=len({one.version for one in groups}),
        size_bytes=sum(one.size_bytes for one in groups),
        saved_bytes=saved or None,
        advice=advice if saved else "",
    )


def _repeated(groups: Iterable[_Group]) -> tuple[int, str]:
    """Say what was offered again of a version that had been read before."""
    again = [one for one in groups if one.num_requests > 1 and one.version is not None]
    saved = [one.size_bytes - one.size_bytes // one.num_requests for one in again]
    if not any(saved):
        return 0, ""
    most = max(again, key=lambda one: one.num_requests)
    return sum(saved), (
        f"Version {most.version} was read {most.num_requests:,} times. A client that "
        "checks "
        f"the version first and reads only new ones saves {_text(sum(saved))}."
    )


def _changes(groups: Sequence[_Group], table: Table) -> tuple[int, str]:
    """Say what the changes between the versions hold that were read whole."""
    versions = sorted({one.version for one in groups if one.version is not None})
    if len(versions) <= 1 or not _has_feed(table):
        return 0, ""
    commits = table.commits.filter(version__gt=versions[0], version__lte=versions[-1])
    found: Mapping[str, Any] = commits.aggregate(added=Sum("added_bytes"))
    added = int(found["added"] or 0)
    first = [one for one in groups if one.version == versions[0]]
    kept = sum(one.size_bytes // one.num_requests for one in first)
    saved = sum(one.size_bytes for one in groups) - kept - added
    return max(0, saved), (
        f"{len(versions):,} versions were read completely, but only {_text(added)} "
        "were "
        f"new. Reading the changes instead saves about {_text(max(0, saved))}."
    )


def _partition_columns_seen(
    recipient: Recipient, share: str, name: str, table: Table
) -> list[str]:
    """Return the partition columns that a recipient sees of a table now."""
    schema, _, shared_as = name.partition(".")
    shared = SharedTable.objects.filter(
        share__name=share, schema=schema, name=shared_as, table=table
    ).first()
    if shared is None:
        return []
    own = shared.rules.filter(recipient=recipient).values_list("columns", flat=True)
    lists = [columns for columns in (shared.columns, *own) if columns]
    return [
        column
        for column in table.partition_columns
        if all(column in columns for columns in lists)
    ]


def _partition(
    groups: Sequence[_Group], table: Table, columns: Sequence[str]
) -> tuple[int, str]:
    """Say what a condition on some partition columns leaves at most."""
    partitions = table.summary.get("partitions") or []
    count = table.summary.get("num_partitions") or 0
    sizes: Counter[tuple[str | None, ...]] = Counter()
    for one in partitions:
        sizes[tuple(one["values"][name] for name in columns)] += int(one["bytes"])
    if set(columns) != set(table.partition_columns):
        # What is not listed may belong to the largest.
        count = len(sizes) if len(partitions) == count else 0
    if count <= 1 or not sizes:
        return 0, ""
    largest = max(sizes.values())
    size = sum(one.size_bytes for one in groups)
    saved = size - largest * sum(one.num_requests for one in groups)
    return max(0, saved), (
        f"A condition on {', '.join(columns)}, by which the table is partitioned, "
        f"reads one of {count:,} partitions, at most {_text(largest)}."
    )


def _has_feed(table: Table) -> bool:
    newest = table.metadata_versions.order_by("-version").first()
    return newest is not None and is_feed_on(newest.configuration or {})


def _text(size_bytes: int) -> str:
    return bytes_text(size_bytes, digits=DIGITS)
