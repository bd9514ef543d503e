"""Errors of a schema, and of values and filters that do not fit it."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

from deltaweb.delta.errors.base import DeltaError

MAX_LISTED_COLUMNS: Final = 20
MAX_COMPARED_COLUMNS: Final = 2_000  # beyond, a spelling is not searched for
MAX_NAME_LENGTH: Final = 80
MAX_PATH: Final = 500  # characters of a path in a sentence


class SchemaError(DeltaError):
    """A schema, or one of its columns, is not of the specification."""

    code = "schema-invalid"

    def __init__(
        self,
        *,
        column: str,
        reason: str,
        hint: str = "Choose a version with a valid schema, or repair the table.",
    ) -> None:
        where = f"Column {shortened_name(column)!r}" if column else "The schema"
        super().__init__(f"{where}: {reason}.", hint=hint)
        self.column = column
        self.reason = reason


class ColumnTypeError(SchemaError):
    """A column is of a type whose values this server does not read."""

    code = "column-type-not-read"

    def __init__(self, *, column: str, type_name: str) -> None:
        which = f"Column {column!r}" if column else "A column"
        super(SchemaError, self).__init__(
            f"{which} is of type {type_name}, which this server does not read.",
            hint="Choose other columns: they are read all the same.",
        )
        self.column = column
        self.reason = f"its type {type_name} is not read"
        self.type_name = type_name


class SchemaMissingError(SchemaError):
    """The metaData action carries no schema."""

    code = "metadata-missing-schema"

    def __init__(self, *, root: str, version: int) -> None:
        reason = f"it is missing from the metaData of {root} at version {version}"
        super().__init__(column="", reason=reason)


class SchemaTooWideError(SchemaError):
    """A schema with more columns than a page builds."""

    code = "schema-too-wide"

    def __init__(self, *, num_columns: int, num_fields: int, most: int) -> None:
        nested = f" ({num_fields:,} with nested ones)" * (num_fields != num_columns)
        what = f"it has {num_columns:,} columns{nested}" if num_fields else "it is long"
        super().__init__(
            column="",
            reason=f"{what}, too wide to show; pages show {most:,} at most",
            hint="Download the schema as JSON; history and files are shown.",
        )
        self.num_columns = num_columns


class PropertyError(DeltaError):
    """A table property does not parse."""

    code = "property-invalid"

    def __init__(self, *, name: str, value: str, expected: str) -> None:
        super().__init__(
            f"The table property {name} is {value!r}, which is not {expected}.",
            hint="Correct the property of the table.",
        )
        self.name = name


class PartitionValueError(DeltaError):
    """A partition value is not of its column's type."""

    code = "partition-value-invalid"

    def __init__(self, *, path: str, column: str, value: str, type_name: str) -> None:
        super().__init__(
            f"The partition value {shortened_name(value)!r} of column "
            f"{shortened_name(column)!r} is not a {type_name} "
            f"(file {path[:MAX_PATH]}).",
            hint="Choose a version without that file, or repair the table.",
        )
        self.path = path
        self.column = column
        self.value = value


class PredicateError(DeltaError):
    """A filter does not parse, or does not fit the schema.

    Attributes:
        reason: Why, as half a sentence.
    """

    code = "predicate-invalid"

    def __init__(self, *, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"The filter cannot be used: {reason}.",
            hint="Write it as in SQL, for example: amount > 10 AND country = 'DE'.",
        )


class ColumnNotFoundError(DeltaError):
    """A column that was asked for is not in the schema."""

    code = "column-not-found"

    def __init__(self, *, column: str, columns: Iterable[str]) -> None:
        super().__init__(
            f"The table has no column {shortened_name(column)!r}.",
            hint=column_hint(column, tuple(columns)),
        )
        self.column = column


def column_hint(column: str, columns: Sequence[str]) -> str:
    """Say which columns may be meant by one that is not there, and which there are.

    Of many columns the first are listed, and none where a name is much alike.
    """
    if not columns:
        return "It has no columns."
    by_lower_name = {name.lower(): name for name in columns[:MAX_COMPARED_COLUMNS]}
    close = get_close_matches(column[:MAX_NAME_LENGTH].lower(), by_lower_name, n=3)
    meant = " or ".join(repr(shortened_name(by_lower_name[name])) for name in close)
    question = f"Did you mean {meant}?" if close else ""
    more = len(columns) - MAX_LISTED_COLUMNS
    if close and more > 0:
        return question
    rest = f" and {more:,} more" if more > 0 else ""
    listed = ", ".join(map(shortened_name, columns[:MAX_LISTED_COLUMNS]))
    return f"{question} Its columns are: {listed}{rest}.".strip()


def shortened_name(name: str) -> str:
    """Return a name as a sentence can hold it."""
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 1]}…"
