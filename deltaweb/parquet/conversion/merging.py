"""The schemas of many files as one Delta schema, or every conflict among them.

Files agree where their columns of one name, in whatever case, have one type. Whole
numbers of up to four bytes are of one physical type, so the wider of two holds both; a
column of nulls alone takes the type that other files have. Everything else is a
conflict, which names its column and both files.

Source: Delta's reference implementation, "CONVERT TO DELTA" and its merging of schemas;
Delta protocol, "Schema Serialization Format".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from deltaweb.parquet.conversion.delta import DeltaConversion, DeltaType, as_nullable
from deltaweb.parquet.conversion.spark import ROW_METADATA
from deltaweb.parquet.conversion.stored import convert_file
from deltaweb.parquet.loading import ParquetFooter
from deltaweb.parquet.metadata import SchemaElement

_WIDTHS: Final = ("byte", "short", "integer")
_REMEMBERED: Final = 32
"""Different schemas of which a file may have one that is merged already."""


@dataclass(frozen=True, slots=True)
class FileProblem:
    """Why a column of a file does not go into the schema.

    Attributes:
        file: The file, as the caller names it; empty where there is none.
    """

    file: str
    path: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        parts = (self.file, ".".join(self.path), self.reason)
        return ": ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class MergedSchema:
    """What the schemas of many files are in Delta.

    Attributes:
        strict: The schema, in which a column may be null where it may be in some file,
            or is missing there; None where there are problems.
        problems: Why columns of files do not go into it, all of them.
        features: Names of the table features that it needs.
    """

    strict: dict[str, Any] | None
    problems: tuple[FileProblem, ...]
    features: tuple[str, ...]
    mapped_columns: tuple[tuple[str, ...], ...]

    @property
    def nullable(self) -> dict[str, Any] | None:
        """The schema with every field, element and value nullable."""
        return None if self.strict is None else as_nullable(self.strict)


class SchemaMerger:
    """Merges file after file; it holds one schema, however many files there are.

    Args:
        convert: Converts the schema of a file, to Delta's unless another is given.
        ignores_case: Whether names that differ by case alone are one, as in Delta.
    """

    def __init__(
        self,
        convert: Callable[[ParquetFooter], DeltaConversion] = convert_file,
        *,
        ignores_case: bool = True,
    ) -> None:
        self._convert = convert
        self._fold: Callable[[str], str] = str.lower if ignores_case else str
        self._schema: dict[str, Any] | None = None
        self._problems: list[FileProblem] = []
        self._features: dict[str, None] = {}
        self._mapped: dict[tuple[str, ...], None] = {}
        self._origins: dict[tuple[str, ...], str] = {}
        self._known: list[_Known] = []

    def add(self, file: str, footer: ParquetFooter) -> None:
        """Merge the schema of a file: Spark's own where it left one, else Parquet's."""
        known = footer.metadata.elements, _row_metadata(footer)
        if known in self._known:
            return
        conversion = self._convert(footer)
        has_problems = len(self._problems)
        self.add_conversion(file, conversion)
        # Another file with a problem has it, too, and is named for it.
        if len(self._problems) == has_problems:
            self._known = [known, *self._known][:_REMEMBERED]

    def add_conversion(self, file: str, conversion: DeltaConversion) -> None:
        """Merge a schema that was converted already."""
        self._problems += [
            FileProblem(file, problem.path, problem.reason)
            for problem in conversion.problems
        ]
        self._features |= dict.fromkeys(conversion.features)
        self._mapped |= dict.fromkeys(conversion.mapped_columns)
        if conversion.strict is None:
            return
        merging = _Merging(file, self._origins, self._problems, self._fold)
        if self._schema is None:
            self._schema = conversion.strict
            merging.note(conversion.strict, ())
        else:
            self._schema = merging.structs(self._schema, conversion.strict, ())

    def merged(self) -> MergedSchema:
        problems = tuple(self._problems)
        if self._schema is None and not problems:
            problems = (FileProblem("", (), "there are no files"),)
        return MergedSchema(
            strict=None if problems else self._schema,
            problems=problems,
            features=tuple(self._features),
            mapped_columns=tuple(self._mapped),
        )


_Known = tuple[Sequence[SchemaElement], str | None]


def _row_metadata(footer: ParquetFooter) -> str | None:
    pairs = footer.metadata.key_values
    return next((value for key, value in pairs if key == ROW_METADATA), None)


@dataclass(frozen=True, slots=True)
class _Merging:
    """One file's schema on its way into that of the files before it."""

    file: str
    origins: dict[tuple[str, ...], str]
    problems: list[FileProblem]
    fold: Callable[[str], str]

    def note(self, data_type: DeltaType, path: tuple[str, ...]) -> None:
        """Keep from which file the type of a column comes, and of all below it."""
        self.origins.setdefault(self._key(path), self.file)
        if not isinstance(data_type, dict):
            return
        for name, below in _parts(data_type):
            self.note(below, (*path, name))

    def _key(self, path: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(self.fold, path))

    def structs(
        self, first: dict[str, Any], second: dict[str, Any], path: tuple[str, ...]
    ) -> dict[str, Any]:
        others = {self.fold(field["name"]): field for field in second["fields"]}
        fields = []
        for field in first["fields"]:
            other = others.pop(self.fold(field["name"]), None)
            if other is None:
                fields.append({**field, "nullable": True})
                continue
            own = (*path, field["name"])
            fields.append(
                {
                    **field,
                    "type": self.types(field["type"], other["type"], own),
                    "nullable": field["nullable"] or other["nullable"],
                }
            )
        for field in others.values():
            self.note(field["type"], (*path, field["name"]))
            fields.append({**field, "nullable": True})
        return {"type": "struct", "fields": fields}

    def types(
        self, first: DeltaType, second: DeltaType, path: tuple[str, ...]
    ) -> DeltaType:
        if isinstance(first, str) or isinstance(second, str):
            return self._plain_types(first, second, path)
        inner: Sequence[tuple[str, str]]
        match first["type"], second["type"]:
            case "struct", "struct":
                return self.structs(first, second, path)
            case "array", "array":
                inner = ("elementType", "element"), ("containsNull", "")
            case "map", "map":
                inner = (
                    *(("keyType", "key"), ("valueType", "value")),
                    ("valueContainsNull", ""),
                )
            case _:
                return self._conflict(first, second, path)
        return first | {
            key: self.types(first[key], second[key], (*path, name))
            if name
            else first[key] or second[key]
            for key, name in inner
        }

    def _plain_types(
        self, first: DeltaType, second: DeltaType, path: tuple[str, ...]
    ) -> DeltaType:
        if second in (first, "void"):
            return first
        is_wider = second in _WIDTHS and first in _WIDTHS[: _WIDTHS.index(second)]
        if first == "void" or is_wider:
            self.origins[self._key(path)] = self.file
            self.note(second, path)
            return second
        if first in _WIDTHS and second in _WIDTHS:
            return first
        return self._conflict(first, second, path)

    def _conflict(
        self, first: DeltaType, second: DeltaType, path: tuple[str, ...]
    ) -> DeltaType:
        before = self.origins.get(self._key(path), "another file")
        reason = f"its type is {_name(second)}, but {_name(first)} in {before}"
        self.problems.append(FileProblem(self.file, path, reason))
        return first


def _parts(data_type: dict[str, Any]) -> list[tuple[str, DeltaType]]:
    match data_type["type"]:
        case "struct":
            return [(field["name"], field["type"]) for field in data_type["fields"]]
        case "array":
            return [("element", data_type["elementType"])]
    return [("key", data_type["keyType"]), ("value", data_type["valueType"])]


def _name(data_type: DeltaType) -> str:
    name: str = data_type["type"] if isinstance(data_type, dict) else data_type
    return name
