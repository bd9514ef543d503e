"""What some commits hold, parsed: file actions as columns, all else by commit.

`msgspec_reader` makes it quickly of commits as writers make them, and `batch` of any.

Source: delta_protocol.md, "Actions".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from deltaweb.delta.log.commits.arrow_reader import Longs
from deltaweb.delta.log.commits.provenance import SAYS_NOTHING, Provenances
from deltaweb.delta.log.file_actions import no_dv_ids
from deltaweb.delta.protocol.actions import SetTransaction

Flags = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True, eq=False)
class FileActionRows:
    """The file actions of some commits, a row each, in the order of the lines.

    Attributes:
        owners: The position of the commit that each is of, ascending.
        paths: Of the file; null where it does not say, as all that follow.
        num_records: Live rows of the file: those that no deletion vector deletes.
        deletion_ms: When a removed file left the table.
    """

    owners: Longs
    is_add: Flags
    paths: pa.StringArray
    dv_ids: pa.StringArray
    sizes: pa.Int64Array
    changes: pa.BooleanArray
    num_records: pa.Int64Array
    deletion_ms: pa.Int64Array


@dataclass(frozen=True, slots=True, eq=False)
class CommitActions:
    """The actions of some commits, oldest first.

    Attributes:
        num_lines: Count of lines of each that hold an action, known or not.
        provenance: What the last commitInfo of each says.
        metadata: The last metaData of each that has one as it is in the log, by
            position.
        transactions: What each notes of applications that it names, by position.
    """

    num_lines: Longs
    files: FileActionRows
    provenance: Provenances
    metadata: Mapping[int, Mapping[str, Any]]
    protocols: Mapping[int, Mapping[str, Any]]
    transactions: Mapping[int, Sequence[SetTransaction]]


def no_actions(num_commits: int) -> CommitActions:
    """Return what commits hold that do not read."""
    no_longs, no_numbers = np.empty(0, np.int64), pa.array([], pa.int64())
    files = FileActionRows(
        owners=no_longs,
        is_add=np.empty(0, np.bool_),
        paths=pa.array([], pa.string()),
        dv_ids=no_dv_ids(0),
        sizes=no_numbers,
        changes=pa.array([], pa.bool_()),
        num_records=no_numbers,
        deletion_ms=no_numbers,
    )
    said = Provenances.of([SAYS_NOTHING] * num_commits)
    return CommitActions(np.zeros(num_commits, np.int64), files, said, {}, {}, {})
