"""What no log may hold: a secret of a link, or a line that somebody else wrote."""

import logging
import re
from typing import Final

STORE_DRIVERS: Final = (
    *("aiobotocore", "azure", "botocore", "fsspec", "gcsfs", "google", "msal"),
    *("s3fs", "urllib3"),
)
"""They tell at DEBUG what they send: tokens, signed URLs; and at INFO where they found
their credentials, at each start of a process."""
_ONE_TIME_LINK = re.compile(r"(/(?:sign-in|activate)/)[^/\s?'\"]+")


class HideSignInLinks(logging.Filter):
    """Cuts the secret out of one-time links: a log outlives and outreaches it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record's message; every record passes."""
        message = record.getMessage()
        if "/sign-in/" in message or "/activate/" in message:
            record.msg = _ONE_TIME_LINK.sub(r"\1...", message)
            record.args = None
        return True


class KeepOneLine(logging.Filter):
    """Writes out what does not print: a name in a request must not forge a line."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record's message; every record passes, its traceback as is."""
        message = record.getMessage()
        if not message.isprintable():
            record.msg = "".join(map(_printable, message))
            record.args = None
        return True


class DropTraceback(logging.Filter):
    """Leaves the message alone: where it was raised is known, and anybody can ask."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record; every record passes."""
        record.exc_info = record.exc_text = None
        return True


def _printable(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]
