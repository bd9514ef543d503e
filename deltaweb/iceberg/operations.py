"""The operation of a snapshot: what its commit did to the files of the table.

Source: Iceberg specification, "Snapshots"; delta_protocol.md, "Add File and Remove
File" (`dataChange`).
"""

from typing import Final, Protocol

APPEND: Final = "append"
REPLACE: Final = "replace"
OVERWRITE: Final = "overwrite"
DELETE: Final = "delete"


class CountedChanges(Protocol):
    """The file actions of a commit, counted.

    Attributes:
        data_change: Whether one of them changes data.
    """

    @property
    def num_added_files(self) -> int: ...

    @property
    def num_removed_files(self) -> int: ...

    @property
    def data_change(self) -> bool: ...


def operation_of(
    changes: CountedChanges, *, before: int | None, after: int | None
) -> str:
    """Return the operation of a commit; `OVERWRITE` where it is not known.

    Readers of appended files skip `REPLACE` without a word and refuse `OVERWRITE`. So
    `APPEND` and `REPLACE` are said only of what is known.

    Args:
        before: Count of files at the version before, 0 for the first version; None
            where it is not known or not shared.
        after: Count of files at the version; None where it is not known.
    """
    adds, removes = changes.num_added_files, changes.num_removed_files
    if before is None or after is None:
        return OVERWRITE
    # Files of a table that had none are new, also where they claim to change nothing.
    if not changes.data_change and (before or not adds):
        return REPLACE
    if removes:
        return OVERWRITE if adds else DELETE
    # A file that is added again replaces what the log said of it.
    return APPEND if before + adds == after else OVERWRITE
