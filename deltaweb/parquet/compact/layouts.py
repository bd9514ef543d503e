"""What is wanted of a struct of Thrift's compact protocol: fields, and their types.

Source: Thrift's compact protocol, "Struct encoding".
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

TRUE, FALSE, BYTE, I64, DOUBLE, BINARY = 1, 2, 3, 6, 7, 8
LIST, SET, MAP, STRUCT = 9, 10, 11, 12


@dataclass(frozen=True, slots=True)
class ListOf:
    """A field that is a list, by the type of its elements."""

    element: "FieldType"


@dataclass(frozen=True, slots=True)
class LateListOf:
    """A field that is a list of structs, which are read when they are asked for."""

    element: "Layout"


@dataclass(frozen=True, slots=True)
class NamedListOf:
    """A field that is a list of structs with names, and else mostly equal.

    Attributes:
        name: Which of their needed fields, of the type `binary`, is the name.
    """

    element: "Layout"
    name: str


_CODES: Final = {
    "int": (BYTE, 4, 5, I64),
    "bool": (TRUE, FALSE),
    "double": (DOUBLE,),
    "binary": (BINARY,),
    "fields": (STRUCT,),
    "place": (4, 5, I64, LIST, SET, STRUCT),
}
FieldType: TypeAlias = "str | ListOf | LateListOf | NamedListOf | Layout"
"""`int`, `bool`, `double`, `binary`; `fields` for a struct whose fields may be unknown;
`place` for where a number, a list or a struct begins; a list of one type; a struct by
its layout."""


def _codes_of(expected: FieldType) -> tuple[int, ...]:
    """Return the codes that a field of a wanted type has on its way."""
    if isinstance(expected, ListOf | LateListOf | NamedListOf):
        return LIST, SET
    if isinstance(expected, Layout):
        return (STRUCT,)
    return _CODES[expected]


class Layout:
    """The fields that are wanted of a struct.

    Attributes:
        wanted: By the number of a field with the code of its type, its name and type.
        needed: Names of fields without which there is no struct. Where a list has such
            structs, its first empty one ends the reading, not its millionth.
    """

    __slots__ = ("needed", "wanted")

    def __init__(self, *needed: str, **fields: tuple[int, FieldType]) -> None:
        self.wanted = {
            number << 4 | code: (name, expected)
            for name, (number, expected) in fields.items()
            for code in _codes_of(expected)
        }
        self.needed = needed
