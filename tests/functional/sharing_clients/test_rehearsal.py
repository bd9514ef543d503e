"""A rehearsal runs the real clients against the real server, by a short token."""

import json

import pytest

from deltaweb.web.sharing.recipients.rehearsals.client_program import CLIENTS
from tests.functional.sharing_clients.conftest import SHARE, Shared
from tests.support.processes.installation import Installation


@pytest.fixture(scope="module")
def stage(server: Installation, tables: dict[str, Shared]) -> Installation:
    """The server with two tables in a share."""
    assert tables
    server.command("share", "create", "stage")
    for name in ("customers", "fed"):
        place = (f"data.{name}", "--table", f"shared.{name}")
        server.command("share", "add-table", "stage", *place)
    return server


@pytest.fixture(scope="module")
def held(stage: Installation):
    """What a rehearsal says for somebody who may read two tables."""
    path = stage.home / "initech.share"
    stage.command(
        *("recipient", "create", "initech", "--share", "stage", "--profile", str(path))
    )
    return json.loads(stage.command("recipient", "rehearse", "initech", "--json"))


def test_every_client_reads_the_rows_of_every_table(held, tables) -> None:
    rows = {
        (one["client"], one["table"]): int(one["num_rows"]) for one in held["readings"]
    }

    assert held["missing"] == []
    assert held["passed"], held
    for name in ("customers", "fed"):
        expected = tables[name].table.snapshot().read().num_rows
        assert {rows[client, f"stage.data.{name}"] for client in CLIENTS} == {expected}


def test_it_is_of_what_is_granted_and_of_nothing_else(held) -> None:
    names = {one["table"] for one in held["readings"]}

    assert names == {"stage.data.customers", "stage.data.fed"}
    assert SHARE != "stage"


def test_its_token_is_gone_and_certificates_stay(held, server: Installation) -> None:
    shown = json.loads(server.command("recipient", "show", "initech", "--json"))
    assert [token["state"] for token in shown["tokens"]] == ["active"]

    ask = (
        "from deltaweb.web.sharing.models import Certificate; "
        "print(Certificate.objects.filter(passed_version__isnull=False).count())"
    )
    kept = server.manage("shell", "--verbosity", "0", "--command", ask)
    assert int(kept.split()[-1]) == len(held["readings"])


def test_a_client_that_may_not_come_in_is_told_what_to_do(server) -> None:
    server.command(
        *("recipient", "create", "hooli", "--share", "stage"),
        *("--allow", "192.0.2.0/24", "--profile", str(server.home / "hooli.share")),
    )

    held = json.loads(server.command("recipient", "rehearse", "hooli", "--json"))

    assert not held["passed"]
    assert {one["num_rows"] for one in held["readings"]} == {None}
    assert all("allow list" in one["remedy"] for one in held["readings"])


def test_the_doctor_finds_the_way_to_the_first_file(stage: Installation) -> None:
    path = str(stage.home / "wonka.share")
    stage.command(
        *("recipient", "create", "wonka", "--share", "stage", "--profile", path)
    )

    found = json.loads(stage.command("recipient", "doctor", "wonka", "--json"))

    assert found["passed"], found
    assert {
        (one["step"], one["verdict"], one["subject"].rpartition(".")[2])
        for one in found["findings"]
        if one["step"] in {"token", "format", "storage"}
    } == {("token", "ok", "wonka")} | {
        (step, "ok", name)
        for step in ("format", "storage")
        for name in ("customers", "fed")
    }
    shown = json.loads(stage.command("recipient", "show", "wonka", "--json"))
    assert [one["state"] for one in shown["tokens"]] == ["active"]
