"""What a footer says of columns, checked before their values are believed.

pyarrow reads columns whose schema contradicts itself, and gives other values for them.

Source: parquet.thrift, "SchemaElement", "ColumnMetaData"; Parquet logical types.
"""

from collections.abc import Collection
from typing import Final

from deltaweb.parquet.errors import (
    FooterCorruptError,
    ParquetError,
    ParquetUnsupportedError,
    RowsMissingError,
    SchemaCorruptError,
)
from deltaweb.parquet.loading import ParquetFooter
from deltaweb.parquet.metadata import (
    CODECS,
    ENCODINGS,
    PHYSICAL_TYPES,
    REPETITIONS,
    ColumnChunk,
    parse_metadata,
)
from deltaweb.parquet.nesting import faults
from deltaweb.parquet.schema import Node, flat_leaves
from deltaweb.parquet.values.dictionaries import StoredChunks
from deltaweb.parquet.values.extents import check_extent, check_row_counts
from deltaweb.parquet.values.known_schemas import known_schemas

MAX_DECIMAL_BYTES: Final = 32
_INT32, _INT32_BYTES = PHYSICAL_TYPES.index("INT32"), 4
_DELTAS: Final = ENCODINGS.index("DELTA_BINARY_PACKED")
_WIDE_RANGE: Final = 1 << 31
"""Two differences of numbers in a smaller range differ by 32 bits at most."""
_FIXED_BYTES: Final = {0: 1, 1: 4, 2: 8, 4: 4, 5: 8}
"""How many bytes a bound of a physical type has, by the number of the type."""
_BOUNDS: Final = ("min", "max", "min_value", "max_value")
_DELTA_FAULTS: Final = ("InitBlock", "delta bit width")
_READ_CODECS: Final = frozenset(CODECS) - {"LZO"}
_READ_ENCODINGS: Final = frozenset({0, *range(2, ENCODINGS.index("ALP"))})
_KNOWN_REPETITIONS: Final = frozenset({None, *REPETITIONS})


def check_schema(root: Node, names: Collection[str] | None = None) -> None:
    """Check the repetitions and annotations of columns.

    Args:
        names: The columns that are read; None for all.

    Raises:
        SchemaCorruptError: If a column has an unknown repetition, or an annotation
            that does not fit its type.
        ParquetUnsupportedError: If it has values of no bytes, or decimals of too many.
    """
    known, is_sound = known_schemas(), True
    if known.is_sound(root):
        return
    for column in root.children or ():
        try:
            _check_column(column)
        except ParquetError:
            if names is None or column.name in names:
                raise
            is_sound = False
    if is_sound:
        known.note_sound(root)


def _check_column(column: Node) -> None:
    for node in column.walk():
        _check_node(node)
    for node, fault in faults(column):
        reason = f"column {'.'.join(node.path)}: {fault}"
        raise SchemaCorruptError(reason=reason)


def _check_node(node: Node) -> None:
    element = node.element
    if element.repetition not in _KNOWN_REPETITIONS:
        reason = (
            f"column {'.'.join(node.path)}: the repetition {element.repetition}"
            " is not known"
        )
        raise SchemaCorruptError(reason=reason)
    length = element.type_length
    if length is None or element.physical_type != "FIXED_LEN_BYTE_ARRAY":
        return
    if not length or (node.kind == "DECIMAL" and length > MAX_DECIMAL_BYTES):
        kind = "values" if node.annotation is None else node.annotation.text
        reason = f"column {'.'.join(node.path)} has {kind} of {length:,} bytes"
        raise ParquetUnsupportedError(reason=reason)


def check_chunks(
    chunks: StoredChunks,
    row_group: int,
    num_rows: int,
    names: Collection[str] | None = None,
) -> None:
    """Check that the column chunks of a row group are those of the schema.

    Args:
        num_rows: The rows of the row group, by the footer.
        names: The columns that are read; None for all.

    Raises:
        SchemaCorruptError: If a chunk has another path than its leaf column.
        RowsMissingError: If it has more values than the row group has rows.
    """
    usual = chunks.usual_counts
    counts = usual[row_group] if row_group < len(usual) else None
    flat = chunks.flat_leaves
    if counts is not None and all(counts[leaf] <= num_rows for leaf in flat):
        return
    for leaf in chunks.root.leaves():
        if names is not None and leaf.path[0] not in names:
            continue
        place = leaf.leaf or 0
        if counts is None:
            chunk = chunks.of(row_group, place)
            check_path(leaf, chunk.path)
            num_values = chunk.num_values
        else:
            num_values = counts[place]
        if place in flat:
            check_count(leaf, num_values, num_rows)


def check_count(leaf: Node, num_values: int, num_rows: int) -> None:
    """Check that a column without lists has no more values than there are rows."""
    if num_values > num_rows:
        reason = (
            f"column {'.'.join(leaf.path)} has {num_values:,} values in a row group"
            f" of {num_rows:,} rows"
        )
        raise RowsMissingError(reason=reason)


def check_path(leaf: Node, stored: str) -> None:
    """Check that the path of a column chunk, with dots, is that of its leaf column."""
    own = ".".join(leaf.path)
    if own != stored:
        reason = f"column {own} is stored as {stored or 'a column without a name'}"
        raise SchemaCorruptError(reason=reason)


def check_footer(footer: ParquetFooter, size: int) -> tuple[str, ...]:
    """Check everything that a footer says of the pages of a file, but not its schema.

    Args:
        size: Of the file, in bytes.

    Returns:
        The columns of which only decoding shows whether they can be read: DuckDB packs
        differences of 32-bit numbers in 33 bits, decimals of any length may have more
        than 32 bytes, a footer may count fewer values than rows, and keys of maps
        that may be null must not be.

    Raises:
        ParquetError: If its rows cannot all be read from the file.
    """
    check_row_counts(footer)
    flat = flat_leaves(footer.root)
    leaves = [
        (leaf, ".".join(leaf.path), leaf.leaf in flat, _is_long_decimal(leaf))
        for leaf in footer.leaves
    ]
    doubtful = dict.fromkeys(
        node.path[0] for node in footer.root.walk() if _has_optional_key(node)
    )
    for group in footer.metadata.row_groups:
        if len(group.raw_columns) != len(leaves):
            reason = (
                f"a row group has {len(group.raw_columns):,} chunks for"
                f" {len(leaves):,} columns"
            )
            raise FooterCorruptError(reason=reason)
        for chunk, (leaf, name, is_flat, is_doubtful) in zip(
            group.chunks(), leaves, strict=True
        ):
            _check_chunk(chunk, leaf, name)
            check_extent(chunk, size)
            num_values = chunk.values.get("num_values", 0)
            if is_flat:
                check_count(leaf, num_values, group.num_rows)
            is_short = is_flat and num_values < group.num_rows
            if (
                is_doubtful
                or is_short
                or _has_wide_deltas(chunk)
                or _has_odd_bounds(chunk)
            ):
                doubtful[leaf.path[0]] = None
    return tuple(doubtful)


def _check_chunk(chunk: ColumnChunk, leaf: Node, name: str) -> None:
    if chunk.chunk.get("file_path"):
        raise FooterCorruptError(reason="its columns are in other files")
    if chunk.is_encrypted:
        raise ParquetUnsupportedError(reason=f"column {name} is encrypted")
    check_path(leaf, ".".join(chunk.path))
    if chunk.physical_type != leaf.element.physical_type:
        reason = (
            f"column {name} is {leaf.element.physical_type}, but its pages are"
            f" {chunk.physical_type}"
        )
        raise FooterCorruptError(reason=reason)
    if chunk.codec not in _READ_CODECS:
        reason = (
            f"column {name} is compressed with {chunk.codec}, which is not supported"
        )
        raise ParquetUnsupportedError(reason=reason)
    if not _READ_ENCODINGS.issuperset(chunk.values.get("encodings", ())):
        encodings = ", ".join(chunk.encodings)
        reason = f"column {name} has an unsupported encoding ({encodings})"
        raise ParquetUnsupportedError(reason=reason)


def explain_fault(
    error: Exception, footer: bytes, names: Collection[str] | None = None
) -> None:
    """Raise an error if a file that pyarrow cannot decode may be healthy.

    Args:
        error: What pyarrow says.
        footer: The bytes of the file's footer.
        names: The columns that were read; None for all.

    Raises:
        ParquetUnsupportedError: If differences of numbers may take too many bits.
    """
    if not any(mark in str(error) for mark in _DELTA_FAULTS):
        return
    for group in parse_metadata(footer).row_groups:
        for chunk in group.chunks():
            is_read = names is None or (chunk.path[:1] and chunk.path[0] in names)
            if is_read and _has_wide_deltas(chunk):
                reason = (
                    f"column {'.'.join(chunk.path)} packs differences of 32-bit"
                    " numbers in more than 32 bits"
                )
                raise ParquetUnsupportedError(reason=reason)


def _has_odd_bounds(chunk: ColumnChunk) -> bool:
    """Whether bounds of fixed length have another one: pyarrow may stop at them."""
    length = _FIXED_BYTES.get(chunk.values.get("type", -1))
    statistics = chunk.statistics
    if length is None or statistics is None:
        return False
    return any(
        len(statistics[name]) != length for name in _BOUNDS if name in statistics
    )


def _has_wide_deltas(chunk: ColumnChunk) -> bool:
    """Whether differences of a chunk of 32-bit numbers may take more than 32 bits."""
    values = chunk.values
    if values.get("type") != _INT32 or _DELTAS not in values.get("encodings", ()):
        return False
    statistics = chunk.statistics or {}
    low, high = statistics.get("min_value", b""), statistics.get("max_value", b"")
    if not len(low) == len(high) == _INT32_BYTES:
        return True
    numbers = [int.from_bytes(raw, "little", signed=True) for raw in (low, high)]
    return not 0 <= numbers[1] - numbers[0] < _WIDE_RANGE


def _has_optional_key(node: Node) -> bool:
    if node.kind != "MAP" or not node.children:
        return False
    entries = node.children[0].children or ()
    return any(not (key.is_required or key.is_repeated) for key in entries[:1])


def _is_long_decimal(leaf: Node) -> bool:
    return leaf.kind == "DECIMAL" and leaf.element.physical_type == "BYTE_ARRAY"
