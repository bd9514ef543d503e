"""What no log may hold."""

import logging
import re

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
