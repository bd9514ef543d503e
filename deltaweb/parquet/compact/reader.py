"""Thrift's compact protocol, read with bounds: no count is believed that does not fit.

A struct is read by a layout, which names the fields that are wanted and their types; a
field that it does not name, or that has another type, is skipped. Lists have at most as
many elements as there are bytes left, structs nest at most 64 deep, and nothing is
built of what is skipped. What is built is counted: bytes may say in three of theirs
what takes hundreds as a value, so the length of a footer bounds no memory.

Source: Thrift's compact protocol, "Struct encoding", "List and Set", "Map".
"""

import struct
from array import array
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NoReturn, TypeAlias, overload

from deltaweb.parquet.compact.cursor import CUT, MAX_DEPTH, MORE, Cursor
from deltaweb.parquet.compact.layouts import (
    BINARY,
    BYTE,
    DOUBLE,
    FALSE,
    I64,
    STRUCT,
    TRUE,
    FieldType,
    LateListOf,
    Layout,
    ListOf,
    NamedListOf,
)
from deltaweb.parquet.compact.usual_bytes import (
    after_name,
    until_name,
    usual_chunk,
    usual_list,
)
from deltaweb.parquet.errors import FooterCorruptError

MAX_BUILT: Final = 1_000_000
"""Elements of lists that one reader makes values of."""
MAX_LATE: Final = 16_000_000
"""Structs that it keeps the places of; what is made of each is counted by itself."""
FEW_LATE: Final = 250
"""Structs that are gone past step by step: making their pattern takes longer."""
MAX_KNOWN: Final = 20_000
"""Short lists that are kept by their bytes: column chunks repeat them. And structs
without their names, of a list: schemas repeat those."""
_NO_STRUCTS: Final = "a list of structs holds something else"


_KnownKey: TypeAlias = tuple[FieldType, bytes]
"""What the elements of a list are, and its bytes."""
Named: TypeAlias = tuple[bytes, Mapping[str, Any]]
"""What a struct is called, and its fields; whatever their name says there."""
NO_FIELDS: Final[Mapping[int, Any]] = MappingProxyType({})
"""One value for every empty struct, so that a million of them take no memory."""
_EMPTY_MEMBERS: Final[Mapping[int, Mapping[int, Any]]] = {
    number << 4 | STRUCT: MappingProxyType({number: NO_FIELDS})
    for number in range(1, 16)
}


class LateStructs(Sequence[dict[str, Any]]):
    """Structs of a list that stay bytes until one is asked for."""

    def __init__(
        self,
        data: bytes,
        starts: Sequence[int],
        layout: Layout,
        known: "dict[_KnownKey, Sequence[Any]]",
    ) -> None:
        self._data = data
        self._starts = starts
        self._layout = layout
        self._known = known

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, index: slice) -> "LateStructs": ...

    def __getitem__(self, index: int | slice) -> "dict[str, Any] | LateStructs":
        if isinstance(index, slice):
            starts = self._starts[index]
            return LateStructs(self._data, starts, self._layout, self._known)
        reader = CompactReader(self._data, self._starts[index], self._known)
        return reader.read_struct(self._layout)


class CompactReader(Cursor):
    """Reads structs of the compact protocol, by what is wanted of them.

    Args:
        known: Short lists that another reader of like bytes has made already.
        most: How many elements it makes values of, or keeps the places of; None for
            the limits of the module.
        most_skipped: As of `Cursor`.
    """

    __slots__ = ("built", "known", "late", "most_built", "most_late")

    def __init__(
        self,
        data: bytes,
        position: int = 0,
        known: "dict[_KnownKey, Sequence[Any]] | None" = None,
        most: int | None = None,
        *,
        most_skipped: int | None = None,
    ) -> None:
        super().__init__(data, position, most_skipped=most_skipped)
        self.most_built = MAX_BUILT if most is None else most
        self.most_late = MAX_LATE if most is None else most
        self.known = {} if known is None else known
        self.built = 0
        self.late = 0

    def read_struct(self, layout: Layout, depth: int = 0) -> dict[str, Any]:
        """Read a struct: by name, the wanted fields that are there."""
        if depth > MAX_DEPTH:
            raise FooterCorruptError(
                reason=f"it is nested more than {MAX_DEPTH} levels deep"
            )
        try:
            return self._struct(layout, depth)
        except (IndexError, struct.error):
            raise FooterCorruptError(reason=CUT) from None

    def _struct(self, layout: Layout, depth: int) -> dict[str, Any]:
        data, wanted, number = self.data, layout.wanted, 0
        values: dict[str, Any] = {}
        while header := data[self.position]:
            self.position += 1
            kind = header & 0x0F
            number = number + (header >> 4) if header >> 4 else self.integer()
            field = wanted.get(number << 4 | kind)
            if field is None:
                self.skip(kind, depth)
                continue
            name, expected = field
            if expected == "int" and kind != BYTE:
                # Most have one byte, and a call takes longer than reading it.
                small = data[self.position]
                if small <= MORE:
                    self.position += 1
                    values[name] = (small >> 1) ^ -(small & 1)
                else:
                    values[name] = self.integer()
            elif kind == BINARY:
                values[name] = self.binary()
            elif kind <= FALSE:
                values[name] = kind == TRUE
            else:
                values[name] = self._value(expected, kind, depth)
        self.position += 1
        for name in layout.needed:
            if name not in values:
                raise FooterCorruptError(reason=f"one of its parts has no {name}")
        return values

    def _value(self, expected: FieldType, kind: int, depth: int) -> object:
        """Read a field of a wanted type that is no usual number, text or truth."""
        if isinstance(expected, Layout):
            return self.read_struct(expected, depth + 1)
        if isinstance(expected, ListOf):
            return self._list(expected.element, depth + 1)
        if isinstance(expected, LateListOf | NamedListOf):
            return self._structs(expected, depth + 1)
        if expected == "place":
            place = self.position
            self.skip(kind, depth)
            return place
        if kind == STRUCT:
            return self.read_fields(depth + 1)
        return self.double() if kind == DOUBLE else self.byte()

    def read_fields(self, depth: int = 0) -> Mapping[int, Any]:
        """Read a struct of a union, as far as it is numbers, truths, text and structs.

        Returns:
            The values by the numbers of their fields, which may be unknown ones.
        """
        if depth > MAX_DEPTH:
            raise FooterCorruptError(
                reason=f"it is nested more than {MAX_DEPTH} levels deep"
            )
        data, number = self.data, 0
        # Most unions are of one struct that is empty.
        if data[self.position + 1 : self.position + 3] == b"\0\0":
            member = _EMPTY_MEMBERS.get(data[self.position])
            if member is not None:
                self.position += 3
                return member
        values: dict[int, Any] = {}
        while header := data[self.position]:
            self.position += 1
            kind = header & 0x0F
            number = number + (header >> 4) if header >> 4 else self.integer()
            if kind in {TRUE, FALSE}:
                values[number] = kind == TRUE
            elif kind == BYTE:
                values[number] = self.byte()
            elif BYTE < kind <= I64:
                values[number] = self.integer()
            elif kind == BINARY:
                values[number] = self.binary()
            elif kind == STRUCT:
                values[number] = self.read_fields(depth + 1)
            else:
                self.skip(kind, depth)
        self.position += 1
        return values or NO_FIELDS

    def read_placed(self, layout: Layout) -> list[tuple[int, dict[str, Any]]]:
        """Read a list of structs: where each begins, and its wanted fields."""
        try:
            size, kind = self.list_header()
            if size and kind != STRUCT:
                raise FooterCorruptError(reason=_NO_STRUCTS)
            self._count_built(size)
            return [(self.position, self.read_struct(layout)) for _ in range(size)]
        except IndexError:
            raise FooterCorruptError(reason=CUT) from None

    def _list(self, element: FieldType, depth: int) -> Sequence[Any]:
        usual = usual_list().match(self.data, self.position)
        if usual is None:
            return self._new_list(element, depth)
        key = element, usual.group()
        found = self.known.get(key)
        if found is not None:
            self.position = usual.end()
            return found
        made = self._new_list(element, depth)
        if len(self.known) < MAX_KNOWN:
            self.known[key] = made
        return made

    def _new_list(self, element: FieldType, depth: int) -> list[Any]:
        size, kind = self.list_header()
        self._count_built(size)
        if element == "int" and BYTE < kind <= I64:
            return [self.integer() for _ in range(size)]
        if element == "binary" and kind == BINARY:
            return [self.binary() for _ in range(size)]
        if element == "fields" and kind == STRUCT:
            return [self._member(depth) for _ in range(size)]
        if isinstance(element, Layout) and kind == STRUCT:
            return [self.read_struct(element, depth) for _ in range(size)]
        # What an empty list says of its elements, writers do not agree on.
        if isinstance(element, Layout) and size:
            raise FooterCorruptError(reason=_NO_STRUCTS)
        for _ in range(size):
            self.skip_element(kind, depth)
        return []

    def _structs(
        self, wanted: LateListOf | NamedListOf, depth: int
    ) -> Sequence[dict[str, Any]] | list[Named]:
        size, kind = self.list_header()
        if size and kind != STRUCT:
            raise FooterCorruptError(reason=_NO_STRUCTS)
        if isinstance(wanted, LateListOf):
            return self._late_structs(wanted.element, size, depth)
        return self._named_structs(wanted, size, depth)

    def _late_structs(self, element: Layout, size: int, depth: int) -> LateStructs:
        self.late += size
        if self.late > self.most_late:
            _refuse(self.most_late, "column chunks")
        starts = array("Q")
        match = usual_chunk().match if self.late > FEW_LATE else None
        for _ in range(size):
            starts.append(self.position)
            usual = None if match is None else match(self.data, self.position)
            if usual is not None:
                self.position = usual.end()
            else:
                self.skip(STRUCT, depth)
        return LateStructs(self.data, starts, element, self.known)

    def _named_structs(self, wanted: NamedListOf, size: int, depth: int) -> list[Named]:
        """Read structs as their names and the rest, which is one value if it is equal.

        What is before and after a name is found by its pattern, and made a value of
        once; a struct of another shape is read field by field.
        """
        self._count_built(size)
        known: dict[bytes, Mapping[str, Any]] = {}
        return [self._named(wanted, known, depth) for _ in range(size)]

    def _named(
        self, wanted: NamedListOf, known: dict[bytes, Mapping[str, Any]], depth: int
    ) -> Named:
        data = self.data
        first = until_name().match(data, self.position)
        if first is not None and (length := data[begin := first.end()]) <= MORE:
            begin += 1
            last = after_name().match(data, end := begin + length)
            if last is not None:
                key = first.group() + b"\0" + last.group()  # with an empty name
                rest = known.get(key)
                if rest is None:
                    rest = CompactReader(key).read_struct(wanted.element, depth)
                    if len(known) < MAX_KNOWN:
                        known[key] = rest
                self.position = last.end()
                return data[begin:end], rest
        fields = self.read_struct(wanted.element, depth)
        return fields[wanted.name], fields

    def _count_built(self, size: int) -> None:
        self.built += size
        if self.built > self.most_built:
            _refuse(self.most_built, "parts")

    def _member(self, depth: int) -> Mapping[int, Any]:
        fields = self.read_fields(depth)
        if not fields:
            raise FooterCorruptError(reason="it has a list of empty elements")
        return fields


def _refuse(most: int, parts: str) -> NoReturn:
    reason = f"it has more than {most:,} {parts}, which is the limit"
    raise FooterCorruptError(reason=reason)
