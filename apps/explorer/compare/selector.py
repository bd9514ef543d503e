"""Two versions of a table side by side: what the database knows of both.

Schema, properties and protocol are there for every indexed version; files come from
a job, and rows from another one that somebody has to start.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.explorer.compare.schema import SchemaPart, schema_part
from apps.explorer.compare.version import (
    ComparedVersion,
    VersionsOfState,
    compared_version,
    versions_by_state,
)
from apps.explorer.version.table_version import (
    TableVersion,
    table_columns,
    table_version,
)
from apps.tables.head.finding import requested_version
from apps.tables.head.job_json import NotIndexedError
from apps.tables.head.table_head import TableHead
from apps.tables.models import Table
from apps.tables.versions.change_json import values_json
from apps.tables.versions.timeline import TimelineSpan, build_span
from deltaweb.delta.changes import (
    SchemaChanges,
    ValueChange,
    ValueChanges,
    diff_details,
    diff_properties,
    diff_protocol,
    diff_schemas,
)
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.protocol.schema import DataType
from deltaweb.index.files.distribution import type_of
from deltaweb.words import counted

if TYPE_CHECKING:
    from deltaweb.delta.protocol.schema import StructType

MINUTE_S = 60
VERSION_WORDS = {
    "min_reader_version": "minimum reader version",
    "min_writer_version": "minimum writer version",
}


ChangeGroup: TypeAlias = tuple[str, str, str, list[ValueChange]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The way from one version to another.

    Attributes:
        at: The table at the second version; its head stands on the page.
        before: The first version; None while nothing is indexed, as is `after`.
        schema: Fields; None where a schema is unknown or does not parse.
        schema_problem: Why it is None, or nothing.
        columns: Column names of both versions, for keys.
    """

    at: TableVersion
    before: ComparedVersion | None
    after: ComparedVersion | None
    schema: SchemaChanges | None
    schema_problem: str
    properties: ValueChanges
    protocol: ValueChanges
    details: ValueChanges
    partitions: ValueChange | None
    columns: tuple[str, ...]
    span: TimelineSpan | None

    @property
    def partition_types(self) -> list[tuple[str, DataType | None]] | None:
        """The partition columns and their types; None where they became others."""
        if self.partitions is not None or self.at.metadata is None:
            return None
        schema = table_columns(self.at)
        names = dict.fromkeys(self.at.metadata.partition_columns)
        return [(name, type_of(schema, name)) for name in names]

    @property
    def table(self) -> Table:
        return self.at.table

    @property
    def head(self) -> TableHead:
        return self.at.head

    @property
    def versions(self) -> tuple[int, int]:
        if self.before is None or self.after is None:
            raise NotIndexedError(table=self.table.full_name)
        return self.before.version, self.after.version

    @property
    def is_same(self) -> bool:
        return bool(
            self.before and self.after and self.before.version == self.after.version
        )

    @property
    def is_backwards(self) -> bool:
        return bool(
            self.before and self.after and self.before.version > self.after.version
        )

    @property
    def unreadable_reason(self) -> str:
        """Why files and rows cannot be compared, or nothing."""
        for side in (self.before, self.after):
            if side is not None and side.unreadable_reason:
                return f"Version {side.version}: {side.unreadable_reason}"
        return ""

    @property
    def partly_sides(self) -> list[ComparedVersion]:
        """Those of the two versions that lack files, as far as the log tells."""
        sides = (self.before, self.after)
        return [side for side in sides if side is not None and side.is_partly]

    @property
    def states(self) -> list[VersionsOfState]:
        """Which versions can be chosen for what; none where all can be read."""
        return versions_by_state(self.at)

    @property
    def settings_count(self) -> int:
        """How many properties and other settings changed."""
        return self.properties.count + self.details.count + bool(self.partitions)

    @property
    def property_groups(self) -> list[ChangeGroup]:
        """The properties and other settings that changed, by what happened."""
        extra = (self.partitions,) if self.partitions else ()
        parts = (self.properties, self.details)
        return _groups(
            [change for part in parts for change in part.added],
            [change for part in parts for change in part.removed],
            [*(change for part in parts for change in part.changed), *extra],
        )

    @property
    def protocol_groups(self) -> list[ChangeGroup]:
        """The versions and features of the protocol that changed."""
        found = self.protocol
        return _groups(
            [_shown(change) for change in found.added],
            [_shown(change) for change in found.removed],
            [_shown(change) for change in found.changed],
        )

    def schema_page(self, page: int) -> SchemaPart:
        """Return a page of what changed in the schema; an empty one where unknown."""
        return schema_part(self.schema or SchemaChanges(), page)

    def describe(self) -> dict[str, Any]:
        """Return what the JSON form starts with: the keys of `table diff --json`."""
        return {
            **self.at.describe(),
            "from": self.before.version if self.before else None,
            "to": self.after.version if self.after else None,
            "readability": {
                "from": self.before.describe() if self.before else None,
                "to": self.after.describe() if self.after else None,
            },
            "schema": self.schema_page(1).describe() if self.schema else None,
            "schema_count": self.schema.count if self.schema else None,
            "properties": values_json(self.properties),
            "protocol": values_json(self.protocol),
            "details": values_json(self.details),
            "partition_columns": _partitions_json(self),
            "warning": self.unreadable_reason
            or self.schema_problem
            or (
                "Both sides are the same version: nothing differs."
                if self.is_same
                else None
            ),
        }


def compare_versions(
    user: User | AnonymousUser, namespace: str, name: str, before: str, after: str
) -> Comparison:
    """Compare two versions of a table by what is indexed."""
    at = table_version(user, namespace, name, after)
    first = requested_version(at.table, before)
    if first is None or at.version is None:
        return _nothing(at)
    old, new = compared_version(at, first), compared_version(at, at.version)
    schema, problem = _schemas(old, new)
    timeline = at.head.timeline
    return Comparison(
        at=at,
        before=old,
        after=new,
        schema=schema,
        schema_problem=problem,
        properties=diff_properties(_metadata(old), _metadata(new)),
        protocol=_protocols(old, new),
        details=diff_details(_metadata(old), _metadata(new)),
        partitions=_partitions(old, new),
        columns=_common_columns(old, new),
        span=build_span(timeline, other=first, note=_between(old, new))
        if timeline
        else None,
    )


def _between(old: ComparedVersion, new: ComparedVersion) -> str:
    """Say how many commits, and how long a time, lie between two versions."""
    count = abs(new.version - old.version)
    if not count:
        return ""
    text = f"{counted(count, 'commit')} apart"
    if old.commit is None or new.commit is None:
        return text
    apart = abs(new.commit.committed_at - old.commit.committed_at)
    hours, minutes = divmod(int(apart.seconds / MINUTE_S), 60)
    if apart.days:
        days = f"{text}, {apart.days:,} d"
        return f"{days} {hours} h" if hours else days
    if hours:
        return f"{text}, {hours} h {minutes} min"
    return f"{text}, {minutes} min" if minutes else text


def _groups(
    added: list[ValueChange], removed: list[ValueChange], changed: list[ValueChange]
) -> list[ChangeGroup]:
    """Return the kinds that have a change: word, colour, icon and changes."""
    kinds = (
        ("added", "is-green", "plus", added),
        ("removed", "is-red", "minus", removed),
        ("changed", "is-amber", "pencil", changed),
    )
    return [kind for kind in kinds if kind[-1]]


def _shown(change: ValueChange) -> ValueChange:
    """Return a change of the protocol in words."""
    before, after = (_who(value) for value in (change.before, change.after))
    name = VERSION_WORDS.get(change.name, change.name)
    return ValueChange(name, before, after)


def _who(value: object) -> object:
    """Say who must know a feature; other values stay."""
    if not isinstance(value, tuple):
        return value
    return "to read and write" if "reader_features" in value else "to write"


def _nothing(at: TableVersion) -> Comparison:
    none = ValueChanges()
    return Comparison(
        at=at,
        before=None,
        after=None,
        schema=None,
        schema_problem="",
        properties=none,
        protocol=none,
        details=none,
        partitions=None,
        columns=(),
        span=None,
    )


def _schemas(
    old: ComparedVersion, new: ComparedVersion
) -> tuple[SchemaChanges | None, str]:
    found: list[StructType] = []
    for side in (old, new):
        if side.metadata is None or not side.metadata.has_schema:
            return None, f"The schema of version {side.version} is not known."
        try:
            found.append(side.metadata.mapped_schema(side.protocol))
        except SchemaError as error:
            return None, f"Version {side.version}: {error.message}"
    return diff_schemas(*found), ""


def _common_columns(old: ComparedVersion, new: ComparedVersion) -> tuple[str, ...]:
    """Return the columns that both versions have, in the order of the second."""
    names: list[tuple[str, ...]] = []
    for side in (old, new):
        try:
            names.append(side.metadata.schema().names if side.metadata else ())
        except SchemaError:
            return ()
    before = frozenset(names[0])
    return tuple(name for name in names[1] if name in before)


def _metadata(side: ComparedVersion) -> Metadata:
    return side.metadata.as_action() if side.metadata else Metadata(id=None)


def _protocols(old: ComparedVersion, new: ComparedVersion) -> ValueChanges:
    if old.protocol is None or new.protocol is None:
        return ValueChanges()
    return diff_protocol(old.protocol.as_action(), new.protocol.as_action())


def _partitions(old: ComparedVersion, new: ComparedVersion) -> ValueChange | None:
    before, after = (list(_metadata(side).partition_columns) for side in (old, new))
    if before == after:
        return None
    return ValueChange("partition columns", ", ".join(before), ", ".join(after))


def _partitions_json(found: Comparison) -> dict[str, Any]:
    sides = [
        list(side.metadata.partition_columns) if side and side.metadata else []
        for side in (found.before, found.after)
    ]
    return {"from": sides[0], "to": sides[1], "changed": sides[0] != sides[1]}
