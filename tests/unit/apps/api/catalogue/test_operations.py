"""Operations of a table by REST."""

import pytest

from tests.support import cases
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
