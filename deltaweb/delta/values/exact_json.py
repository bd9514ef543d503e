"""JSON whose numbers keep the digits that they were written with."""

import json
from typing import Any

from deltaweb.environment.bounded_json import parse_json


class ExactNumber(str):
    """A number as its digits stand in the text."""

    __slots__ = ()


def parse_exact(text: str | bytes) -> Any:  # noqa: ANN401  # any JSON
    """Return what a text says, its numbers as `ExactNumber`."""
    return parse_json(
        text,
        parse_int=ExactNumber,
        parse_float=ExactNumber,
        parse_constant=ExactNumber,
    )


def exact_json(value: object, *, is_ascii: bool = False, blank: str = "") -> str:
    """Return the text of what `parse_exact` returned.

    Args:
        is_ascii: Whether other characters are escaped; halves of some have no other
            form.
        blank: What follows commas and colons.
    """
    if isinstance(value, ExactNumber):
        return str(value)
    if not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=is_ascii)
    if isinstance(value, list):
        items = (exact_json(one, is_ascii=is_ascii, blank=blank) for one in value)
        return "[" + f",{blank}".join(items) + "]"
    members = (
        f"{json.dumps(name, ensure_ascii=is_ascii)}:{blank}"
        f"{exact_json(one, is_ascii=is_ascii, blank=blank)}"
        for name, one in value.items()
    )
    return "{" + f",{blank}".join(members) + "}"
