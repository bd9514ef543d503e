"""Storages by REST and by commands; `tests/storage` tries them on a store."""

import logging

import pytest

from apps.accounts.models import User
from apps.api.models import KeptAnswer
from apps.audit.models import AuditEvent
from apps.pages.actions import command_stamp
from apps.tables.models import StorageConnection
from apps.tables.storage.changes import NewStorage, NewStorageAtTerminal
from apps.tables.storage.connections import add_connection, options_for
from tests.functional import command_line
from tests.support.pages.rest import V1, Script, refusal

pytestmark = pytest.mark.django_db
STORAGES = f"{V1}/storages"
SECRET = "open sesame"
LAKE = {
    "name": "lake",
    "prefix": "s3://lake/",
    "options": {"key": "AKIA", "secret": SECRET, "client_kwargs.verify": "no"},
    "untried": True,
}
OPTIONS = ("--option", "key=AKIA", "--option", f"secret={SECRET}")


@pytest.fixture
def script() -> Script:
    return Script("admin")


def test_one_is_kept_listed_and_forgotten_and_its_values_stay_inside(script) -> None:
    added = script.call("POST", STORAGES, LAKE, once="1")
    again = script.call("POST", STORAGES, LAKE, once="1")
    taken = script.call("POST", STORAGES, LAKE)
    replaced = script.made(STORAGES, {**LAKE, "options": {}, "replace": True})
    listed = script.call("GET", STORAGES).json()
    shown = script.call("GET", added["Location"]).json()
    gone = script.call("DELETE", added["Location"])

    assert (added.status_code, again.content) == (201, added.content)
    assert added.json()["options"] == ["client_kwargs.verify", "key", "secret"]
    assert SECRET.encode() not in added.content
    assert refusal(taken) == (409, "storage-name-taken")
    assert (replaced["tried"], replaced["options"]) == (None, [])
    assert listed == {"storages": [shown]}
    assert gone.status_code == 204
    assert not StorageConnection.objects.exists()


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"options": {"key": "env:SECRET_KEY"}}, "storage-option-invalid"),
        ({"options": {"key": "file:/etc/passwd"}}, "storage-option-invalid"),
        ({"options": {"key=file:/etc/passwd": ""}}, "storage-option-invalid"),
        ({"options": {"ky": "x"}}, "storage-option-invalid"),
        ({"options": {"endpoint_url": "http://10.0.0.1"}}, "storage-host-not-allowed"),
        ({"prefix": "/etc"}, "location-invalid"),
        ({"prefix": "received://acme"}, "location-unsupported"),
        ({"name": "../x"}, "storage-name-invalid"),
    ],
)
def test_one_that_leads_astray_is_refused(script, changed, error: str) -> None:
    answer = script.call("POST", STORAGES, {**LAKE, **changed})

    assert (answer.json()["error"], answer.status_code) == (error, 422)
    assert not StorageConnection.objects.exists()


def test_they_are_changed_by_administrators_with_a_key_for_that() -> None:
    usual, editor = Script(), Script("admin", role=User.Role.EDITOR, name="eve")

    assert usual.call("GET", STORAGES).status_code == 200
    assert usual.call("POST", STORAGES, LAKE).json()["error"] == "scope-required"
    assert editor.call("GET", STORAGES).status_code == 403


def test_all_are_sealed_with_the_key_of_now(script: Script, settings) -> None:
    script.made(STORAGES, LAKE)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another"

    sealed = Script("admin").made(f"{V1}/reseal")

    settings.SECRET_KEY_FALLBACKS = []
    assert [one["name"] for one in sealed["storages"]] == ["lake"]
    assert options_for("s3://lake/t")["secret"] == SECRET
    assert Script().call("POST", f"{V1}/reseal").json()["error"] == "scope-required"


@pytest.mark.parametrize(
    "options",
    [
        SECRET,
        [SECRET],
        {"secret": [SECRET]},
        {"secret": {"secret": SECRET}},
        {SECRET: "x"},
        {"secret": f"env:{SECRET}"},
        {"secret": SECRET, "client_kwargs": SECRET, "client_kwargs.verify": SECRET},
        {"secret": SECRET, "endpoint_url": "http://10.0.0.1"},
        {"secret": f"{SECRET}\0"},
        {"secret": SECRET * 1_000},
    ],
)
def test_a_refusal_does_not_repeat_the_values(script, options) -> None:
    answer = script.call("POST", STORAGES, {**LAKE, "options": options})

    assert answer.status_code in {400, 422}
    assert SECRET not in answer.content.decode()


def test_a_value_is_in_no_answer_record_log_or_kept_answer(script, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    everywhere = {"name": "all", "prefix": "s3://", "options": LAKE["options"]}
    calls = [
        script.call("POST", STORAGES, everywhere, once="add"),
        script.call("POST", STORAGES, everywhere, once="add"),
        script.call("POST", STORAGES, everywhere | {"replace": True}, once="replace"),
        script.call("POST", f"{STORAGES}/all/try", {"write": True}, once="try"),
        script.call("POST", f"{V1}/reseal", once="reseal"),
        script.call("GET", STORAGES),
    ]
    add = ("storage", "add", "lake", "--prefix", "s3://lake", *OPTIONS, "--untried")
    commands = [
        command_line.Ran(*line)
        for line in (
            (*add, "--json"),
            (*add, "--replace"),
            ("storage", "list", "--json"),
            ("storage", "test", "all", "--json"),
            ("storage", "reseal", "--json"),
            ("storage", "remove", "lake", "--yes"),
        )
    ]

    assert [one.status_code for one in calls] == [201, 201, 201, 200, 200, 200]
    kept = KeptAnswer.objects.values_list("body", flat=True)
    records = AuditEvent.objects.filter(action__startswith="storage.")
    assert {one.action for one in records} == {
        *("storage.add", "storage.replace", "storage.test"),
        *("storage.reseal", "storage.remove"),
    }
    assert len(kept) == 4
    texts = [
        *(one.content.decode() for one in calls),
        *(f"{one.stdout}{one.stderr}" for one in commands),
        *(f"{one.detail}{one}" for one in records),
        *(*kept, caplog.text),
    ]
    assert not [text for text in texts if SECRET in text]


def test_options_are_not_printed_with_their_parameters() -> None:
    for kind in (NewStorage, NewStorageAtTerminal):
        one = kind(name="lake", prefix="s3://lake", options={"secret": SECRET})

        assert SECRET not in repr(one)


def test_a_test_of_a_storage_is_recorded(script: Script) -> None:
    script.made(STORAGES, {**LAKE, "prefix": "s3://"})

    tried = script.made(f"{STORAGES}/lake/try", {"write": True})

    assert tried["tried"] is None
    record = AuditEvent.objects.get(action="storage.test")
    assert (record.actor, record.detail["storage"]) == ("ada", "lake")


def test_a_command_alone_can_name_a_variable(monkeypatch) -> None:
    monkeypatch.delenv("LAKE_KEY", raising=False)
    add = ("storage", "add", "lake", "--prefix", "s3://lake", "--option")

    added = command_line.run_json(*add, "key=env:LAKE_KEY")

    (warning,) = added["warnings"]
    assert "the variable LAKE_KEY, which is not set" in warning
    assert (added["options"], added["tried"]) == (["key"], None)


def test_a_storage_can_have_no_options() -> None:
    add = ("storage", "add", "lake", "--prefix", "s3://lake", "--untried")

    said = command_line.Ran(*add).stdout

    assert said == (
        "s3://lake is reached by the storage lake (no options). It was not tested.\n"
    )


def test_a_provider_of_received_shares_is_no_storage(script: Script) -> None:
    add_connection(
        name="acme",
        prefix="received://acme",
        options={"bearerToken": SECRET},
        stamp=command_stamp(),
    )

    refused = [
        script.call("GET", f"{STORAGES}/acme"),
        script.call("DELETE", f"{STORAGES}/acme"),
        script.call("POST", f"{STORAGES}/acme/try"),
    ]

    assert {refusal(one) for one in refused} == {(404, "storage-not-found")}
    assert "No storage is named 'acme'" in command_line.refusal(
        "storage", "remove", "acme", "--yes"
    )
    assert script.call("GET", STORAGES).json() == {"storages": []}
    assert command_line.run_json("storage", "list") == []
    assert StorageConnection.objects.exists()


@pytest.mark.database
def test_a_name_with_a_nul_is_the_name_of_none(script: Script) -> None:
    answer = script.call("GET", f"{STORAGES}/a%00b")

    assert refusal(answer) == (404, "storage-not-found")
