"""A month's hard limit, at every door of a share."""

import json
from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.pages.actions import COMMAND_LINE, Stamp
from apps.sharing.issuing.throw_away import throw_away
from apps.sharing.models import Recipient
from tests.functional.sharing_api.calls import Answer, Caller, Lake, files, refused

DELTA = {"delta-sharing-capabilities": "responseformat=delta"}
LATER = {"delta-sharing-capabilities": "asyncquery=true"}

Door = Callable[[Caller, Lake], Answer]
DOORS: dict[str, Door] = {
    "parquet": lambda acme, lake: acme.query(lake.path, {}),
    "delta": lambda acme, lake: acme.query(lake.path, {}, **DELTA),
    "stream": lambda acme, lake: acme.query(lake.path, {"startingVersion": 0}),
    "later": lambda acme, lake: acme.query(lake.path, {}, **LATER),
    "a page of later": lambda acme, lake: acme.ask(
        "POST", f"{lake.path}/queries/00000000-0000-0000-0000-000000000000", b"{}"
    ),
    "changes": lambda acme, lake: acme.get(f"{lake.path}/changes?startingVersion=0"),
    "directory": lambda acme, lake: acme.ask(
        "POST", f"{lake.path}/temporary-table-credentials", b"{}"
    ),
}


def limit(acme: Caller, size_bytes: int | None) -> None:
    Recipient.objects.filter(id=acme.recipient.id).update(hard_limit_bytes=size_bytes)


@pytest.mark.parametrize("door", DOORS)
def test_no_door_lets_in_who_has_used_up_the_month(door, acme, lake: Lake) -> None:
    limit(acme, 0)

    answer = DOORS[door](acme, lake)

    assert "used up" in refused(answer, "PERMISSION_DENIED", 403)
    assert "Retry-After" not in answer


def test_a_read_that_reaches_the_limit_is_the_last(acme: Caller, lake: Lake) -> None:
    limit(acme, 1)
    first = acme.query(lake.path, {})
    assert files(first)

    assert acme.query(lake.path, {}).status_code == 403
    assert acme.get(f"{lake.path}/version?startingTimestamp=").status_code != 403
    assert acme.get("/shares").status_code == 200

    limit(acme, None)
    assert acme.query(lake.path, {}).status_code == 200


def test_a_limit_costs_a_request_no_query(acme: Caller, lake: Lake) -> None:
    files(acme.query(lake.path, {}))
    with CaptureQueriesContext(connection) as without:
        files(acme.query(lake.path, {}))
    limit(acme, 1 << 40)
    files(acme.query(lake.path, {}))  # counts what was offered before
    with CaptureQueriesContext(connection) as within:
        files(acme.query(lake.path, {}))

    assert len(within) == len(without)


def test_what_is_read_in_its_place_counts_for_nobody(acme: Caller, lake: Lake) -> None:
    limit(acme, 1)
    now = timezone.now()
    with throw_away(acme.recipient, stamp=Stamp(COMMAND_LINE, now)) as (token, profile):
        secret = json.loads(profile.to_json())["bearerToken"]
        stand_in = Caller(token, secret)
        for _ in range(2):
            assert files(stand_in.query(lake.path, {}))

    assert stand_in.query(lake.path, {}).status_code == 401
    assert [one.prefix for one in acme.recipient.tokens.all()] == [acme.token.prefix]
    assert files(acme.query(lake.path, {}))
    assert acme.query(lake.path, {}).status_code == 403
