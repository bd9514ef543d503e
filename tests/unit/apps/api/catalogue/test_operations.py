"""Operations of a table by REST."""

import pytest

from apps.jobs.models import Job
from tests.support import cases
from tests.support.pages.factories import new_table
from tests.support.pages.rest import Script, refusal

pytestmark = pytest.mark.django_db


@cases(
    "operation, parameters",
    {
        "a size below nothing": ("optimize", {"target_bytes": -1}),
        "a size of 65 bits": ("optimize", {"target_bytes": 1 << 63}),
        "no part": ("write_checkpoint", {"parts": 0}),
        "too many parts": ("write_checkpoint", {"parts": 10**9}),
        "a version below the first": ("restore", {"version": -1}),
        "a long condition": ("delete_rows", {"where": "(" * 10_001}),
    },
)
def test_parameters_keep_to_the_bounds_of_pages_and_commands(operation, parameters):
    path = f"/api/v1/tables/sales/orders/operations/{operation}"

    answer = Script().call("POST", path, {"parameters": parameters})

    assert refusal(answer) == (400, "body-invalid")
    assert f"parameters.{next(iter(parameters))}" in answer.json()["message"]


@cases(
    "operation, body",
    {
        "a constraint": ("change_constraint", {"parameters": {"name": "positive"}}),
        "a comment of a column": ("describe", {"parameters": {"column": "id"}}),
        "a comment": ("describe", {"parameters": {}}),
        "no parameters": ("describe", {}),
    },
)
def test_what_would_be_removed_has_to_be_stated(operation, body):
    new_table("sales.orders")
    path = f"/api/v1/tables/sales/orders/operations/{operation}"

    answer = Script().call("POST", path, body)

    assert refusal(answer) == (400, "body-invalid")
    assert not Job.objects.exists()


def test_null_drops_a_constraint():
    new_table("sales.orders")
    path = "/api/v1/tables/sales/orders/operations/change_constraint"

    answer = Script().call("POST", path, {"parameters": {"name": "old", "sql": None}})

    assert answer.status_code == 202
    assert Job.objects.get().parameters["asked"]["sql"] is None
