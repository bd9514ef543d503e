"""One client of recipients, which reads tables and says what it got of each.

It is run as a program of its own, `client_program.py CLIENT URL...`, so that it sees
what a recipient's program sees: the profile, and nothing of this server. Without
arguments it writes the clients that are installed where it runs.
"""

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

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

    said, share, schema, name = _asked(url)
    catalog = RestCatalog(
        "rehearsal",
        uri=said["icebergEndpoint"],
        token=said["bearerToken"],
        warehouse=share,
    )
    rows = catalog.load_table((schema, name)).scan().to_arrow()
    return rows.num_rows, int(rows.nbytes)


def _spark(url: str) -> Read:
    # By name: web processes hold this module, and never load Spark.
    spark_session = import_module("pyspark.sql").SparkSession
    said, share, schema, name = _asked(url)
    catalog = "spark.sql.catalog.rehearsal"
    options = {
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": "rest",
        f"{catalog}.uri": said["icebergEndpoint"],
        f"{catalog}.token": said["bearerToken"],
        f"{catalog}.warehouse": share,
    }
    builder = spark_session.builder.master("local[1]")
    # Each table has a session of its own: a catalogue is of one share.
    session = builder.config("spark.ui.enabled", "false").getOrCreate().newSession()
    for option, value in options.items():
        session.conf.set(option, value)
    quoted = (part.replace("`", "``") for part in (schema, name))
    rows = session.table("rehearsal.`{}`.`{}`".format(*quoted)).toArrow()
    return rows.num_rows, int(rows.nbytes)


def _directory(url: str) -> Read:
    from deltalake import DeltaTable  # noqa: PLC0415 (as above)

    said, *names = _asked(url)
    path = "/shares/{}/schemas/{}/tables/{}".format(*(quote(n, safe="") for n in names))
    request = Request(  # noqa: S310 (the address of the profile)
        f"{said['endpoint'].rstrip('/')}{path}/temporary-table-credentials",
        data=b"{}",
        headers={
            "Authorization": f"Bearer {said['bearerToken']}",
            "Content-Type": "application/json",
        },
    )
    try:
        with urlopen(request, timeout=60) as answer:  # noqa: S310 (as above)
            given = json.load(answer)["credentials"]
    except HTTPError as error:
        raise ValueError(error.read().decode(errors="replace")) from None
    keys = given["awsTempCredentials"]
    endpoint = os.environ.get("AWS_ENDPOINT_URL", "")
    options = {
        "aws_access_key_id": keys["accessKeyId"],
        "aws_secret_access_key": keys["secretAccessKey"],
        "aws_session_token": keys["sessionToken"],
        "aws_region": os.environ.get("AWS_REGION", "us-east-1"),
        "aws_allow_http": str(endpoint.startswith("http://")).lower(),
    }
    if endpoint:
        options["aws_endpoint"] = endpoint
    table = DeltaTable(given["location"], storage_options=options)
    rows = table.to_pyarrow_table()
    return rows.num_rows, int(rows.nbytes)


def _asked(url: str) -> tuple[dict[str, str], str, str, str]:
    """Return what a profile says, and the names of share, schema and table."""
    profile, _, table = url.rpartition("#")
    said = json.loads(Path(profile).read_text(encoding="utf-8"))
    share, schema, name = table.rsplit(".", 2)
    return said, share, schema, name


class Client(NamedTuple):
    """What reads tables.

    Attributes:
        packages: Those that have to be there; the last one is the client's own.
        jar: How the name begins of what Spark needs beside.
    """

    packages: tuple[str, ...]
    read: Callable[[str], Read]
    jar: str = ""

    @property
    def is_here(self) -> bool:
        """Whether it is installed where this program runs."""
        found = [find_spec(one.replace("-", "_")) for one in self.packages]
        if None in found or not self.jar:
            return None not in found
        paths = os.environ.get("SPARK_DIST_CLASSPATH", "").split(os.pathsep)
        folders = {Path(path).parent for path in paths if path}
        folders |= {Path(one.origin or "").parent / "jars" for one in found if one}
        return any(jar for one in folders for jar in one.glob(f"{self.jar}*"))


DIRECTORY: Final = "deltalake, directory"
CLIENTS: Final[dict[str, Client]] = {
    "delta-sharing": Client(("delta-sharing",), _pandas),
    "delta-sharing, delta format": Client(("delta-sharing",), _delta_format),
    "polars": Client(("delta-sharing", "polars"), _polars),
    "duckdb": Client(("delta-sharing", "duckdb"), _duckdb),
    "pyiceberg": Client(("pyiceberg",), _pyiceberg),
    "spark": Client(("pyspark",), _spark, jar="iceberg-spark-runtime-"),
    DIRECTORY: Client(("deltalake",), _directory),
    "deltaweb": Client(("deltaweb",), _deltaweb),
}


def main() -> int:
    """Read each table, and write a line of JSON for each as soon as it is read."""
    if not sys.argv[1:]:
        sys.stdout.write(json.dumps([n for n, one in CLIENTS.items() if one.is_here]))
        return 0
    client, *urls = sys.argv[1:]
    packages, read, _ = CLIENTS[client]
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
