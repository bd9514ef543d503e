"""Parquet files by themselves: footers, logical types, statistics, values.

Read the modules in this order:

    tail         the footer's bytes, with one read of the file's end
    compact      Thrift's compact protocol, bounded
    metadata     what a footer holds, as stored
    counts       what a reader of rows asks of it, and nothing else
    arrow_footer it as pyarrow takes it
    annotations  what a logical type is, and which physical types may have it
    schema       the columns as a tree
    nesting      lists and maps, however they are nested
    rendering    values as JSON, by their type
    statistics   bounds of column chunks, and whether they may be believed
    conversion   the schema as other systems write it
    loading      the footer of a file with its schema
    inspection   a footer as one JSON document, or as tables that a page shows by parts
    values       rows as JSON, read where nothing takes a process down

`describe` and `preview` are for whoever has a file. Nothing here knows a Delta table.
pyarrow is asked for no metadata: it ends the process on footers that contradict
themselves.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import names_on_demand

if TYPE_CHECKING:
    from deltaweb.parquet.inspection.description import describe
    from deltaweb.parquet.values.preview import preview
else:  # what reads log files needs none of this
    __getattr__ = names_on_demand(
        __name__,
        {
            "describe": "deltaweb.parquet.inspection.description",
            "preview": "deltaweb.parquet.values.preview",
        },
    )

__all__ = ["describe", "preview"]
