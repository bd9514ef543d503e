"""The library of deltaweb, a browser for Delta tables and a Delta Sharing server.

Start at `table` (`DeltaTable`) and `delta`, the log; docs/architecture.md draws the
whole tree. Importing this package loads neither Django nor Celery.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import names_on_demand

if TYPE_CHECKING:
    from deltaweb.table import DeltaTable

    __version__: str
else:
    __getattr__ = names_on_demand(
        __name__,
        {"DeltaTable": "deltaweb.table", "__version__": "deltaweb.version"},
    )

__all__ = ["DeltaTable", "__version__"]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
