"""JSON whose numbers keep the digits that they were written with."""

import json
from typing import Any


class ExactNumber(str):
    """A number as its digits stand in the text."""

    __slots__ = ()


def parse_exact(text: str) -> Any:  # noqa: ANN401  # any JSON
    """Return what a text says, its numbers as `ExactNumber`."""
    return json.loads(text, parse_int=ExactNumber, parse_float=ExactNumber)


def exact_json(value: object) -> str:
    """Return the text of what `parse_exact` returned, without blanks."""
    if isinstance(value, ExactNumber):
        return str(value)
    if isinstance(value, dict):
        parts = (f"{exact_json(name)}:{exact_json(value[name])}" for name in value)
        return "{" + ",".join(parts) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(exact_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
