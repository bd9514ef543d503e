"""What no log may hold."""

import logging
import re

_SIGN_IN_LINK = re.compile(r"(/sign-in/)[^/\s?'\"]+")


class HideSignInLinks(logging.Filter):
    """Cuts the token out of every sign-in link: a log outlives and outreaches it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record's message; every record passes."""
        message = record.getMessage()
        if "/sign-in/" in message:
            record.msg = _SIGN_IN_LINK.sub(r"\1...", message)
            record.args = None
        return True
