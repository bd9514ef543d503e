"""A rehearsal runs the real clients against the real server, by a short token."""

import json
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

from apps.sharing.recipients.rehearsals.client_program import (
    CLIENTS,
    DIRECTORY,
)
from deltaweb.sharing.known_errors import recognize
from deltaweb.table import DeltaTable
from tests.functional.sharing_clients.conftest import (
    SHARE,
    Shared,
    new_profile,
    put_into_share,
)
from tests.support.peers.spark_iceberg import find_spark
from tests.support.processes.installation import Installation, run

GONE = "leftovers.data.gone"
HERE = {*CLIENTS} - {"spark", DIRECTORY}


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
    """What a rehearsal says for somebody who may read two tables, and one that is gone.

    It takes a process a client: one rehearsal is for all tests.
    """
    place = stage.home / "gone"
    DeltaTable.create(str(place), pa.schema([("n", pa.int64())])).append(
        pa.table({"n": [1]})
    )
    for file in place.glob("*.parquet"):
        file.unlink()
    stage.command("share", "create", "leftovers")
    put_into_share(stage, "leftovers", {"gone": place}, space="leftovers")
    new_profile(stage, "initech", "stage")
    stage.command("recipient", "grant", "initech", "leftovers")
    return json.loads(stage.command("recipient", "rehearse", "initech", "--json"))


def test_every_client_reads_the_rows_of_every_table(held, tables) -> None:
    rows = {(one["client"], one["table"]): one["num_rows"] for one in held["readings"]}

    # Of Spark there is what this server works by alone; folders are on object stores.
    assert held["missing"] == ["spark"]
    assert {client for client, _ in rows} == HERE
    for name in ("customers", "fed"):
        expected = tables[name].table.snapshot().read().num_rows
        assert {rows[client, f"stage.data.{name}"] for client in HERE} == {expected}


def test_a_table_that_no_client_reads_is_told_of_with_the_error(held) -> None:
    failed = [one for one in held["readings"] if one["error"]]

    assert not held["passed"]
    assert {one["table"] for one in failed} == {GONE}
    assert {one["client"] for one in failed} == HERE
    assert {one["num_rows"] for one in failed} == {None}


def test_it_is_of_what_is_granted_and_of_nothing_else(held) -> None:
    names = {one["table"] for one in held["readings"]}

    assert names == {"stage.data.customers", "stage.data.fed", GONE}
    assert SHARE != "stage"


def test_its_token_is_gone_and_certificates_stay(held, server: Installation) -> None:
    shown = json.loads(server.command("recipient", "show", "initech", "--json"))
    assert [token["state"] for token in shown["tokens"]] == ["active"]

    ask = (
        "from apps.sharing.models import Certificate; "
        "print(Certificate.objects.filter(passed_version__isnull=False).count())"
    )
    kept = server.manage("shell", "--verbosity", "0", "--command", ask)
    passed = [one for one in held["readings"] if not one["error"]]
    assert int(kept.split()[-1]) == len(passed) > 0


@pytest.mark.exhaustive
def test_spark_reads_from_an_environment_of_its_own(stage, tables, tmp_path) -> None:
    packages, variables = find_spark(tmp_path)
    variables |= {"PYTHONPATH": str(packages)}
    lines = [f"export {name}={value}" for name, value in variables.items()]
    python = tmp_path / "python"
    python.write_text("\n".join(["#!/bin/sh", *lines, f'exec {sys.executable} "$@"\n']))
    python.chmod(0o755)
    new_profile(stage, "umbrella", "stage")

    said = run(
        stage.home,
        *("recipient", "rehearse", "umbrella", "--json"),
        PORT=str(urlsplit(stage.url).port),
        DELTAWEB_REHEARSAL_PYTHON=str(python),
    )

    held = json.loads(said.stdout)
    of_spark = {
        one["table"]: (one["error"], one["num_rows"], one["is_equal"])
        for one in held["readings"]
        if one["client"] == "spark"
    }
    assert held["missing"] == []
    assert of_spark == {
        f"stage.data.{name}": (
            None,
            tables[name].table.snapshot().read().num_rows,
            True,
        )
        for name in ("customers", "fed")
    }


@pytest.fixture(scope="module")
def barred(stage: Installation) -> Path:
    """The profile of somebody whose address is not on the list."""
    path = stage.home / "hooli.share"
    stage.command(
        *("recipient", "create", "hooli", "--share", "stage"),
        *("--allow", "192.0.2.0/24", "--profile", str(path)),
    )
    return path


@pytest.mark.parametrize("client", sorted({*HERE, DIRECTORY}))
def test_a_client_that_may_not_come_in_is_told_what_to_do(barred: Path, client: str):
    read = CLIENTS[client].read

    with pytest.raises(Exception, match=r"\S") as refused:
        read(f"{barred}#stage.data.customers")

    known, *_ = recognize(f"{type(refused.value).__name__}: {refused.value}")
    assert "allow list" in f"{known.cause} {known.remedy}"


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
