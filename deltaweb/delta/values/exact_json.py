"""JSON whose numbers keep the digits that they were written with."""

import json
from typing import Any


class ExactNumber(str):
    """A number as its digits stand in the text."""

    __slots__ = ()


def parse_exact(text: str | bytes) -> Any:  # noqa: ANN401  # any JSON
    """Return what a text says, its numbers as `ExactNumber`."""
    return json.loads(
        text,
        parse_int=ExactNumber,
        parse_float=ExactNumber,
        parse_constant=ExactNumber,
    )


def exact_json(value: object, *, is_ascii: bool = False) -> str:
    """Return the text of what `parse_exact` returned, without blanks.

    Args:
        is_ascii: Whether other characters are escaped; halves of some have no other
            form.
    """
    if isinstance(value, ExactNumber):
        return str(value)
    if isinstance(value, dict):
        parts = (
            f"{json.dumps(name, ensure_ascii=is_ascii)}"
            f":{exact_json(part, is_ascii=is_ascii)}"
            for name, part in value.items()
        )
        return "{" + ",".join(parts) + "}"
    if isinstance(value, list):
        parts = (exact_json(part, is_ascii=is_ascii) for part in value)
        return "[" + ",".join(parts) + "]"
    return json.dumps(value, ensure_ascii=is_ascii)
