"""Drivers that follow no redirect: an answer of a store leads into no other network.

The address of a store is looked at when it is typed (`hosts`); a store that answers
with another address would have it asked all the same. None of the three stores needs
that: where a bucket is in another region, S3 names it in a header, and botocore asks
there by itself.

Private parts of two drivers are used here; `tests/storage/test_refusals.py` fails where
they change.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from deltaweb.storage.objects.ambient import AZURE, S3

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
REGION: Final = "x-amz-bucket-region"
GOOGLE: Final = frozenset({"gs", "gcs"})


def with_no_redirects(scheme: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a driver's options, with those by which S3's and Google's follow none."""
    if scheme in S3:
        config = options.get("config_kwargs") or {}
        session = {"http_session_cls": _s3_session()}
        return {**options, "config_kwargs": {**config, **session}}
    if scheme in GOOGLE:
        session = options.get("session_kwargs") or {}
        traces = {"trace_configs": [_refusing_trace()]}
        return {**options, "session_kwargs": {**session, **traces}}
    return dict(options)


def refuse_redirects(driver: Any) -> Any:  # noqa: ANN401  # fsspec has no types
    """Return a driver that follows none, Azure's too, which has no option for it."""
    if AZURE.isdisjoint(_protocols(driver)):
        return driver
    from azure.core.pipeline.policies import AsyncRedirectPolicy  # noqa: PLC0415  # loads only for remote tables

    for policy in driver.service_client._pipeline._impl_policies:  # noqa: SLF001  # as said
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

    class _Direct:
        """The session of a driver, whose requests end where they were sent."""

        def __init__(self, session: Any) -> None:  # noqa: ANN401  # aiohttp's
            self._session = session

        async def request(self, method: str, **given: Any) -> Any:  # noqa: ANN401  # as above
            sent = self._session.request(method, allow_redirects=False, **given)
            answer = await sent
            # botocore asks which region is meant, again and again, where none is told.
            if answer.status in REDIRECTS and REGION not in answer.headers:
                answer.close()
                raise RedirectRefusedError
            return answer

    class DirectSession(AIOHTTPSession):  # type: ignore[misc]  # it has no types
        async def _get_session(self, proxy_url: str | None) -> _Direct:
            return _Direct(await super()._get_session(proxy_url))

    return DirectSession
