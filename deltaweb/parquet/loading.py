"""A file's footer with the schema that it describes."""

from dataclasses import dataclass

from deltaweb.parquet.metadata import FileMetadata, parse_metadata
from deltaweb.parquet.schema import Node, build_schema
from deltaweb.parquet.tail import LARGE_FOOTER_BYTES, RangeSource, read_footer


@dataclass(frozen=True, slots=True)
class ParquetFooter:
    """A footer and the schema that it describes.

    Attributes:
        leaves: The leaf columns, in the order of the column chunks.
    """

    metadata: FileMetadata
    root: Node
    leaves: tuple[Node, ...]

    def order(self, leaf: int) -> str | None:
        """Return the column order of a leaf; None where the footer has none."""
        orders = self.metadata.column_orders
        return None if orders is None or leaf >= len(orders) else orders[leaf]


def load_footer(
    source: RangeSource, max_bytes: int = LARGE_FOOTER_BYTES
) -> ParquetFooter:
    """Read and parse the footer of an open file."""
    metadata = parse_metadata(read_footer(source, max_bytes))
    root = build_schema(metadata.elements)
    return ParquetFooter(metadata, root, tuple(root.leaves()))
