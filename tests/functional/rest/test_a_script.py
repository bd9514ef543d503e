"""A script by plain HTTP, against a server and a worker of their own."""

import json
import shutil
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from deltaweb.table import DeltaTable
from tests.support.processes.installation import migrate, run, serving, wait_for

pytestmark = pytest.mark.timeout(900)  # of a start that may take minutes
OVER: Final = {"DONE", "FAILED", "CANCELLED"}

LIMIT_S: Final = 300  # of what takes a moment once the worker has started

Call = Callable[..., tuple[int, Any]]
soon = partial(wait_for, timeout_s=LIMIT_S)


@pytest.fixture(scope="module")
def folder(lake: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(lake / "orders", tmp_path_factory.mktemp("lake") / "o"))


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Call]:
    """Call a server that runs, with the key of an administrator."""
    home = tmp_path_factory.mktemp("home")
    migrate(home)
    (home / "samples-registered").touch()  # they would be indexed first
    with serving(
        home,
        WORKERS="1",
        DELTAWEB_WEB_PROCESSES="1",
        DELTAWEB_SPARK_AFTER_S=str(LIMIT_S),
    ) as server:
        made = run(home, "user", "key", "admin", "--json")
        key = json.loads(made.stdout)["key"]

        def called(method: str, path: str, body: object = None) -> tuple[int, Any]:
            url = path if path.startswith("http") else f"{server.url}/api/v1/{path}"
            request = urllib.request.Request(  # noqa: S310 (our own)
                url,
                method=method,
                data=None if body is None else json.dumps(body).encode(),
                headers={
                    "Authorization": f"Bearer {key}",
                    "Content-Type": "application/json",
                },
            )
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                return answer.status, json.load(answer)

        yield called


def test_a_table_is_registered_read_changed_and_read_again(call: Call, folder: Path):
    name = "tables/shop/orders"

    def ended(job: dict[str, Any]) -> dict[str, Any]:
        there = f"jobs/{job['id']}"
        assert soon(lambda: call("GET", there)[1]["state"] in OVER)
        return call("GET", there)[1]

    def read(path: str) -> Any:  # noqa: ANN401 (as the endpoint answers)
        status, found = call("GET", path)
        if status == 202:
            ended(found["job"])
            status, found = call("GET", path)
        assert status == 200
        return found

    wanted = {"name": "shop.orders", "location": str(folder)}
    made = call("POST", "tables", wanted)
    if made[0] == 202:  # it takes longer to check the place than a call waits
        ended(made[1]["job"])
        made = call("POST", "tables", wanted)
    assert made[0] == 201, made
    assert soon(lambda: call("GET", name)[1]["state"] == "INDEXED")
    newest = call("GET", name)[1]["version"]
    assert call("GET", f"{name}/versions")[1]["commits"][0]["version"] == newest
    assert read(f"{name}/rows?version=1")["rows"]
    assert read(f"{name}/files?version=1")["files"]

    preview = {"parameters": {"version": 1}, "preview": True}
    status, told = call("POST", f"{name}/operations/restore", preview)
    assert status == 202
    look = ended(told["job"])
    assert look["state"] == "DONE", look
    assert DeltaTable(str(folder)).latest_version() == newest

    agreed = {"seen": look["id"], "preview": False}
    done = ended(call("POST", f"{name}/operations/restore", agreed)[1]["job"])
    assert done["state"] == "DONE", done
    assert DeltaTable(str(folder)).latest_version() == newest + 1
    assert soon(lambda: call("GET", name)[1]["version"] == newest + 1)
    assert read(f"{name}/diff?from=1&to={newest + 1}")["files"]["added"] == 0
