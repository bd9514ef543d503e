"""The errors of the catalogue, and the wording of each.

DeltaError
├── TableNameError              a name that breaks the rules of names
├── TableNameTakenError         another table has that name
├── TableNotRegisteredError     no table has that name
├── TableInUseError             something still needs the table
├── NoWorkerError               nobody is there to do the work
├── ResultTooLargeError         more rows than are kept for a download
├── OutputFormatError           a file name that tells no format we write
├── CleanupOutdatedError        more of a log would go than was agreed to
└── ScanRootError               a folder that cannot be scanned
"""

from collections.abc import Sequence

from deltaweb.delta.errors import DeltaError


class TableNameError(DeltaError):
    """A table's name breaks the rules of names."""

    code = "table-name-invalid"

    def __init__(self, *, name: str, reason: str) -> None:
        super().__init__(
            f"{name[:80]!r} is not a table's name: {reason}.",
            hint="Write `table` or `namespace.table`, of letters, digits, _ and -.",
        )
        self.name = name


class TableNameTakenError(DeltaError):
    """Another table already has the name."""

    code = "table-name-taken"

    def __init__(self, *, name: str, location: str) -> None:
        super().__init__(
            f"A table named {name} is already registered, at {location}.",
            hint="Choose another name, or rename or remove that table first.",
        )


class TableNotRegisteredError(DeltaError):
    """No table of the catalogue has the name."""

    code = "table-not-registered"

    def __init__(self, *, name: str, similar: Sequence[str] = ()) -> None:
        """Take the names of tables that may have been meant."""
        meant = f"Did you mean {' or '.join(similar)}? " if similar else ""
        super().__init__(
            f"No table is named {name[:200]!r}.",
            hint=f"{meant}`table list` shows the names of all tables.",
        )


class TableInUseError(DeltaError):
    """Something still needs the table, so it cannot be removed."""

    code = "table-in-use"

    def __init__(self, *, name: str, users: Sequence[str]) -> None:
        super().__init__(
            f"{name} cannot be removed: it is still used by {', '.join(users)}.",
            hint="Take it out there first.",
        )


class ResultTooLargeError(DeltaError):
    """A filter lets through more rows than are kept for a download."""

    code = "result-too-large"

    def __init__(self, *, rows: int, max_bytes: int) -> None:
        super().__init__(
            f"The first {rows} rows alone pass the {max_bytes >> 20} MiB that are kept "
            "for a download.",
            hint="Filter further, or use `deltaweb table rows --format csv`.",
        )


class ScanRootError(DeltaError):
    """A folder cannot be scanned for tables."""

    code = "scan-root-invalid"

    def __init__(self, *, root: str, reason: str) -> None:
        super().__init__(
            f"{root} cannot be scanned: {reason}.",
            hint="Give an existing local folder that this user can read.",
        )


class NoWorkerError(DeltaError):
    """A job was to be waited for, and no worker is there to take it."""

    code = "no-worker"

    def __init__(self, *, job: str) -> None:
        super().__init__(
            f"No worker is running for it, so this job waits: {job}.",
            hint="Start one (make run, or deltaweb worker); nothing is lost.",
        )


class OutputFormatError(DeltaError):
    """The name of a file to write does not tell a format."""

    code = "output-format-unknown"

    def __init__(self, *, name: str, formats: Sequence[str]) -> None:
        super().__init__(
            f"{name} does not tell what to write.",
            hint=f"End the name with {' or '.join(formats)}.",
        )
        self.name = name


class CleanupOutdatedError(DeltaError):
    """More of a log would go than somebody has seen and agreed to."""

    code = "cleanup-outdated"
    status = 409

    def __init__(self, *, name: str) -> None:
        super().__init__(
            f"Nothing of the log of {name} was deleted: what would go is no longer "
            "what was shown.",
            hint="Look at the new list, then agree to that.",
        )
        self.name = name
