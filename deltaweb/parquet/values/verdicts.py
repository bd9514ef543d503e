"""What a footer says of columns, checked before their values are believed.

pyarrow reads columns whose schema contradicts itself, and gives other values for them.

Source: parquet.thrift, "SchemaElement", "ColumnMetaData"; Parquet logical types.
"""

from collections.abc import Collection

from deltaweb.parquet.errors import SchemaCorruptError
from deltaweb.parquet.metadata import REPETITIONS
from deltaweb.parquet.schema import Node
from deltaweb.parquet.values.dictionaries import StoredChunks


def check_schema(root: Node, names: Collection[str] | None = None) -> None:
    """Check the repetitions and annotations of columns.

    Args:
        names: The columns that are read; None for all.

    Raises:
        SchemaCorruptError: If a column has an unknown repetition, or an annotation
            that does not fit its type.
    """
    for column in root.children or ():
        if names is not None and column.name not in names:
            continue
        for node in column.walk():
            repetition = node.element.repetition or "required"
            fault = node.invalid
            if repetition not in REPETITIONS:
                fault = f"the repetition {repetition} is not known"
            if fault is not None:
                reason = f"column {'.'.join(node.path)}: {fault}"
                raise SchemaCorruptError(reason=reason)


def check_paths(
    chunks: StoredChunks,
    row_group: int,
    names: Collection[str] | None = None,
) -> None:
    """Check that the column chunks of a row group are those of the schema.

    Args:
        names: The columns that are read; None for all.

    Raises:
        SchemaCorruptError: If a chunk has another path than its leaf column.
    """
    if row_group < chunks.num_usual_groups:
        return
    for leaf in chunks.root.leaves():
        if names is None or leaf.path[0] in names:
            check_path(leaf, chunks.of(row_group, leaf.leaf or 0).path)


def check_path(leaf: Node, stored: str) -> None:
    """Check that the path of a column chunk, with dots, is that of its leaf column."""
    own = ".".join(leaf.path)
    if own != stored:
        reason = f"column {own} has the values of {stored or 'no column'}"
        raise SchemaCorruptError(reason=reason)
