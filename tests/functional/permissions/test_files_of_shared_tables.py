"""No door of shares hands out a private table through one that is shared."""

import re
from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from apps.jobs.running.reports import Reports
from apps.sharing.access.grants.preparing import prepare_share
from apps.sharing.errors import NotPreparedError
from apps.sharing.models import Share, SharedTable
from apps.tables.models import Table
from deltaweb.table import DeltaTable
from tests.functional.iceberg_api.clients import catalog
from tests.functional.iceberg_api.reading import load
from tests.functional.permissions.outer_tables import (
    LOG_WAYS,
    SECRET,
    WAYS,
    Way,
    actions,
    commit,
    registered,
)
from tests.functional.sharing_api.calls import Caller, body_of, local
from tests.functional.sharing_api.conftest import caller_of
from tests.functional.sharing_api.ruled import IN_DELTA, close_file
from tests.support import cases
from tests.support.pages.factories import new_share, new_shared_table

pytestmark = pytest.mark.django_db(transaction=True)
AS_TEXT: Final = str(SECRET).encode()
IN_FILES: Final = SECRET.to_bytes(8, "little")
"""As the footer of a Parquet file has it, and rows that are not compressed."""
URL: Final = re.compile(rb'"url":"([^"]+)"')


@pytest.fixture(autouse=True)
def prepared(lake: Path, settings: Settings) -> None:
    settings.PREPARED_FILES = str(lake / "prepared")
    settings.PREPARED_WAIT_S = 0


def shared(table: Table, *, condition: str = "") -> tuple[Share, Caller]:
    """A share of a table, and a recipient of it."""
    share = new_share("All")
    one = new_shared_table(share, "x.mine", table=table)
    SharedTable.objects.filter(id=one.id).update(condition=condition)
    return share, caller_of("acme", share)


def served_by_delta_sharing(caller: Caller) -> bytes:
    """Every byte that a recipient gets of a table, with all files of all answers."""
    path = "/shares/All/schemas/x/tables/mine"
    found = []
    for headers in ({}, IN_DELTA):
        for answer in (
            caller.get(f"{path}/metadata", **headers),
            caller.query(path, {}, **headers),
            caller.query(path, {"startingVersion": 0}, **headers),
            caller.get(f"{path}/changes?startingVersion=0", **headers),
        ):
            said = body_of(answer)
            found.append(said)
            for url in URL.findall(said):
                file = caller.get(local(url.decode()))
                found.append(body_of(file))
                close_file(file)
    return b"\n".join(found)


def served_by_iceberg(caller: Caller) -> bytes:
    """The same of the Iceberg door."""
    path = "/v1/namespaces/all%1Fx/tables/mine"
    answer = catalog(caller, path)
    if answer.status_code != 200:
        return bytes(answer.content)
    found = load(caller, path)
    said = [answer.content, found.fetch(found.location)]
    if found.table.current_snapshot() is not None:
        for one in found.files():
            file = found.s3.ask(one.file_path)
            said.append(body_of(file))
            close_file(file)
    return b"\n".join([*said, *found.objects.values()])


def is_in(served: bytes) -> bool:
    return AS_TEXT in served or IN_FILES in served


def test_both_doors_serve_a_table_that_is_shared_itself(staff: Table) -> None:
    """Otherwise, the tests below would pass for any answer."""
    _, acme = shared(staff)

    assert is_in(served_by_delta_sharing(acme))
    assert is_in(served_by_iceberg(acme))


@pytest.mark.usefixtures("staff")
@cases("way", WAYS | LOG_WAYS)
def test_delta_sharing_serves_none_of_it(lake: Path, way: Way) -> None:
    _, acme = shared(registered(way(lake)))

    assert not is_in(served_by_delta_sharing(acme))


@pytest.mark.usefixtures("staff")
@cases("way", WAYS | LOG_WAYS)
def test_iceberg_serves_none_of_it(lake: Path, way: Way) -> None:
    _, acme = shared(registered(way(lake)))

    assert not is_in(served_by_iceberg(acme))


@pytest.mark.usefixtures("staff")
@cases("way", WAYS)
def test_copies_for_recipients_have_none_of_it(lake: Path, way: Way) -> None:
    share, acme = shared(registered(way(lake)), condition="salary > 0")
    with pytest.raises(NotPreparedError):
        prepare_share(share, reports=Reports(), proves=False, now=timezone.now())

    assert not is_in(served_by_delta_sharing(acme))
    assert not is_in(served_by_iceberg(acme))
    assert [*(lake / "prepared").rglob("*.parquet")] == []


def test_changes_have_none_of_it(lake: Path) -> None:
    fed = {"delta.enableChangeDataFeed": "true"}
    schema = pa.schema({"salary": pa.int64()})
    ours = DeltaTable.create(str(lake / "mine"), schema, properties=fed)
    theirs = DeltaTable.create(str(lake / "staff"), schema, properties=fed)
    theirs.append(pa.table({"salary": [1, SECRET]}))
    theirs.delete(f"salary = {SECRET}")
    (change,) = (one["cdc"] for one in actions(theirs, 2) if "cdc" in one)
    (lake / "mine" / "link").symlink_to(lake / "staff" / "_change_data")
    for path in (
        str(lake / "staff" / change["path"]),
        f"../staff/{change['path']}",
        f"link/{Path(change['path']).name}",
    ):
        commit(ours, {"cdc": change | {"path": path}})
    table = registered(lake / "mine")
    _, acme = shared(table)

    assert not is_in(served_by_delta_sharing(acme))
