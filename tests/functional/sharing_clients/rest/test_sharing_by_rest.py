"""A table shared by REST alone, and read by the real client of the protocol."""

import json
from pathlib import Path
from typing import Any

import delta_sharing
import pytest
import requests
from delta_sharing.delta_sharing import SharingClient

from tests.support.processes.installation import Installation


class Calls:
    """Calls of the REST API as a script makes them."""

    def __init__(self, server: Installation, key: str) -> None:
        self.base = f"{server.url}/api/v1"
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {key}"

    def __call__(self, method: str, path: str, body: Any = None) -> requests.Response:  # noqa: ANN401 (any JSON)
        return self.session.request(method, self.base + path, json=body, timeout=60)


@pytest.fixture
def calls(server: Installation, sharing_key: str) -> Calls:
    return Calls(server, sharing_key)


def test_a_table_is_shared_read_and_withdrawn(calls: Calls, tmp_path: Path) -> None:
    assert calls("POST", "/shares", {"name": "corner-shop"}).status_code == 201
    put = calls(
        "PUT", "/shares/corner-shop/tables/sales.orders", {"table": "samples.orders"}
    )
    assert put.status_code == 201, put.text
    invited = calls(
        "POST", "/recipients", {"name": "massive", "shares": ["corner-shop"]}
    )
    assert invited.json()["activation_url"].startswith(f"{calls.base[:-7]}/activate/")
    issued = calls("POST", "/recipients/massive/tokens", {"expires": "90d"})
    profile = tmp_path / "massive.share"
    profile.write_text(issued.text)
    client = SharingClient(str(profile))

    tables = [table.name for table in client.list_all_tables()]
    rows = delta_sharing.load_as_pandas(f"{profile}#corner-shop.sales.orders", limit=5)

    assert tables == ["orders"]
    assert len(rows) == 5
    location = issued.headers["Location"].removeprefix("/api/v1")
    assert calls("DELETE", location).status_code == 204
    with pytest.raises(requests.HTTPError, match="401"):
        client.list_all_tables()


def test_the_record_says_who_did_it_and_holds_no_secret(calls: Calls, server) -> None:
    calls("POST", "/recipients", {"name": "vandelay"})
    secret = calls("POST", "/recipients/vandelay/tokens").json()["bearerToken"]

    record = calls("GET", "/activity?recipient=vandelay").json()

    assert [one["action"] for one in record["events"]] == [
        "token.profile",
        "token.issue",
        "link.issue",
        "token.issue",
        "recipient.create",
    ]
    assert {one["actor"] for one in record["events"]} == {"admin"}
    assert secret not in json.dumps(record)
    for file in server.home.rglob("*"):
        if file.is_file():
            assert secret.encode() not in file.read_bytes(), file
