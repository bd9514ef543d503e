"""Follow each field from one definition of a table's columns to the next."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from deltaweb.delta.changes.column_history.definitions import (
    DefinedColumn,
    SchemaDefinition,
    defined_columns,
    fields_of,
)
from deltaweb.delta.changes.column_history.history import (
    MAX_TEXT_LENGTH,
    ColumnChange,
    ColumnChangeKind,
    ColumnHistories,
    ColumnHistory,
    Key,
    outline,
)
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.features.type_widening import is_widening
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
)
from deltaweb.delta.protocol.schema.field_keys import COMMENT

MAX_HISTORIES: Final = 20_000
MAX_EVENTS: Final = 100_000


def column_histories(definitions: Iterable[SchemaDefinition]) -> ColumnHistories:
    """Follow each field through the definitions of a table's columns.

    Args:
        definitions: The oldest first. One whose schema cannot be read is counted and
            skipped.
    """
    return _Follower().followed(definitions)


@dataclass(slots=True)
class _Follower:
    histories: dict[Key, ColumnHistory] = field(default_factory=dict)
    columns: dict[str, DefinedColumn] = field(default_factory=dict)
    before_dropped: dict[Key, Key | None] = field(default_factory=dict)
    dropped_names: set[Key] = field(default_factory=set)
    num_events: int = 0
    first: int | None = None
    is_cut: bool = False

    def followed(self, definitions: Iterable[SchemaDefinition]) -> ColumnHistories:
        num_unknown = 0
        mapped_since: int | None = None
        last: tuple[str, bool] | None = None
        for definition in definitions:
            current = (definition.schema_string, definition.is_mapped)
            if current == last:
                continue
            # What is mapped now is known by other keys, whose fields must be built.
            kept = self.columns if last and last[1] == definition.is_mapped else {}
            try:
                columns = defined_columns(definition, kept)
            except SchemaError:
                num_unknown += 1
                continue
            if last and definition.is_mapped and not last[1]:
                mapped_since = definition.version
            last = current
            self._follow(columns, definition.version)
            if len(self.histories) > MAX_HISTORIES or self.num_events > MAX_EVENTS:
                self._forget(definition.version)
        return ColumnHistories(
            fields=tuple(self._ordered()),
            first=self.first,
            mapped_since=mapped_since,
            num_unknown=num_unknown,
            is_cut=self.is_cut,
        )

    def _follow(self, columns: dict[str, DefinedColumn], version: int) -> None:
        before, self.columns = self.columns, columns
        if self.first is None:
            self.first = version
            for key, (path, known) in fields_of(columns):
                self.histories[key] = ColumnHistory(path, known, version)
            return
        self._drop(before, {key for key, _ in fields_of(columns)}, version)
        changed = {
            name: column
            for name, column in columns.items()
            if before.get(name) is not column
        }
        added: set[Key] = set()
        for key, (path, known) in fields_of(changed):
            self._meet(key, path, known, version, added)

    def _drop(
        self, before: dict[str, DefinedColumn], now: set[Key], version: int
    ) -> None:
        gone: set[Key] = set()
        previous: dict[Key, Key] = {}
        for key, _ in fields_of(before):
            above = key[:-1]
            if key not in now:
                history = self.histories[key]
                self.before_dropped[key] = previous.get(above)
                is_own = above not in gone
                text = history.type_text
                self._add(
                    history, version, ColumnChangeKind.DROPPED, text, "", is_own=is_own
                )
                history.until = version
                self.dropped_names.add(history.path)
                gone.add(key)
            previous[above] = key

    def _meet(
        self, key: Key, path: Key, known: StructField, version: int, added: set[Key]
    ) -> None:
        history = self.histories.get(key)
        if history is not None and history.until is None:
            before, history.path, history.column = history.column, path, known
            for kind, old, new in _differences(before, known):
                self._add(history, version, kind, old, new)
            return
        if history is None:
            history = self.histories[key] = ColumnHistory(path, known, version)
        was_there = history.until is not None or path in self.dropped_names
        kind = ColumnChangeKind.ADDED_AGAIN if was_there else ColumnChangeKind.ADDED
        history.path, history.column, history.until = path, known, None
        added.add(key)
        is_own = key[:-1] not in added
        self._add(history, version, kind, "", history.type_text, is_own=is_own)

    def _add(  # noqa: PLR0913 (each is one part of the event)
        self,
        history: ColumnHistory,
        version: int,
        kind: ColumnChangeKind,
        before: str,
        after: str,
        *,
        is_own: bool = True,
    ) -> None:
        history.events.append(
            ColumnChange(version, kind, before, after, is_own, history.path)
        )
        self.num_events += 1

    def _forget(self, version: int) -> None:
        """Begin again at a version: what was before it is too much to be kept."""
        alive = {
            key: history
            for key, history in self.histories.items()
            if history.until is None
        }
        for history in alive.values():
            history.events, history.since = [], version
        self.histories, self.before_dropped, self.dropped_names = alive, {}, set()
        self.num_events, self.first, self.is_cut = 0, version, True

    def _ordered(self) -> Iterator[ColumnHistory]:
        """Yield them as the newest schema has them, dropped ones where they were.

        Without recursion: a chain of dropped fields may be long.
        """
        inside: dict[Key, list[Key]] = {}
        after: dict[tuple[Key, Key | None], list[Key]] = {}
        for key, _ in fields_of(self.columns):
            inside.setdefault(key[:-1], []).append(key)
        for key, history in self.histories.items():
            if history.until is not None:
                place = (key[:-1], self.before_dropped.get(key))
                after.setdefault(place, []).append(key)

        def first_inside(above: Key) -> list[Key]:
            return after.get((above, None), []) + inside.get(above, [])

        waiting = first_inside(())[::-1]
        while waiting:
            key = waiting.pop()
            yield self.histories[key]
            waiting += after.get((key[:-1], key), [])[::-1]
            waiting += first_inside(key)[::-1]


def _differences(
    before: StructField, now: StructField
) -> Iterator[tuple[ColumnChangeKind, str, str]]:
    if before.name != now.name:
        yield ColumnChangeKind.RENAMED, before.name, now.name
    old, new = outline(before.data_type), outline(now.data_type)
    if old != new:
        is_wider = _is_wider(before.data_type, now.data_type)
        kind = ColumnChangeKind.WIDENED if is_wider else ColumnChangeKind.RETYPED
        yield kind, old, new
    if before.nullable != now.nullable:
        kind = ColumnChangeKind.NULLABLE if now.nullable else ColumnChangeKind.REQUIRED
        words = ("not null", "nullable")
        yield kind, words[before.nullable], words[now.nullable]
    comments = _comment(before), _comment(now)
    if comments[0] != comments[1]:
        yield ColumnChangeKind.COMMENT, *comments


def _is_wider(before: DataType, now: DataType) -> bool:
    match before, now:
        case ArrayType(), ArrayType():
            return _is_wider(before.element_type, now.element_type)
        case MapType(), MapType():
            return _is_wider(before.key_type, now.key_type) and _is_wider(
                before.value_type, now.value_type
            )
        case StructType(), StructType():
            return True
    return is_widening(before, now)


def _comment(column: StructField) -> str:
    comment = column.metadata.get(COMMENT)
    return "" if comment is None else str(comment)[:MAX_TEXT_LENGTH]
