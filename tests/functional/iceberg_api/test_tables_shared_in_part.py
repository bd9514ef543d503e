"""Tables of which recipients see a part, by the Iceberg door."""

import base64
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pytest_django import Settings

from apps.pages.actions import command_stamp
from apps.sharing.api.iceberg import kept
from apps.sharing.models import PreparedFile, RecipientRule
from apps.tables.storage.connections import add_connection
from deltaweb.environment.kept_values import KeptValues
from tests.functional.iceberg_api.clients import body, catalog
from tests.functional.iceberg_api.reading import Loaded, every_status, load
from tests.functional.sharing_api.calls import Caller
from tests.functional.sharing_api.conftest import NewCaller
from tests.functional.sharing_api.ruled import Ruled, new_staff, rows
from tests.support import by_turns
from tests.support.index.indexed_tables import index_table
from tests.support.pages.factories import new_share, new_shared_table, new_table
from tests.support.stores.s3_server import running_s3

STAFF = "/v1/namespaces/people%1Fhr/tables/staff"
EU = "region = 'EU'"
OF_RECIPIENT = "region = recipient.region"
SEEN = ("id", "region", "note")
NOT_READY = 409
VECTORS = {"delta.enableDeletionVectors": "true"}
FACTS = {
    "plain": {},
    "mapped": {"properties": {"delta.columnMapping.mode": "name"}},
    "partitioned": {"partition_by": ["region"]},
    "vectors": {"properties": VECTORS},
    "partitioned, vectors": {"partition_by": ["region"], "properties": VECTORS},
}


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, settings: Settings) -> None:
    settings.PREPARED_FILES = str(tmp_path / "prepared")


def new_ruled(root: Path, **facts: Any) -> Ruled:  # noqa: ANN401 (of a table)
    """The table `hr.staff` of the share `People`."""
    table = new_table("hr.staff", location=str(root), version=3)
    shared = new_shared_table(new_share("People"), "hr.staff", table=table)
    return Ruled(new_staff(root, **facts), shared)


@pytest.fixture
def staff(db: None, tmp_path: Path) -> Ruled:  # noqa: ARG001 (a database)
    return new_ruled(tmp_path / "lake" / "staff")


@pytest.fixture
def acme(staff: Ruled, new_caller: NewCaller) -> Caller:
    return new_caller("acme", staff.shared.share, properties={"region": "EU"})


def opened(data: bytes) -> bytes:
    """Bytes, beside what the names in them hold: paths in base64."""
    names = re.findall(rb"(?:data|rewritten|vectors)/([A-Za-z0-9_-]+)\.", data)
    paths = [base64.urlsafe_b64decode(n + b"=" * (-len(n) % 4)) for n in names]
    return b"\n".join([data, *paths])


HIDDEN = {
    "rows": ((EU,), ("secret", "region=US")),
    "columns": (("", *SEEN), ("salary",)),
    "rows and columns": ((EU, *SEEN), ("secret", "region=US", "salary")),
    "rows by a hidden column": ((EU, "id", "note"), ("secret", "region", "salary")),
}


@by_turns({"facts": FACTS, "rule, hidden": HIDDEN})
@pytest.mark.usefixtures("db")
def test_what_the_sharing_protocol_gives_is_read(
    tmp_path: Path, new_caller: NewCaller, facts, rule, hidden
):
    staff = new_ruled(tmp_path / "lake" / "staff", **facts)
    acme = new_caller("acme", staff.shared.share)
    staff.table.delete("id in (1, 6)")
    staff.rule(*rule)
    staff.prepare()

    found = load(acme, STAFF)

    assert found.rows() == staff.rows(acme)
    served = opened(found.read_all())
    assert [text for text in hidden if text.encode() in served] == []


def test_what_is_told_of_a_column_names_no_hidden_one(staff, acme):
    staff.table.set_comment("who is paid this salary", column="id")
    staff.table.set_comment("of them", column="note")
    staff.rule("", *SEEN)
    staff.prepare()

    told = load(acme, STAFF).metadata["schemas"][0]["fields"]

    assert {one["name"]: one.get("doc") for one in told} == {
        "id": None,
        "region": None,
        "note": "of them",
    }


def test_rows_of_a_rewritten_file_are_counted_in_its_own_store(staff, acme):
    staff.rule(EU)
    staff.prepare()
    PreparedFile.objects.update(statistics="")

    found = load(acme, STAFF)

    assert sorted(one.record_count for one in found.files()) == [3, 5]
    assert found.rows() == staff.rows(acme)


def test_a_table_with_an_index_is_read_alike(staff, acme):
    index_table(staff.shared.table)
    staff.table.append(
        pa.concat_tables([rows(20, 1, "EU"), rows(21, 1, "US", "secret")])
    )
    staff.rule(EU)
    staff.prepare()

    found = load(acme, STAFF)

    assert found.rows() == staff.rows(acme)
    assert len(found.rows()) == 9
    assert b"secret" not in opened(found.read_all())


def test_rewritten_files_in_an_object_store_are_read(staff, acme, settings):
    with running_s3() as server:
        bucket = server.new_bucket()
        add_connection(
            name="prepared",
            prefix=f"s3://{bucket}/",
            options=dict(one.split("=", 1) for one in server.option_texts),
            stamp=command_stamp(),
        )
        settings.PREPARED_FILES = f"s3://{bucket}/prepared"
        staff.rule(EU, *SEEN)
        staff.prepare()

        found = load(acme, STAFF).rows()

    assert [row["id"] for row in found] == [0, 1, 10, 11, 12, 2, 3, 4]
    assert {*found[0]} == {*SEEN}


# === Versions ===


def version_of(loaded: Loaded) -> list[str]:
    return [one["summary"]["delta.version"] for one in loaded.metadata["snapshots"]]


def test_the_newest_version_that_is_ready_is_the_only_snapshot(staff, acme):
    staff.rule(EU)
    answer = catalog(acme, STAFF)
    error = body(answer)["error"]
    assert (answer.status_code, error["type"]) == (NOT_READY, "NotReadyException")
    assert "is not ready to be read yet" in error["message"]
    assert staff.query(acme).status_code == NOT_READY
    staff.prepare()

    staff.table.append(
        pa.concat_tables([rows(20, 1, "EU"), rows(21, 1, "US", "secret")])
    )

    before = load(acme, STAFF)
    assert (version_of(before), len(before.rows())) == (["3"], 8)
    staff.prepare()
    after = load(acme, STAFF)
    assert (version_of(after), len(after.rows())) == (["4"], 9)
    assert len(before.rows()) == 8
    assert every_status(before, before) == {200}
    assert every_status(before, after) <= {403, 404}
    assert every_status(after, before) <= {403, 404}


# === Names ===


def test_names_of_another_rule_open_nothing(staff, acme, new_caller, monkeypatch):
    theirs = new_caller("globex", staff.shared.share, properties={"region": "US"})
    staff.rule(OF_RECIPIENT)
    staff.prepare()
    one, other = load(acme, STAFF), load(theirs, STAFF)

    assert {row["region"] for row in one.rows()} == {"EU"}
    assert {row["region"] for row in other.rows()} == {"US"}
    assert every_status(one, other) == {404}
    assert every_status(other, one) == {404}
    monkeypatch.setattr(kept, "_kept", KeptValues(1))
    assert every_status(one, other) == {404}
    assert every_status(one, one) == {200}


def test_names_of_one_who_sees_all_open_nothing_for_others(staff, acme, new_caller):
    globex = new_caller("globex", staff.shared.share)
    facts = {"shared_table": staff.shared, "recipient": acme.recipient}
    RecipientRule.objects.create(**facts, condition=EU, columns=[])
    staff.prepare()
    part, whole = load(acme, STAFF), load(globex, STAFF)

    assert (len(part.rows()), len(whole.rows())) == (8, 15)
    assert every_status(part, whole) == {404}
    assert every_status(whole, part) == {404}


def test_recipients_of_whom_the_same_is_asked_have_the_same_names(
    staff, acme, new_caller
):
    twin = new_caller("twin", staff.shared.share, properties={"region": "EU"})
    staff.rule(OF_RECIPIENT)
    staff.prepare()

    assert every_status(load(acme, STAFF), load(twin, STAFF)) == {200}


def test_a_path_opens_nothing_as_another_kind_of_file(staff, acme):
    staff.rule(EU)
    staff.prepare()
    found = load(acme, STAFF)
    found.read_all()
    names = [one for one in found.objects if one.endswith(".parquet")]

    kinds = ("data", "data-ids", "rewritten", "rewritten-ids")
    known = {re.sub("/(data|rewritten)(-ids)?/", "/{}/", one) for one in names}
    swapped = {one.format(kind) for one in known for kind in kinds} - {*names}

    assert {kind for kind in kinds if any(f"/{kind}/" in one for one in names)} == {
        "data-ids",
        "rewritten-ids",
    }
    assert len(swapped) == len(names) * (len(kinds) - 1)
    answers = [found.s3.ask(one) for one in swapped]
    assert {answer.status_code for answer in answers} == {404}


def test_names_from_before_there_was_a_rule_open_nothing(staff, acme):
    before = load(acme, STAFF)
    assert every_status(before, before) == {200}

    staff.rule(EU)
    staff.prepare()

    assert every_status(before, before) == {404}
    ruled = load(acme, STAFF)
    assert every_status(ruled, before) == {404}
    assert every_status(ruled, ruled) == {200}
    staff.rule("")
    assert every_status(before, before) == {200}
    assert every_status(load(acme, STAFF), ruled) == {404}
