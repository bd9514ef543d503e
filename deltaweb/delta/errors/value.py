"""Errors of a schema, and of values and filters that do not fit it."""

from collections.abc import Iterable

from deltaweb.delta.errors.base import DeltaError


class SchemaError(DeltaError):
    """A schema, or one of its columns, is not of the specification."""

    code = "schema-invalid"

    def __init__(self, *, column: str, reason: str) -> None:
        where = f"Column {column!r}" if column else "The schema"
        super().__init__(
            f"{where}: {reason}.",
            hint="Choose a version with a valid schema, or repair the table.",
        )
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
            f"The partition value {value!r} of column {column!r} is not a {type_name} "
            f"(file {path}).",
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
            f"The table has no column {column!r}.",
            hint=f"Its columns are: {', '.join(columns)}.",
        )
        self.column = column
