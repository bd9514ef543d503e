"""What the Spark connector sends, replayed on the wire.

The requests are those of version 1.4.1 on Spark 4.1, as captured: its headers, its
bodies with fields that the specification lacks, Catalyst's spelling of conditions, and
a Range on every file.
"""

import http.client
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.functional.sharing_clients.conftest import SHARE, Shared
from tests.functional.sharing_clients.rows import of_table
from tests.support import cases
from tests.support.processes.installation import Installation

AGENT = (
    "Delta-Sharing-Spark/1.4.1 QueryId-af6ac0c5-0dc2-4d4b-8d59-0f3c2b0ddc36"
    " Hadoop/3.4.2 Linux/6.1.0 Scala/2.13.17 java/17.0.15"
)
JSON_HINT = {
    "op": "and",
    "children": [
        {
            "op": "not",
            "children": [
                {
                    "op": "isNull",
                    "children": [
                        {"op": "column", "name": "country", "valueType": "string"}
                    ],
                }
            ],
        },
        {
            "op": "equal",
            "children": [
                {"op": "column", "name": "country", "valueType": "string"},
                {"op": "literal", "value": "DE", "valueType": "string"},
            ],
        },
    ],
}
COUNTRY_IS_DE = "(CAST(partitionValues.country AS STRING) = 'DE')"


@dataclass(frozen=True)
class Answer:
    """One answer of the server."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The lines of an ndjson answer."""
        return [json.loads(line) for line in self.body.splitlines()]

    @property
    def files(self) -> list[dict[str, Any]]:
        """The files of a query's answer."""
        return [line["file"] for line in self.lines if "file" in line]


@dataclass(frozen=True)
class Connector:
    """Sends what the connector sends."""

    server: Installation
    bearer: str

    def send(self, method: str, path: str, body: Any = None) -> Answer:  # noqa: ANN401 (JSON)
        """Send one request of the protocol."""
        headers = {
            "Authorization": f"Bearer {self.bearer}",
            "User-Agent": AGENT,
            "delta-sharing-capabilities": "responseformat=parquet",
        }
        if body is not None:
            headers["Content-type"] = "application/json"
        text = None if body is None else json.dumps(body)
        return self._exchange(method, f"/delta-sharing{path}", headers, text)

    def read(self, url: str, size: int) -> Answer:
        """Fetch a file as the connector does: by a Range, whatever its size."""
        parts = urlsplit(url)
        headers = {"Range": f"bytes=0-{size - 1}"}
        return self._exchange("GET", f"{parts.path}?{parts.query}", headers, None)

    def _exchange(self, method, path, headers, body):
        address = urlsplit(self.server.url).netloc
        connection = http.client.HTTPConnection(address, timeout=60)
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            fields = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, fields, response.read())
        finally:
            connection.close()


@pytest.fixture
def connector(server: Installation, bearer: str) -> Connector:
    """A connector with the recipient's profile."""
    return Connector(server, bearer)


@pytest.fixture
def orders(tables: dict[str, Shared]) -> Shared:
    """A table in partitions of date and country."""
    return tables["orders"]


def path_of(shared: Shared) -> str:
    """The table's path, its names quoted as the connector quotes them."""
    names = quote(SHARE), quote(shared.schema), quote(shared.name)
    return "/shares/{}/schemas/{}/tables/{}".format(*names)


def query(*hints: str, **fields: object) -> dict[str, object]:
    """A query's body, with the fields that the connector always adds."""
    return {
        "predicateHints": list(hints),
        "limitHint": None,
        "includeRefreshToken": True,
        "refreshToken": None,
        "idempotency_key": None,
        **fields,
    }


def test_metadata_is_two_lines(connector: Connector, orders: Shared) -> None:
    answer = connector.send("GET", f"{path_of(orders)}/metadata")

    assert answer.status == 200
    assert [list(line) for line in answer.lines] == [["protocol"], ["metaData"]]
    assert answer.body.endswith(b"\n")
    assert answer.headers["delta-sharing-capabilities"] == "responseformat=parquet"
    assert int(answer.headers["delta-table-version"]) == orders.table.latest_version()


def test_a_query_with_unknown_fields_offers_every_file(connector, orders):
    answer = connector.send("POST", f"{path_of(orders)}/query", query())

    assert answer.status == 200
    assert len(answer.files) == orders.table.snapshot().num_files
    expires_ms = datetime.now(UTC).timestamp() * 1000
    assert all(file["expirationTimestamp"] > expires_ms for file in answer.files)


def test_urls_are_made_anew_as_the_connector_asks_for_it(connector, orders):
    """Its second request leaves the hints out, and asks for the same version."""
    path = f"{path_of(orders)}/query"
    end = connector.send("POST", path, query(COUNTRY_IS_DE)).lines[-1]
    token = end["endStreamAction"]["refreshToken"]

    again = connector.send("POST", path, query(refreshToken=token))

    assert again.status == 200
    assert len(again.files) == orders.table.snapshot().num_files
    assert again.lines[-1]["endStreamAction"]["refreshToken"]


@pytest.mark.parametrize(
    ("max_files", "asked"), [(1, {"version": 2}), (20, {}), (10_000, {})]
)
def test_pages_are_fetched_as_the_connector_does(connector, orders, max_files, asked):
    """It compares the first two lines as texts, and asks again without a refresh."""
    path = f"{path_of(orders)}/query"
    body = query(maxFiles=max_files, **asked)
    answer = connector.send("POST", path, body)
    head, ids = answer.body.splitlines()[:2], [file["id"] for file in answer.files]
    body["includeRefreshToken"] = None
    while token := answer.lines[-1]["endStreamAction"].get("nextPageToken"):
        answer = connector.send("POST", path, {**body, "pageToken": token})
        assert answer.body.splitlines()[:2] == head
        ids += [file["id"] for file in answer.files]

    whole = connector.send("POST", path, asked)
    assert ids == [file["id"] for file in whole.files]


def test_every_file_is_read_by_a_range_and_holds_the_rows(connector, orders):
    answer = connector.send("POST", f"{path_of(orders)}/query", query())
    fields = {field.name: field for field in _arrow_fields(orders)}

    tables = []
    for file in answer.files:
        part = connector.read(file["url"], file["size"])
        assert part.status == 206
        assert len(part.body) == file["size"] == int(part.headers["content-length"])
        table = pq.read_table(pa.BufferReader(part.body))
        for name, value in file["partitionValues"].items():
            constant = pa.array([value] * table.num_rows, pa.string())
            table = table.append_column(fields[name], constant.cast(fields[name].type))
        tables.append(table)

    whole = pa.concat_tables(tables, promote_options="permissive")
    assert of_table(whole) == of_table(orders.table.snapshot().read())


@cases(
    "body",
    {
        "the hint in SQL": query(COUNTRY_IS_DE),
        "the hint in JSON": query(jsonPredicateHints=json.dumps(JSON_HINT)),
        "both": query(COUNTRY_IS_DE, jsonPredicateHints=json.dumps(JSON_HINT)),
        "an older connector's spelling": query("(`country` = 'DE')"),
    },
)
def test_conditions_in_the_spelling_of_catalyst_prune(connector, orders, body):
    answer = connector.send("POST", f"{path_of(orders)}/query", body)

    countries = [file["partitionValues"]["country"] for file in answer.files]
    assert set(countries) == {"DE"}


@cases(
    "hint",
    {
        "equal": "(CAST(partitionValues.order_date AS DATE) = DATE '{day}')",
        "or null": "((CAST(partitionValues.order_date AS DATE) = DATE '{day}') OR"
        " (CAST(partitionValues.order_date AS DATE) IS NULL))",
        "not": "(NOT ((CAST(partitionValues.order_date AS DATE) < DATE '{day}') OR"
        " (CAST(partitionValues.order_date AS DATE) > DATE '{day}')))",
        "in": "(CAST(partitionValues.order_date AS DATE) IN (DATE '{day}'))",
    },
)
def test_dates_of_partitions_prune(connector: Connector, orders: Shared, hint: str):
    everything = connector.send("POST", f"{path_of(orders)}/query", query())
    days = [file["partitionValues"]["order_date"] for file in everything.files]

    answer = connector.send(
        "POST", f"{path_of(orders)}/query", query(hint.format(day=days[0]))
    )

    kept = [file["partitionValues"]["order_date"] for file in answer.files]
    assert kept == [day for day in days if day == days[0]]


def test_instants_of_partitions_are_in_utc_and_pruned_for_any_zone(connector, tables):
    path = f"{path_of(tables['instants'])}/query"
    day = "(CAST(partitionValues.ts AS TIMESTAMP) < TIMESTAMP '2024-03-{} 00:00:00')"

    answers = [
        connector.send("POST", path, query(day.format(number)))
        for number in ("10", "08")
    ]

    found = [
        {file["partitionValues"]["ts"] for file in answer.files} for answer in answers
    ]
    assert found == [
        {
            "2024-03-10T02:00:00.000000Z",
            "2024-03-10T12:00:00.500000Z",
            "2024-03-09T20:30:00.000000Z",
        },
        set(),
    ]


def test_the_version_is_polled(connector: Connector, orders: Shared) -> None:
    answers = [connector.send("GET", f"{path_of(orders)}/version") for _ in range(2)]

    assert {answer.status for answer in answers} == {200}
    latest = str(orders.table.latest_version())
    assert {answer.headers["delta-table-version"] for answer in answers} == {latest}


def test_names_are_found_quoted_and_in_any_capitals(connector, server, profile):
    del profile
    server.command("share", "create", "Größe")
    server.command(
        *("share", "add-table", "Größe", "daten.bestell-übersicht"),
        *("--table", "samples.returns"),
    )
    server.command("recipient", "grant", "globex", "Größe")

    path = "/shares/{}/schemas/DATEN/tables/{}".format(
        quote("GRÖSSE"), quote("Bestell-Übersicht")
    )
    answer = connector.send("GET", f"{path}/version")
    listed = connector.send("GET", f"/shares/{quote('GRÖSSE')}/all-tables")

    assert answer.status == 200
    (table,) = json.loads(listed.body)["items"]
    assert (table["share"], table["schema"], table["name"]) == (
        "Größe",
        "daten",
        "bestell-übersicht",
    )


def test_urls_survive_being_quoted_again(connector: Connector, orders: Shared) -> None:
    answer = connector.send("POST", f"{path_of(orders)}/query", query())
    file = answer.lines[2]["file"]

    requoted = re.sub("=(?=[^?]*[?])", "%3D", file["url"])

    assert requoted != file["url"] or "=" not in urlsplit(file["url"]).path
    assert connector.read(requoted, file["size"]).status == 206


def _arrow_fields(shared: Shared) -> list[pa.Field]:
    return list(shared.table.snapshot().read(limit=1).schema)
