"""Texts of a log as lists show them: a long one is cut, and says how long it is."""

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

MAX_LENGTH: Final = 500  # characters that a list shows as they are
MAX_PATH_LENGTH: Final = 1_000  # of a file's path, and of what an address may name
SHOWN_LENGTH: Final = 300  # of a longer text
MAX_CHUNK_BYTES: Final = 8 << 20


def are_long(texts: Any, longest: int = MAX_LENGTH) -> Any:  # noqa: ANN401 (an Arrow array, chunked or not)
    """Mark the texts that a list cuts; null is none."""
    return pc.fill_null(pc.greater(pc.utf8_length(texts), longest), fill_value=False)


def cut_texts(texts: Any, longest: int = MAX_LENGTH) -> Any:  # noqa: ANN401 (an Arrow array, chunked or not)
    """Return texts with the long ones cut: their beginning and their length.

    What is cut is said in the text itself, so that a script cannot mistake it.
    """
    is_long = are_long(texts, longest)
    if not pc.any(is_long).as_py():
        return texts
    starts = pc.utf8_slice_codeunits(texts, 0, SHOWN_LENGTH)
    lengths = pc.cast(pc.utf8_length(texts), pa.string())
    marked = pc.binary_join_element_wise(starts, "… (", lengths, " characters)", "")
    return pc.if_else(is_long, marked, texts)


def chunk_length(rows: pa.Table, most: int) -> int:
    """Return how many rows an export may hold at once: fewer where values are long."""
    num_rows, num_bytes = int(rows.num_rows), int(rows.nbytes)
    average_bytes = num_bytes // max(num_rows, 1)
    return max(min(most, MAX_CHUNK_BYTES // max(average_bytes, 1)), 1)
