"""Every endpoint of the REST API, called as its own description says and worse.

No call makes the server fail, and no answer is outside the description. Every third
endpoint is called in every run, all by `pytest -m exhaustive`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from django.test import override_settings
from hypothesis import HealthCheck, Phase, given, settings
from pytest_django import DjangoDbBlocker

from apps.accounts.models import Scope, User
from tests.support import cases
from tests.support.conditions.drawn_examples import examples
from tests.support.index.indexed_tables import new_indexed_table
from tests.support.pages.factories import (
    new_api_key,
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_user,
)

if TYPE_CHECKING:
    from schemathesis import Case

pytestmark = pytest.mark.django_db
CALLS: Final = examples(3)
THERE: Final = {
    "namespace": "sales",
    "name": "orders",
    "version": 1,
    "recipient": "orders",
    "column": "order_id",
    "row": 1,
    "table": "sales.orders",
}
"""What paths name: a table, a share, a recipient and a user are called `orders`."""


@pytest.fixture(scope="module")
def key(
    lake: Path,
    django_db_setup: None,  # noqa: ARG001 (there are tables)
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[dict[str, str]]:
    """A key for everything, whose calls leave the tests' own connection open.

    What it is about is made once, and is as it was before each test: what that changes
    is rolled back.
    """
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    often = override_settings(API_REQUESTS_PER_S=1e6, API_REQUEST_BURST=1_000_000)
    with django_db_blocker.unblock(), transaction.atomic(), often:
        table = new_indexed_table("sales.orders", lake / "orders")
        share, recipient = new_share("orders"), new_recipient("orders")
        new_shared_table(share, "sales.orders", table=table)
        new_grant(share, recipient)
        new_user("orders")
        yield new_api_key(new_user("ada", role=User.Role.ADMIN), scopes=list(Scope))
        transaction.set_rollback(True)
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.timeout(900)  # of some hundred endpoints, on a loaded machine
@cases("step", {"some endpoints": 3, "all endpoints": 1}, often=["some endpoints"])
def test_each_call_is_answered_as_described(key, subtests, step) -> None:
    # One test, without the plugin: every process would load that and the description.
    import schemathesis

    api = schemathesis.openapi.from_wsgi("/api/openapi.json", get_wsgi_application())
    operations = [found.ok() for found in api.get_all_operations()]  # type: ignore[union-attr]  # an error ends the test
    assert len(operations) > 100
    for operation in operations[::step]:
        with subtests.test(operation.label), transaction.atomic():
            _call(operation.as_strategy(), key)
            transaction.set_rollback(True)


def _call(cases, key) -> None:
    import schemathesis
    from schemathesis.specs.openapi import checks

    @given(case=cases)
    @settings(
        max_examples=CALLS,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    def call(case: "Case[Any]") -> None:
        case.path_parameters |= {
            name: THERE[name] for name in case.path_parameters if name in THERE
        }
        case.call_and_validate(
            headers={**key, "Host": "localhost"},
            checks=[
                schemathesis.checks.not_a_server_error,
                checks.status_code_conformance,
                checks.content_type_conformance,
                checks.response_schema_conformance,
            ],
        )

    call()
