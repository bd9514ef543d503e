"""One client of recipients, which reads tables and says what it got of each.

It is run as a program of its own, `client_program.py CLIENT URL...`, so that it sees
what a recipient's program sees: the profile, and nothing of this server.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

Read = tuple[int, int]
"""How many rows there were, and how many bytes of memory they take."""


def _frame(url: str, *, in_delta_format: bool) -> Any:  # noqa: ANN401 (pandas has no types here)
    import delta_sharing  # noqa: PLC0415 (each client loads its own)

    return delta_sharing.load_as_pandas(url, use_delta_format=in_delta_format)


def _pandas(url: str) -> Read:
    frame = _frame(url, in_delta_format=False)
    return len(frame), int(frame.memory_usage(deep=True).sum())


def _delta_format(url: str) -> Read:
    frame = _frame(url, in_delta_format=True)
    return len(frame), int(frame.memory_usage(deep=True).sum())


def _polars(url: str) -> Read:
    import polars as pl  # noqa: PLC0415 (as above)

    frame = pl.from_pandas(_frame(url, in_delta_format=True))
    return frame.height, int(frame.estimated_size())


def _duckdb(url: str) -> Read:
    import duckdb  # noqa: PLC0415 (as above)

    rows = _frame(url, in_delta_format=True)
    table = duckdb.from_df(rows).to_arrow_table()
    return table.num_rows, int(table.nbytes)


def _deltaweb(url: str) -> Read:
    from deltaweb.table import DeltaTable  # noqa: PLC0415 (as above)

    rows = DeltaTable(url).snapshot().read()
    return rows.num_rows, int(rows.nbytes)


def _pyiceberg(url: str) -> Read:
    from pyiceberg.catalog.rest import RestCatalog  # noqa: PLC0415 (as above)

    profile, _, table = url.rpartition("#")
    said = json.loads(Path(profile).read_text(encoding="utf-8"))
    share, schema, name = table.rsplit(".", 2)
    catalog = RestCatalog(
        "rehearsal",
        uri=said["icebergEndpoint"],
        token=said["bearerToken"],
        warehouse=share,
    )
    rows = catalog.load_table((schema, name)).scan().to_arrow()
    return rows.num_rows, int(rows.nbytes)


CLIENTS: Final[dict[str, tuple[tuple[str, ...], Callable[[str], Read]]]] = {
    "delta-sharing": (("delta-sharing",), _pandas),
    "delta-sharing, delta format": (("delta-sharing",), _delta_format),
    "polars": (("delta-sharing", "polars"), _polars),
    "duckdb": (("delta-sharing", "duckdb"), _duckdb),
    "pyiceberg": (("pyiceberg",), _pyiceberg),
    "deltaweb": (("deltaweb",), _deltaweb),
}
"""Each client by its name: the packages that have to be there, and how it reads.

The last of the packages is the client's own.
"""


def main() -> int:
    """Read each table, and write a line of JSON for each as soon as it is read."""
    client, *urls = sys.argv[1:]
    packages, read = CLIENTS[client]
    warnings.simplefilter("ignore")
    for url in urls:
        started_s = time.monotonic()
        said: dict[str, object] = {"version": version(packages[-1])}
        try:
            said["num_rows"], said["size_bytes"] = read(url)
        except Exception as error:  # noqa: BLE001 (whatever a client raises is its answer)
            said["error"] = f"{type(error).__name__}: {error}"
        said["duration_s"] = round(time.monotonic() - started_s, 3)
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
