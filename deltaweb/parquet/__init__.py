"""The Parquet reader for footers, logical types, statistics and values.

`describe` and `preview` are its public functions. pyarrow never parses a footer before
our own reader has checked it, because pyarrow can end the process on a broken one.
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
