"""Plain files of tables whose files hold more than their schema says."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pytest_django import Settings

from apps.sharing.errors import NotPreparedError
from apps.sharing.models import SharedTable
from deltaweb.table import DeltaTable
from tests.functional.sharing_api.calls import error
from tests.functional.sharing_api.conftest import NewCaller
from tests.functional.sharing_api.plain_client import (
    BY_NAME,
    VECTORS,
    WIDE,
    NewPlainShare,
    by_first,
    plain_query,
    plain_rows,
)
from tests.functional.sharing_api.ruled import IN_DELTA, new_staff, rows
from tests.support import cases

FEED = {"delta.enableChangeDataFeed": "true"}
PAIR = pa.struct([("x", pa.int32()), ("y", pa.int32())])
VALUE = {"x": 1, "y": 2}


def log_of(table: DeltaTable, version: int) -> Path:
    return Path(table.root) / "_delta_log" / f"{version:020}.json"


def actions(table: DeltaTable, version: int) -> dict[str, Any]:
    """The actions of a version by their kinds."""
    text = log_of(table, version).read_text()
    return {
        kind: action
        for line in text.splitlines()
        for kind, action in json.loads(line).items()
    }


def commit(table: DeltaTable, found: Iterable[dict[str, Any]]) -> None:
    """Make the next version as another writer does."""
    info = {"timestamp": 1_900_000_000_000, "operation": "X", "operationParameters": {}}
    text = "\n".join(json.dumps(one) for one in [{"commitInfo": info}, *found])
    log_of(table, table.latest_version() + 1).write_text(text)


def with_new_field(value: object) -> Any:  # noqa: ANN401 (JSON)
    """A type in which a field has the name of an older one, and is another one."""
    if isinstance(value, list):
        return [with_new_field(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value.get("name") == "y":
        keys = {"id": 99, "physicalName": "col-99"}
        named = {f"delta.columnMapping.{key}": one for key, one in keys.items()}
        return value | {"metadata": named}
    return {key: with_new_field(one) for key, one in value.items()}


@cases(
    "nested",
    {
        "struct": (PAIR, VALUE, "s.y"),
        "list": (pa.list_(PAIR), [VALUE], "s.element.y"),
        "map": (pa.map_(pa.string(), PAIR), [("k", VALUE)], "s.value.y"),
    },
)
def test_a_field_that_was_dropped_and_added_again_is_null(
    tmp_path: Path, shared_plain: NewPlainShare, new_caller: NewCaller, nested
) -> None:
    kind, value, path = nested
    schema = pa.schema([("id", pa.int64()), ("s", kind)])
    table = DeltaTable.create(str(tmp_path / "lake"), schema, properties=BY_NAME)
    table.append(pa.table({"id": [1], "s": [value]}, schema=schema))
    staff = shared_plain(table)
    acme = new_caller("acme", staff.shared.share)
    staff.prepare()
    assert "'y': 2" in str(plain_rows(staff, acme))

    table.drop_column(path)
    told = actions(table, 0)["metaData"]
    text = json.dumps(with_new_field(json.loads(told["schemaString"])))
    commit(table, [{"metaData": told | {"schemaString": text}}])
    staff.prepare()

    assert "'y': None" in str(plain_rows(staff, acme))
    assert plain_rows(staff, acme) == staff.rows(acme) == by_first(table)


def test_a_field_that_was_dropped_and_added_again_is_in_no_copy_of_a_rule(
    tmp_path: Path, shared_plain: NewPlainShare, new_caller: NewCaller
) -> None:
    schema = pa.schema([("id", pa.int64()), ("s", PAIR)])
    table = DeltaTable.create(str(tmp_path / "lake"), schema, properties=BY_NAME)
    table.append(pa.table({"id": [1], "s": [VALUE]}, schema=schema))
    staff = shared_plain(table)
    staff.shared.plain = False
    staff.shared.save()
    staff.rule("", "id", "s")
    acme = new_caller("acme", staff.shared.share)
    staff.prepare()
    assert "'y': 2" in str(staff.rows(acme))

    table.drop_column("s.y")
    told = actions(table, 0)["metaData"]
    text = json.dumps(with_new_field(json.loads(told["schemaString"])))
    commit(table, [{"metaData": told | {"schemaString": text}}])
    staff.prepare()

    assert "'y': None" in str(staff.rows(acme))
    stored = pq.read_schema(pa.BufferReader(staff.bytes_served[-1]))
    (names,) = [
        [column.type.field(at).name for at in range(column.type.num_fields)]
        for column in stored
        if column.type.num_fields
    ]
    assert len(names) == 2
    assert names[-1] == "col-99"


def test_a_dropped_column_is_in_no_file(
    tmp_path: Path, shared_plain: NewPlainShare, new_caller: NewCaller
) -> None:
    table = new_staff(tmp_path / "lake")
    table.set_properties(BY_NAME, upgrade=True)
    table.drop_column("salary")
    staff = shared_plain(table)
    acme = new_caller("acme", staff.shared.share)
    staff.prepare()

    assert plain_rows(staff, acme) == by_first(table)
    lines_told, *files = staff.bytes_served
    assert b"salary" not in lines_told
    stored = [pq.read_schema(pa.BufferReader(data)).names for data in files]
    assert stored == [["id", "region", "note"]] * 3


@pytest.mark.parametrize("is_paged", [False, True])
@pytest.mark.parametrize("is_stream", [False, True])
def test_vectors_of_older_versions_are_not_served(
    tmp_path: Path,
    shared_plain: NewPlainShare,
    new_caller: NewCaller,
    *,
    is_stream: bool,
    is_paged: bool,
) -> None:
    """The table has no deletion vectors now: its feature was dropped."""
    table = new_staff(tmp_path / "lake", properties=VECTORS | FEED)
    table.delete("id = 7")
    table.overwrite(rows(100, 5, "EU"))
    protocol = {"minReaderVersion": 1, "minWriterVersion": 7}
    told = actions(table, 0)["metaData"] | {"configuration": FEED}
    dropped = {"protocol": protocol | {"writerFeatures": ["changeDataFeed"]}}
    commit(table, [dropped, {"metaData": told}])
    staff = shared_plain(table)
    acme = new_caller("acme", staff.shared.share)
    staff.prepare()

    if is_stream:
        pages = {"maxFiles": 1} if is_paged else {}
        answer = staff.query(acme, {"startingVersion": 4} | pages)
    else:
        pages_asked = "&maxFiles=1" if is_paged else ""
        asked = f"{staff.path}/changes?startingVersion=4{pages_asked}"
        answer = acme.get(asked, **IN_DELTA)

    assert answer.status_code == 400
    assert "not prepared as plain files" in error(answer)["message"]
    assert len(staff.stream(acme, 6)) == 0
    assert plain_rows(staff, acme) == by_first(table)


def test_a_file_that_loses_its_statistics_keeps_its_rows(
    tmp_path: Path, shared_plain: NewPlainShare, new_caller: NewCaller
) -> None:
    narrow = pa.schema([("id", pa.int32())])
    table = DeltaTable.create(str(tmp_path / "lake"), narrow, properties=WIDE)
    table.widen_column("id", "BIGINT")
    table.append(pa.table({"id": pa.array([1, 2], pa.int64())}))
    staff = shared_plain(table)
    staff.rule("id < 5")
    acme = new_caller("acme", staff.shared.share)
    (first,) = staff.prepare()
    assert (first.signed, first.rewritten) == (1, 0)

    added = actions(table, 2)["add"]
    commit(table, [{"add": added | {"stats": None, "dataChange": False}}])
    (again,) = staff.prepare()

    assert (again.signed, again.rewritten) == (0, 1)
    assert plain_rows(staff, acme) == [{"id": 1}, {"id": 2}]
    assert staff.prepare()[0].num_made == 0


def test_copies_that_are_too_large_are_not_awaited_again_and_again(
    tmp_path: Path,
    shared_plain: NewPlainShare,
    new_caller: NewCaller,
    settings: Settings,
) -> None:
    settings.PREPARED_BYTES = 100
    staff = shared_plain(new_staff(tmp_path / "lake", properties=BY_NAME))
    acme = new_caller("acme", staff.shared.share)

    with pytest.raises(NotPreparedError, match="larger than this server keeps"):
        staff.prepare()

    assert "DELTAWEB_PREPARED_BYTES" in SharedTable.objects.get().preparation_problem
    assert plain_query(staff, acme).status_code == 409
    settings.PREPARED_BYTES = 1 << 20
    staff.prepare()
    assert plain_rows(staff, acme) == by_first(staff.table)
    assert SharedTable.objects.get().preparation_problem == ""
