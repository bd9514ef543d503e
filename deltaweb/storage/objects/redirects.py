"""Drivers that follow no redirect: an answer of a store leads into no other network.

The address of a store is looked at when it is typed (`hosts`); a store that answers
with another address would have it asked all the same. None of the three stores needs
that: what S3 says of another region botocore understands by itself, and without it the
answer is a refusal like any other.

Private parts of two drivers are used here; `tests/storage/test_refusals.py` fails where
they change.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from deltaweb.storage.objects.ambient import AZURE, S3

GOOGLE: Final = frozenset({"gs", "gcs"})


def own_way_only(scheme: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a driver with what keeps it from following redirects."""
    if scheme in S3:
        config = options.get("config_kwargs") or {}
        session = {"http_session_cls": _s3_session()}
        return {**options, "config_kwargs": {**config, **session}}
    if scheme in GOOGLE:
        session = options.get("session_kwargs") or {}
        traces = {"trace_configs": [_refusing_trace()]}
        return {**options, "session_kwargs": {**session, **traces}}
    return dict(options)


def not_led_elsewhere(driver: Any) -> Any:  # noqa: ANN401  # fsspec has no types
    """Return a driver, where it is Azure's without its way to follow redirects."""
    if AZURE.isdisjoint(_protocols(driver)):
        return driver
    from azure.core.pipeline.policies import AsyncRedirectPolicy  # noqa: PLC0415  # loads only for remote tables

    for policy in driver.service_client._pipeline._impl_policies:  # noqa: SLF001  # it takes no option for it
        if isinstance(policy, AsyncRedirectPolicy):
            policy.allow = False
    return driver


class RedirectRefusedError(Exception):
    """A store has answered with another address."""


def _protocols(driver: Any) -> tuple[str, ...]:  # noqa: ANN401  # as above
    protocol = driver.protocol
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)


@cache
def _refusing_trace() -> Any:  # noqa: ANN401  # aiohttp's
    from aiohttp import TraceConfig  # noqa: PLC0415  # as above

    async def refuse(_session: object, _context: object, asked: Any) -> None:  # noqa: ANN401  # as aiohttp calls it
        if "Location" in asked.response.headers:  # an upload has none
            raise RedirectRefusedError

    trace = TraceConfig()
    trace.on_request_redirect.append(refuse)
    return trace


@cache
def _s3_session() -> Any:  # noqa: ANN401  # as above
    from aiobotocore.httpsession import AIOHTTPSession  # noqa: PLC0415  # as above

    class OwnWay:
        """A session whose requests end where they were sent."""

        def __init__(self, session: Any) -> None:  # noqa: ANN401  # aiohttp's
            self._session = session

        def request(self, method: str, **given: Any) -> Any:  # noqa: ANN401  # as above
            return self._session.request(method, allow_redirects=False, **given)

    class OwnWayOnly(AIOHTTPSession):  # type: ignore[misc]  # it has no types
        async def _get_session(self, proxy_url: str | None) -> OwnWay:
            return OwnWay(await super()._get_session(proxy_url))

    return OwnWayOnly
