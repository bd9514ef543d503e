"""What tests share."""

from collections.abc import Mapping
from typing import Any

import pytest


def cases(names: str, table: Mapping[str, Any]) -> pytest.MarkDecorator:
    """A test is asked each case of a table, which has a name and the values of `names`.

    Several names are given by commas; a case then has a tuple of as many values.
    """
    are_several = "," in names
    rows = [
        pytest.param(*(values if are_several else (values,)), id=name)
        for name, values in table.items()
    ]
    return pytest.mark.parametrize(names, rows)
