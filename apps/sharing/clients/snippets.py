"""Code that reads a recipient's first table, filled in: `Use this` for six tools.

Nothing here holds a secret: every snippet names the profile file, which does.
"""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from apps.pages.snippets import Snippet, python_text, variable

_UNREACHABLE: Final = set("#%?")  # clients put names into a URL as they stand
_SPARK_PACKAGE: Final = "io.delta:delta-sharing-spark_2.12:3.3.2"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableName:
    """A table as recipients address it."""

    share: str
    schema: str
    name: str

    @property
    def full_name(self) -> str:
        """`share.schema.table`, the part of a client's URL after the `#`."""
        return f"{self.share}.{self.schema}.{self.name}"

    @property
    def is_addressable(self) -> bool:
        """Whether every client can write it: the dots and the URL come out right."""
        names = f"{self.share}{self.schema}{self.name}"
        return "." not in names and not _UNREACHABLE & set(names)


PLACEHOLDER: Final = TableName(share="SHARE", schema="SCHEMA", name="TABLE")


def snippets(
    *, endpoint: str, profile_file_name: str, tables: Iterable[TableName]
) -> list[Snippet]:
    """Return the snippets for the first table that every client can address.

    Args:
        endpoint: The endpoint of the profile, with its trailing slash.
        tables: What the recipient may read; without any, placeholders stand in.
    """
    table = _first(tables)
    name = variable(table.name)
    url = python_text(f"{profile_file_name}#{table.full_name}")
    profile = python_text(profile_file_name)
    load = f"{name} = delta_sharing.load_as_pandas({url})"
    return [
        Snippet(
            key="pandas",
            label="pandas",
            text=(
                "# pip install delta-sharing\n"
                "import delta_sharing\n\n"
                f"url = {url}\n"
                f"{name} = delta_sharing.load_as_pandas(url, limit=1000)\n"
                f"{name}.head()\n\n"
                "# everything you may read\n"
                f"client = delta_sharing.SharingClient({profile})\n"
                "client.list_all_tables()"
            ),
        ),
        Snippet(
            key="spark",
            label="Spark",
            text=(
                f"# pyspark --packages {_SPARK_PACKAGE}\n"
                "# on a cluster, give the profile's full path\n"
                f"url = {url}\n"
                f'{name} = spark.read.format("deltaSharing").load(url)\n'
                f"{name}.show(10)"
            ),
        ),
        Snippet(
            key="polars",
            label="Polars",
            text=(
                "# pip install delta-sharing polars\n"
                "import delta_sharing\n"
                "import polars as pl\n\n"
                f"{load}\n"
                f"{name} = pl.from_pandas({name})\n"
                f"{name}.head()"
            ),
        ),
        Snippet(
            key="duckdb",
            label="DuckDB",
            text=(
                "# pip install delta-sharing duckdb\n"
                "import delta_sharing\n"
                "import duckdb\n\n"
                f"{load}\n"
                f"duckdb.sql('FROM \"{name}\" LIMIT 10').show()"
            ),
        ),
        _power_bi(endpoint, profile_file_name),
        _curl(endpoint, profile_file_name, table),
    ]


def _power_bi(endpoint: str, profile_file_name: str) -> Snippet:
    steps = [
        "In Power BI Desktop choose Get data, search for Delta Sharing, and connect.",
        f"As Delta Sharing Server URL enter {endpoint}",
        f"As Bearer Token enter the value of bearerToken in {profile_file_name}.",
        "Tick the tables and choose Load.",
    ]
    if endpoint.startswith("http:"):
        steps.append("Power BI requires https, which this address does not offer yet.")
    return Snippet(key="powerbi", label="Power BI", text=endpoint, steps=tuple(steps))


def _curl(endpoint: str, profile_file_name: str, table: TableName) -> Snippet:
    """Hand the key over by a pipe: an argument could be seen by everybody there."""
    share, schema, name = (
        quote(part, safe="") for part in (table.share, table.schema, table.name)
    )
    key = (
        "jq -r '\"Authorization: Bearer \" + .bearerToken' "
        f"{shlex.quote(profile_file_name)} |"
    )
    listing = shlex.quote(f"{endpoint}shares/{share}/all-tables")
    metadata = shlex.quote(
        f"{endpoint}shares/{share}/schemas/{schema}/tables/{name}/metadata"
    )
    text = (
        "# the tables of the share (needs curl and jq)\n"
        f"{key}\n  curl -sS -H @- {listing}\n\n"
        "# the columns of one table\n"
        f"{key}\n  curl -sS -H @- {metadata}"
    )
    return Snippet(key="curl", label="curl", text=text)


def _first(tables: Iterable[TableName]) -> TableName:
    known = list(tables)
    addressable = (table for table in known if table.is_addressable)
    return next(addressable, known[0] if known else PLACEHOLDER)
