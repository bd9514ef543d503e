"""How fast a key may call."""

import time

from django.conf import settings
from django.http import HttpRequest

from deltaweb.web.accounts.permissions import key_of
from deltaweb.web.api.errors import TooManyCallsError
from deltaweb.web.pages.request.rate_limits import RateLimit


def count_call(request: HttpRequest) -> None:
    """Count a call of an API key; a person in a browser is not counted."""
    key = key_of(request)
    if key is None:
        return
    calls = RateLimit(
        file="rates-api",
        rate_per_s=settings.API_REQUESTS_PER_S,
        burst=settings.API_REQUEST_BURST,
    )
    wait_s = calls.take(key.id.bytes, now_s=time.monotonic())
    if wait_s > 0:
        raise TooManyCallsError(wait_s=wait_s)
