"""Bounds of values as writers put them into the statistics of a log."""

import math
from datetime import date, datetime
from decimal import Decimal


def written_bound(value: object) -> object:
    """Return a bound as JSON has it: times cut to the millisecond, no infinity."""
    match value:
        case datetime():
            text = value.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
            return text if value.tzinfo is None else f"{text}Z"
        case date():
            return value.isoformat()
        case Decimal():
            return float(value)
        case float() if math.isinf(value):
            return None
        case _:
            return value
