"""The checks of lakes, buckets and their clocks for the doctor of a set-up."""

from collections.abc import Iterator
from datetime import UTC, datetime
from http.client import HTTPException
from typing import Final
from urllib.parse import urlsplit

from apps.operate.doctor.checks import (
    FAIL,
    OK,
    WARN,
    Found,
    SetupCheck,
    SetupOptions,
    setup_checks,
)
from apps.operate.doctor.own import clock_of, get_once
from apps.pages.errors import PageError
from apps.tables.models import Lake
from apps.tables.storage.connections import connection_prefixes, options_for
from apps.tables.storage.finding import check_reached
from apps.tables.storage.locations import is_remote
from apps.tables.storage.received import is_received
from deltaweb.delta.errors import DeltaError
from deltaweb.storage.location import RECEIVED
from deltaweb.storage.spellings import parts_of
from deltaweb.words import counted

MAX_LISTED: Final = 20
"""Lakes and buckets that are listed; one that does not answer takes 10 s."""
CLOUDS: Final = {
    "s3": "https://s3.amazonaws.com",
    "gs": "https://storage.googleapis.com",
}


def look_at_lakes(_: SetupOptions) -> Iterator[Found]:
    """List each lake and each storage connection, and compare clocks with theirs."""
    lakes = Lake.objects.exclude(url__startswith=RECEIVED).values_list("url", flat=True)
    buckets = [one for one in connection_prefixes() if len(parts_of(one)) > 1]
    places = sorted({*lakes, *buckets} - {one for one in buckets if is_received(one)})
    hosts: set[str] = set()
    for place in places[:MAX_LISTED]:
        try:
            check_reached(place)
            endpoint = _endpoint_of(place)
        except (DeltaError, PageError) as error:
            yield FAIL, f"{place} cannot be listed: {error.message}", error.hint
            continue
        if endpoint and endpoint not in hosts:
            hosts.add(endpoint)
            yield from _clock_of(endpoint)
    number = min(len(places), MAX_LISTED)
    yield OK, f"{counted(number, 'place')} listed: lakes and buckets.", ""


def _endpoint_of(place: str) -> str:
    """Return the address of the server of an object store; "" if it has none."""
    if not is_remote(place):
        return ""
    scheme, options = place.partition("://")[0], options_for(place)
    client = options.get("client_kwargs")
    named = client.get("endpoint_url") if isinstance(client, dict) else None
    return str(named or options.get("endpoint_url") or CLOUDS.get(scheme, ""))


def _clock_of(endpoint: str) -> Iterator[Found]:
    url = urlsplit(endpoint)
    before = datetime.now(UTC)
    try:
        answer = get_once(url.scheme, url.netloc, "/")
    except (OSError, HTTPException, ValueError) as error:
        yield WARN, f"The clock of {endpoint} is unknown: {error}.", "See its log."
        return
    yield from clock_of(f"the storage at {url.netloc}", answer, before)


setup_checks.register(SetupCheck(name="lakes", look=look_at_lakes))
