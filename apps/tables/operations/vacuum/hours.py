"""How long a vacuum keeps removed files, as text that people type."""

import re
from argparse import ArgumentTypeError
from typing import Final

HOURS: Final = {"h": 1.0, "d": 24.0, "m": 1 / 60}


def hours_of(text: str) -> float:
    """Read a time such as `7d`; argparse turns the error into bad usage."""
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)([hdm]?)", text.strip())
    if match is None:
        message = f"{text!r} is not a time such as 168h or 7d"
        raise ArgumentTypeError(message)
    return float(match[1]) * HOURS[match[2] or "h"]
