"""The errors of storage connections, and the wording of each; none holds a value.

DeltaError
├── StorageNameError           a connection's name that breaks the rules
├── StorageNameTakenError      another connection has that name
├── StoragePrefixTakenError    another connection is for that prefix
├── StorageNotFoundError       no connection has that name
├── StorageOptionError         an option that cannot be one
├── StorageReferenceError      a variable or file that an option names is missing
└── StorageSealedError         options that were sealed with another secret key
"""

from deltaweb.delta.errors import DeltaError


class StorageNameError(DeltaError):
    """A storage connection's name breaks the rules of names."""

    code = "storage-name-invalid"

    def __init__(self, *, name: str) -> None:
        super().__init__(
            f"{name[:80]!r} is not a name of a storage.",
            hint="Use letters, digits, dots, _ and -, at most 100.",
        )


class StorageNameTakenError(DeltaError):
    """Another storage connection already has the name."""

    code = "storage-name-taken"

    def __init__(self, *, name: str, prefix: str) -> None:
        super().__init__(
            f"A storage named {name} is there already, for {prefix}.",
            hint="Choose another name, or pass --replace to give it other options.",
        )


class StoragePrefixTakenError(DeltaError):
    """Another storage connection is for the same prefix."""

    code = "storage-prefix-taken"

    def __init__(self, *, name: str, prefix: str) -> None:
        super().__init__(
            f"{prefix} belongs to the storage {name} already.",
            hint="Choose a longer prefix, or replace or remove that storage.",
        )


class StorageNotFoundError(DeltaError):
    """No storage connection has the name."""

    code = "storage-not-found"

    def __init__(self, *, name: str) -> None:
        super().__init__(
            f"No storage is named {name[:100]!r}.",
            hint="`storage list` shows the names of all storages.",
        )


class StorageOptionError(DeltaError):
    """An option of a storage connection cannot be one; its value is not told."""

    code = "storage-option-invalid"

    def __init__(self, *, reason: str) -> None:
        super().__init__(
            f"An option of the storage cannot be used: {reason}.",
            hint="Write KEY=VALUE, KEY=env:VARIABLE or KEY=file:PATH.",
        )


class StorageReferenceError(DeltaError):
    """What an option refers to is not there."""

    code = "storage-reference-missing"

    def __init__(self, *, storage: str, option: str, source: str, reason: str) -> None:
        """Take the source as `the variable NAME` or `the file PATH`."""
        super().__init__(
            f"The storage {storage} takes its option {option} from {source},"
            f" which {reason}.",
            hint="Provide it to every process of the server, then try again.",
        )


class StorageSealedError(DeltaError):
    """The options of a storage connection were sealed with another secret key."""

    code = "storage-sealed"

    def __init__(self, *, storage: str) -> None:
        super().__init__(
            f"The options of the storage {storage} are sealed with another secret key.",
            hint="Put the former key into DELTAWEB_SECRET_KEY_FALLBACKS, or give the"
            " options again: storage add --replace.",
        )
