"""What the readers of every format yield: columns of a file, and the lines of rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

Lines = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class BadValue:
    """A value, or a row, that does not fit.

    Attributes:
        line: The line of the row, from 1; the row's number where a file has no lines.
    """

    file: str
    line: int
    column: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True)
class SourceBatch:
    """Some rows of a file.

    Attributes:
        columns: By the file's names; texts where the file has no types.
        broken: Rows that were no rows, and are not among them.
        delimiter: What is between the fields of a CSV file.
    """

    columns: Mapping[str, pa.Array]
    lines: Lines
    broken: tuple[BadValue, ...] = field(default=())
    delimiter: str = ""
