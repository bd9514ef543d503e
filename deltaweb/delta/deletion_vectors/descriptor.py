"""What the log says of a deletion vector: where it is, and what it should hold.

Source: delta_protocol.md, "Deletion Vector Descriptor Schema".
"""

import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import quote

from deltaweb.delta.deletion_vectors.errors import MalformedVectorError
from deltaweb.delta.deletion_vectors.z85 import decode_z85

RELATIVE: Final = "u"
INLINE: Final = "i"
ABSOLUTE: Final = "p"
UUID_LENGTH: Final = 20  # characters of Z85
SHOWN_LENGTH: Final = 40


@dataclass(frozen=True, slots=True)
class DeletionVector:
    """The descriptor of a file's deletion vector.

    Attributes:
        storage_type: "u" in a file below the table, "p" in a file by its whole path,
            "i" in the log.
        path_or_inline: Which file, or the vector itself, in Z85.
        offset: Where in the file it begins, in bytes; None at the beginning.
        size_bytes: Size of the vector, without what frames it in a file.
    """

    storage_type: str
    path_or_inline: str
    offset: int | None
    size_bytes: int
    cardinality: int

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """Return the descriptor of the log's fields."""
        for name in ("storageType", "pathOrInlineDv", "sizeInBytes", "cardinality"):
            if fields[name] is None:
                raise MalformedVectorError(reason=f"its {name} is not in the log")
        for name in ("offset", "sizeInBytes", "cardinality"):
            if (fields[name] or 0) < 0:
                raise MalformedVectorError(reason=f"its {name} is {fields[name]}")
        if fields["storageType"] not in {RELATIVE, INLINE, ABSOLUTE}:
            raise MalformedVectorError(
                reason=f"its storage type {fields['storageType'][:SHOWN_LENGTH]!r} "
                "is unknown"
            )
        return cls(
            storage_type=fields["storageType"],
            path_or_inline=fields["pathOrInlineDv"],
            offset=fields["offset"],
            size_bytes=fields["sizeInBytes"],
            cardinality=fields["cardinality"],
        )

    @property
    def path(self) -> str | None:
        """The path of its file in the form of the log; None for one in the log."""
        if self.storage_type == INLINE:
            return None
        if self.storage_type == ABSOLUTE:
            return self.path_or_inline
        if len(self.path_or_inline) < UUID_LENGTH:
            raise MalformedVectorError(reason="its name is too short")
        prefix = self.path_or_inline[:-UUID_LENGTH]
        name = uuid.UUID(bytes=decode_z85(self.path_or_inline[-UUID_LENGTH:]))
        folder = f"{quote(prefix)}/" if prefix else ""
        return f"{folder}deletion_vector_{name}.bin"


def places_of_id(vector_id: str) -> tuple[str, ...]:
    """Return where the file of a vector is that an id names; none for one in the log.

    An id ends with `@` and an offset where the log says one, and a name may end so,
    too: then there are two places.
    """
    kind, text = vector_id[:1], vector_id[1:]
    name, _, offset = text.rpartition("@")
    names = [name, text] if name and offset.isdecimal() else [text]
    found = []
    for one in names:
        with suppress(ValueError):
            found.append(DeletionVector(kind, one, None, 0, 0).path)
    return tuple(place for place in found if place is not None)


def shown_place(fields: Mapping[str, Any]) -> str:
    """Return the place of a vector for a sentence, whatever the log says of it."""
    kind, text = fields["storageType"], fields["pathOrInlineDv"] or ""
    if kind == INLINE:
        return "in the log"
    try:
        return DeletionVector(kind, text, None, 0, 0).path or "without a name"
    except ValueError:
        return repr(text[:SHOWN_LENGTH])
