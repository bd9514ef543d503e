"""The errors of the Delta core, and the wording of each.

    DeltaError
    ├── SchemaError                a schema that cannot be understood
    ├── PartitionValueError        a partition value that is not of its column's type
    ├── PredicateError             a condition that cannot be understood
    ├── DataFileMissingError       a data file that the log names is gone
    └── DataFileError              a data file that cannot be read

An error takes facts and writes its own sentence, so a `raise` stays one line and
the same fault always reads the same. `hint` says what the reader can do next.
"""

from typing import ClassVar


class DeltaError(Exception):
    """Base of every error raised by `deltaweb.delta`."""

    code: ClassVar[str] = "delta-error"  # stable: logs, API bodies and tests use it

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(f"{message} {hint}")
        self.message = message
        self.hint = hint


class SchemaError(DeltaError):
    """A schema that cannot be understood; `column` is empty for the whole schema."""

    code = "schema-invalid"

    def __init__(self, *, column: str, reason: str) -> None:
        subject = f"Column `{column}` of the schema" if column else "The table's schema"
        super().__init__(
            f"{subject} cannot be understood: {reason}.",
            hint="Look at the table's metadata in its history, or choose a version "
            "with another schema.",
        )
        self.column = column
        self.reason = reason


class PartitionValueError(DeltaError):
    """A partition value that is not of its column's type."""

    code = "partition-value-invalid"

    def __init__(self, *, path: str, column: str, type_name: str, value: str) -> None:
        super().__init__(
            f"The file {path} has the value {value!r} for the partition column "
            f"`{column}`, which is no {type_name}.",
            hint="Leave the column out, or have the writer of the table correct it.",
        )
        self.path = path
        self.column = column
        self.value = value


class PredicateError(DeltaError):
    """A condition on rows that cannot be understood."""

    code = "predicate-invalid"

    def __init__(self, *, reason: str) -> None:
        super().__init__(
            f"The condition cannot be understood: {reason}.",
            hint="Write it as SQL over the table's columns, such as "
            "`day >= DATE '2024-01-01' AND amount IS NOT NULL`.",
        )
        self.reason = reason


class DataFileMissingError(DeltaError):
    """A data file that the log names is gone."""

    code = "data-file-missing"

    def __init__(self, *, path: str) -> None:
        super().__init__(
            f"The data file {path} is gone, though the log still names it.",
            hint="VACUUM may have removed it: choose a newer version, or restore it.",
        )
        self.path = path


class DataFileError(DeltaError):
    """A data file that cannot be read as the log says."""

    code = "data-file-corrupt"

    def __init__(self, *, path: str, reason: str, column: str = "") -> None:
        subject = (
            f"Column `{column}` of the data file {path}"
            if column
            else (f"The data file {path}")
        )
        super().__init__(
            f"{subject} cannot be read: {reason}.",
            hint="Restore the file from a copy, or choose a version without it.",
        )
        self.path = path
        self.column = column
        self.reason = reason
