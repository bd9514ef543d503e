"""The rows of a table for other libraries, which are imported when they are needed.

duckdb.sql("SELECT count(*) FROM orders")   # of a variable: __arrow_c_stream__
polars.from_arrow(DeltaTable("/data/lake/orders"))
"""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from deltaweb.errors import DeltawebError

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow.dataset as ds

    from deltaweb.delta.scan.row_condition import Condition
    from deltaweb.delta.scan.rows import RowScan


class PackageMissingError(DeltawebError, ImportError, code="package-missing"):
    """Rows are wanted as values of a library that is not installed."""

    package: str
    message = "{package} is not installed."
    hint = "Install it: pip install {package}."


class Frames:
    """Hands on rows. A table hands on those of its newest version.

    Columns, predicate and limit are those of `scan`, and so are the errors.
    """

    def scan(
        self,
        columns: Sequence[str] | None = None,
        predicate: "Condition | str | None" = None,
        limit: int | None = None,
        *,
        typed_variants: bool = False,
    ) -> "RowScan":
        """Read rows by the logical schema, batch by batch.

        Args:
            columns: Columns in the order wanted, a dotted name for a nested one;
                all for None. A part of a variant is one by its name, of the form
                `payload:$.user.id::bigint` (`deltaweb.delta.scan.variant_parts`).
            predicate: A `pyarrow.compute.Expression` over logical names, a predicate
                of `deltaweb.delta.scan.predicate`, or SQL text, which has the meaning
                that Spark gives it; the last two may name parts of variants, which SQL
                has in backticks.
            limit: How many rows at most; reading stops there.
            typed_variants: Whether columns of variants tell the type of each value:
                `variant_tree` reads that.

        Raises:
            WrongTypeError: If an argument is of a wrong type.
            DeltaError: If the version may not be read; and while iterating, if a
                file of it does not read.
        """
        raise NotImplementedError

    def read(
        self,
        columns: Sequence[str] | None = None,
        predicate: "Condition | str | None" = None,
        limit: int | None = None,
        *,
        typed_variants: bool = False,
    ) -> pa.Table:
        """Read rows by the logical schema into one table; see `scan`."""
        rows = self.scan(columns, predicate, limit, typed_variants=typed_variants)
        return pa.Table.from_batches(rows, rows.schema)

    def to_pandas(
        self,
        columns: Sequence[str] | None = None,
        predicate: "Condition | str | None" = None,
        limit: int | None = None,
        **options: Any,  # noqa: ANN401  # those of pyarrow
    ) -> "pd.DataFrame":
        """Return rows as a DataFrame of pandas.

        Args:
            columns: As `scan` takes them.
            predicate: As above.
            limit: As above.
            **options: Of `pyarrow.Table.to_pandas`, such as `types_mapper`.

        Raises:
            PackageMissingError: If pandas is not installed.
            DeltaError: As `scan` does.
        """
        _load("pandas")
        frame: pd.DataFrame = self.read(columns, predicate, limit).to_pandas(**options)
        return frame

    def to_polars(
        self,
        columns: Sequence[str] | None = None,
        predicate: "Condition | str | None" = None,
        limit: int | None = None,
    ) -> "pl.DataFrame":
        """Return rows as a DataFrame of Polars.

        Raises:
            PackageMissingError: If Polars is not installed.
            DeltaError: As `scan` does.
        """
        polars = _load("polars")
        rows = self.read(columns, predicate, limit)
        frame: pl.DataFrame = polars.DataFrame(polars.from_arrow(rows))
        return frame

    def to_duckdb(
        self,
        columns: Sequence[str] | None = None,
        predicate: "Condition | str | None" = None,
        limit: int | None = None,
        *,
        connection: "duckdb.DuckDBPyConnection | None" = None,
    ) -> "duckdb.DuckDBPyRelation":
        """Return rows as a relation of DuckDB, which they are read into.

        Args:
            columns: As `scan` takes them.
            predicate: As above.
            limit: As above.
            connection: Where the relation lives; DuckDB's own for None.

        Raises:
            PackageMissingError: If DuckDB is not installed.
            DeltaError: As `scan` does.
        """
        library = _load("duckdb")
        rows = self.read(columns, predicate, limit)
        relation: duckdb.DuckDBPyRelation = (connection or library).from_arrow(rows)
        return relation

    def to_pyarrow_dataset(self) -> "ds.Dataset":
        """Return the files as a dataset of pyarrow, where that has the same rows.

        Files that Spark wrote by its old calendar have other dates before 1582 there.
        pyarrow does not count the rows of damaged files, as `read` and `scan` do.
        In its schema every part of a nested value may be null.

        Raises:
            DatasetInexactError: If it has not; names what stands in the way.
            DeltaError: As `scan` does.
        """
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as an Arrow stream, batch by batch, to whatever takes one.

        Source: The Arrow PyCapsule Interface.
        """
        rows = self.scan()
        reader = pa.RecordBatchReader.from_batches(rows.schema, iter(rows))
        return reader.__arrow_c_stream__(requested_schema)


def _load(package: str) -> Any:  # noqa: ANN401  # a library
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        raise PackageMissingError(package=package) from error
