"""The keys of OIDC issuers: asked for when they are needed, kept, and renewed.

Only issuers that an administrator named are asked, so no token makes this server call
an address. A key that is not known makes it ask again, as issuers rotate theirs, at
most every `MIN_AGE`: tokens with invented keys cost no more than that. Keys that cannot
be renewed are good for `MAX_AGE` still.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from joserfc.jwk import KeySet

from deltaweb.delta.errors import DeltaError
from deltaweb.sharing.oauth.errors import JWTRefusedError

logger = logging.getLogger(__name__)

FRESH_FOR: Final = timedelta(minutes=10)
MIN_AGE: Final = timedelta(minutes=1)
MAX_AGE: Final = timedelta(days=1)
RETRY_AFTER: Final = timedelta(seconds=10)  # an issuer that does not answer
_MAX_ISSUERS: Final = 1000

Ask = Callable[[str], KeySet]


@dataclass(frozen=True, slots=True)
class _Kept:
    keys: KeySet
    fetched_at: datetime


class IssuerKeys:
    """The keys of issuers that this process has asked for."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._kept: dict[str, _Kept] = {}
        self._failed_at: dict[str, datetime] = {}
        self._asking = Lock()

    def get(self, issuer: str, *, now: datetime, renewed: bool = False) -> KeySet:
        """Return the keys of an issuer.

        Args:
            renewed: Whether a key was missing among those that are kept.
        """
        max_age = MIN_AGE if renewed else FRESH_FOR
        kept = self._kept.get(issuer)
        if kept is not None and now - kept.fetched_at < max_age:
            return kept.keys
        # Who finds another at it goes on with what there is.
        if self._asking.acquire(blocking=kept is None):
            try:
                self._renew(issuer, now, max_age)
            finally:
                self._asking.release()
        kept = self._kept.get(issuer)
        if kept is None or now - kept.fetched_at > MAX_AGE:
            raise JWTRefusedError(
                reason="the keys of its issuer cannot be fetched at the moment"
            )
        return kept.keys

    def _renew(self, issuer: str, now: datetime, max_age: timedelta) -> None:
        kept, failed_at = self._kept.get(issuer), self._failed_at.get(issuer)
        if kept is not None and now - kept.fetched_at < max_age:
            return  # another has asked meanwhile
        if failed_at is not None and now - failed_at < RETRY_AFTER:
            return
        try:
            keys = self._ask(issuer)
        except DeltaError as error:
            self._failed_at[issuer] = now
            logger.warning("The keys of %s cannot be had: %s", issuer, error)
            return
        if len(self._kept) >= _MAX_ISSUERS:
            self._kept.clear()
        self._failed_at.pop(issuer, None)
        self._kept[issuer] = _Kept(keys, now)
