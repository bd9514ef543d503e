"""A web server with an empty home, such as a pod whose volume is new.

The database and the secret key are those of the others.
"""

import json
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.functional.sharing_api.live_server import (
    NUM_FILES,
    NUM_ROWS,
    Live,
    query,
    web,
    write_table,
)
from tests.support.processes.installation import migrate, run_each

SECRET = "a key that all pods have, of more than fifty letters 0123456789"


@pytest.fixture(scope="module")
def pod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server whose home has nothing, and whose database has a shared table."""
    first, empty = (tmp_path_factory.mktemp(name) for name in ("first", "empty"))
    root = first / "lake" / "orders"
    write_table(root)
    profile = first / "acme.share"
    migrate(first)
    variables = {
        "DELTAWEB_DATABASE_URL": f"sqlite:///{first / 'deltaweb.sqlite3'}",
        "DELTAWEB_SECRET_KEY": SECRET,
    }
    run_each(
        first,
        ("table", "add", "crm.orders", str(root)),
        ("share", "create", "sales"),
        ("share", "add-table", "sales", "crm.orders", "--table", "crm.orders"),
        ("recipient", "create", "acme", "--share", "sales", "--profile", str(profile)),
        **variables,
    )
    secret = json.loads(profile.read_text())["bearerToken"]
    with web(empty, **variables) as port:
        live = Live(empty, port, secret)
        yield live
        for connection in live.opened:
            connection.close()


def test_serves_the_files_of_a_share_and_their_bytes(pod: Live) -> None:
    answer = query(pod)
    lines = [json.loads(line) for line in answer.read().splitlines()]
    files = [line["file"] for line in lines if "file" in line]

    assert answer.status == 200
    assert len(files) == NUM_FILES
    [real] = [one for one in files if one["partitionValues"] == {"day": "2026-01-01"}]
    assert json.loads(real["stats"])["numRecords"] == NUM_ROWS
    url = urlsplit(real["url"])
    content = pod.ask(f"{url.path}?{url.query}").read()
    assert len(content) == real["size"]
    assert content[:4] == b"PAR1"


def test_needs_no_database_of_its_own(pod: Live) -> None:
    query(pod).read()

    assert not (pod.home / "deltaweb.sqlite3").exists()
