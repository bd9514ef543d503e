"""The errors of temporary credentials, and the wording of each.

LocationError
├── VendingUnsupportedError   a place for which none are made here
└── VendingRefusedError       the store does not make them
"""

from deltaweb.delta.errors import LocationError


class VendingUnsupportedError(LocationError, code="vending-unsupported"):
    location: str
    reason: str
    message = "{location}: temporary credentials are not possible: {reason}."
    hint = "Its files can be read by URLs."


class VendingRefusedError(LocationError, code="vending-refused"):
    location: str
    answer: str
    wanted: str
    message = "{location}: the store gives no temporary credentials: {answer:.80}."
    hint = "{wanted}, then try again."
