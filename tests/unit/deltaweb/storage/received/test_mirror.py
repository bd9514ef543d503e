"""The log that is kept of a received table, whatever happens to it or its provider."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deltaweb.storage.local import LocalTableStore
from deltaweb.storage.received.mirror import Mirror
from deltaweb.storage.received.profile import SharedName
from deltaweb.table import DeltaTable
from tests.support.stores.sharing_provider import Handler, Provider

pytestmark = pytest.mark.slow

TABLE = SharedName("s", "c", "t")
SCHEMA = {
    "type": "struct",
    "fields": [{"name": "n", "type": "long", "nullable": True, "metadata": {}}],
}


def shares(provider, newest, *, table=TABLE, table_id="one", told_from=0):
    """Share a table that has a file more in each version, named by it.

    The provider answers neither of commits nor of versions before `told_from`.
    """

    def head(version: int) -> list[dict[str, Any]]:
        metadata = {
            "id": table_id,
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps(SCHEMA),
            "partitionColumns": [],
            "configuration": {},
            "createdTime": version,
        }
        protocol = {"minReaderVersion": 1, "minWriterVersion": 2}
        return [
            {"protocol": {"deltaProtocol": protocol}},
            {"metaData": {"deltaMetadata": metadata}},
        ]

    def file(version: int) -> dict[str, Any]:
        add = {
            "path": f"{provider.endpoint}/{table_id}-{version}",
            "partitionValues": {},
            "size": 1,
            "modificationTime": 1000 + version,
            "dataChange": True,
        }
        said = {"id": f"{table_id}-{version}", "deltaSingleAction": {"add": add}}
        return {"file": said | {"version": version, "timestamp": 1000 + version}}

    def answer(asked: Handler) -> None:
        wanted = json.loads(asked.body)
        last = wanted.get("endingVersion", wanted.get("version", newest))
        first = wanted.get("startingVersion", 0)
        if min(wanted.get("startingVersion", last), last) < told_from:
            asked.say(400, b"{}")
            return
        lines = [*head(last), *(file(one) for one in range(first, last + 1))]
        body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        asked.say(200, body, Delta_Table_Version=str(last))

    provider.puts(f"{table.path}/version", {}, Delta_Table_Version=str(newest))
    provider.answers[f"{table.path}/query"] = answer


def refreshed(provider: Provider, folder: Path) -> tuple[int, list[str], list[int]]:
    """Bring a mirror up to date: its version, its files, and the versions it has."""
    mirror = Mirror(
        folder,
        root="received://acme/s/c/t",
        client=provider.client(),
        table=TABLE,
        provider="acme",
    )
    mirror.refresh(now_ms=5000)
    table = DeltaTable(str(folder))
    snapshot = table.snapshot()
    paths = sorted(snapshot.files["path"].to_pylist())
    return snapshot.version, paths, [one.version for one in table.history()]


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Do some work in a process that is killed before its n-th change of a log."""
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    left = [step]

    def counting(change: Callable[..., None]) -> Callable[..., None]:
        def change_or_die(*args: object) -> None:
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            change(*args)

        return change_or_die

    LocalTableStore.put = counting(LocalTableStore.put)  # type: ignore[method-assign]
    LocalTableStore.delete = counting(LocalTableStore.delete)  # type: ignore[method-assign]
    try:
        work()
    finally:
        os._exit(0)


GOES_ON = [(0, step, list(range(6, -1, -1))) for step in range(3)]
BEGINS_ANEW = [(6, step, [6]) for step in range(6)]


@pytest.mark.parametrize(("told_from", "step", "kept"), [*GOES_ON, *BEGINS_ANEW])
def test_a_refresh_that_is_killed_is_made_up_for(
    provider: Provider, tmp_path: Path, told_from: int, step: int, kept: list[int]
) -> None:
    shares(provider, 3)
    assert refreshed(provider, tmp_path)[0] == 3
    shares(provider, 6, told_from=told_from)
    assert killed_at(step, lambda: refreshed(provider, tmp_path))

    version, paths, versions = refreshed(provider, tmp_path)

    assert version == 6
    assert paths == [f"one-{number}.parquet" for number in range(7)]
    assert versions == kept


def test_another_table_of_the_name_begins_anew(provider, tmp_path: Path) -> None:
    shares(provider, 3)
    refreshed(provider, tmp_path)
    shares(provider, 4, table_id="other")

    version, paths, versions = refreshed(provider, tmp_path)

    assert (version, versions) == (4, [4])
    assert paths == [f"other-{number}.parquet" for number in range(5)]
