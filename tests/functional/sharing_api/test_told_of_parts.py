"""Whatever a recipient is told, it is never the rule, nor what the rule hides."""

import json
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from apps.sharing.models import PreparedVersion, Recipient, SharedTable
from tests.functional.iceberg_api.clients import catalog
from tests.functional.sharing_api.calls import Answer, Caller, body_of, error
from tests.functional.sharing_api.conftest import NewCaller
from tests.functional.sharing_api.ruled import IN_DELTA, Ruled, new_staff
from tests.support import cases
from tests.support.pages.factories import new_share, new_shared_table, new_table

WORDS = ("salary", "7000009", "other-tenant", "recipient.", "note", "secret-5")
RULE = "region = recipient.region AND salary <> 7000009 AND note IS DISTINCT FROM 'x'"
VECTORS = {"delta.enableDeletionVectors": "true"}
TABLE = "/v1/namespaces/people%1Fhr/tables/staff"


@pytest.fixture
def staff(db: None, tmp_path: Path, settings: Settings, request: Any) -> Ruled:  # noqa: ARG001, ANN401 (a database; pytest's own)
    settings.PREPARED_FILES = str(tmp_path / "prepared")
    root = tmp_path / "lake" / "staff"
    table = new_table("hr.staff", location=str(root), version=3)
    shared = new_shared_table(new_share("People"), "hr.staff", table=table)
    return Ruled(new_staff(root, **getattr(request, "param", {})), shared)


@pytest.fixture
def acme(staff: Ruled, new_caller: NewCaller) -> Caller:
    return new_caller("acme", staff.shared.share, properties={"region": "EU"})


def told(answer: Answer) -> str:
    """All that an answer says, in its head and body."""
    head = "\n".join(f"{name}: {value}" for name, value in answer.items())
    return f"{head}\n{body_of(answer).decode(errors='replace')}".lower()


def every_answer(staff: Ruled, caller: Caller) -> list[Answer]:
    """Ask for all that the doors have, and for what they refuse."""
    path = staff.path
    hidden = {
        "op": "equal",
        "children": [
            {"op": "column", "name": "salary", "valueType": "long"},
            {"op": "literal", "value": "1", "valueType": "long"},
        ],
    }
    bodies: list[dict[str, object]] = [
        {},
        {"predicateHints": ["salary = 1", "note = 'a'"]},
        {"jsonPredicateHints": json.dumps(hidden)},
        {"version": 0},
        {"version": 99},
        {"timestamp": "2001-01-01T00:00:00Z"},
        {"startingVersion": 0},
        {"startingVersion": 99},
        {"maxFiles": 1},
        {"refreshToken": "x"},
        {"limitHint": 1},
    ]
    answers = [
        caller.query(path, body, **headers)
        for body in bodies
        for headers in ({}, IN_DELTA)
    ]
    gets = (
        *("/shares", "/shares/People", "/shares/People/schemas"),
        *("/shares/People/all-tables", path, f"{path}/version", f"{path}/metadata"),
        *(f"{path}/metadata?version=0", f"{path}/version?startingTimestamp=x"),
        *(f"{path}/changes?startingVersion=0", f"{path}/changes?startingVersion=99"),
    )
    answers += [caller.get(one, **IN_DELTA) for one in gets]
    answers.append(caller.ask("POST", f"{path}/temporary-table-credentials", b"{}"))
    answers += [
        catalog(caller, one)
        for one in ("/v1/config?warehouse=People", "/v1/namespaces", TABLE)
    ]
    return answers


class TestAnswers:
    @cases(
        "condition, columns, is_ready",
        {
            "ready": (RULE, ("id", "region"), True),
            "not ready": (RULE, ("id", "region"), False),
            "a condition that cannot be read": (f"{RULE} AND (", ("id",), False),
            "a column that is gone": ("salary_of_2019 > 7000", ("id",), False),
            "a type that does not fit": ("salary LIKE 'other-tenant'", ("id",), False),
            "no column is left": ("", ("other-tenant",), False),
        },
    )
    def test_never_tell_the_rule(self, staff, acme, condition, columns, is_ready):
        staff.rule(condition, *columns)
        if is_ready:
            staff.prepare()

        answers = every_answer(staff, acme)

        said = {
            (word, str(answer.request["PATH_INFO"]))
            for answer in answers
            for word in WORDS
            if word in told(answer)
        }
        assert said == set()
        assert {answer.status_code for answer in answers} <= {200, 400, 403, 404, 409}

    def test_refuse_hidden_columns_as_missing_ones(self, staff, acme) -> None:
        staff.rule("", "id")
        staff.prepare()

        def asked(column: str) -> tuple[dict[str, str], bytes]:
            hint = {"predicateHints": [f"{column} = 1"], "limitHint": 1}
            answer = staff.query(acme, hint)
            head = dict(answer.items())
            return head, body_of(answer).split(b'"url"')[0]

        hidden, missing = asked("salary"), asked("bounty")

        assert hidden[1] == missing[1]
        assert hidden[0].keys() == missing[0].keys()

    def test_offer_no_version_before_the_first_one(self, staff, acme) -> None:
        SharedTable.objects.update(start_version=2)

        answers = [
            acme.query(staff.path, {"version": 99}),
            acme.query(staff.path, {"startingVersion": 99}),
        ]

        assert [one.status_code for one in answers] == [400, 400]
        for one in answers:
            assert "from 2 to 3" in error(one)["message"]


@pytest.mark.parametrize(
    "staff",
    [
        {},
        {"partition_by": ["region"]},
        {"properties": VECTORS},
        {"partition_by": ["region"], "properties": VECTORS},
    ],
    indirect=True,
)
@pytest.mark.parametrize("columns", [(), ("id", "region")])
@pytest.mark.parametrize("value", ["EU", "US", "nowhere"])
def test_the_count_of_a_part_is_of_the_rows_that_are_read(
    staff: Ruled, acme: Caller, columns: tuple[str, ...], value: str
) -> None:
    Recipient.objects.update(properties={"region": value})
    acme.recipient.refresh_from_db()
    staff.table.delete("id IN (2, 6, 11)")
    staff.rule("region = recipient.region", *columns)
    staff.prepare()

    rows = staff.rows(acme)

    assert PreparedVersion.objects.get().num_rows == len(rows)
    assert bool(rows) == (value != "nowhere")
