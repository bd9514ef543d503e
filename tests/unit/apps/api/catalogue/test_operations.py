"""Operations of a table by REST."""

import pytest

from tests.support.pages.rest import Script

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("operation", "parameters"),
    [
        pytest.param("optimize", {"target_bytes": -1}, id="a size below nothing"),
        pytest.param("optimize", {"target_bytes": 1 << 63}, id="a size of 65 bits"),
        pytest.param("write_checkpoint", {"parts": 0}, id="no part"),
        pytest.param("write_checkpoint", {"parts": 10**9}, id="too many parts"),
        pytest.param("restore", {"version": -1}, id="a version below the first"),
        pytest.param("delete_rows", {"where": "(" * 10_001}, id="a long condition"),
    ],
)
def test_parameters_keep_to_the_bounds_of_pages_and_commands(operation, parameters):
    path = f"/api/v1/tables/sales/orders/operations/{operation}"

    answer = Script().call("POST", path, {"parameters": parameters})

    assert (answer.status_code, answer.json()["error"]) == (400, "body-invalid")
    assert f"parameters.{next(iter(parameters))}" in answer.json()["message"]
