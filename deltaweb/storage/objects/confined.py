"""Drivers that are led into no other network: by no redirect, and by no name.

The address of a store is looked at when it is typed (`hosts`). A store that answers
with another address would have it asked all the same; so would one whose name leads
elsewhere by then, so each address is looked at that a connection goes to. A proxy that
the environment names looks names up by itself.

None of the three stores needs redirects: where a bucket is in another region, S3 names
it in a header, and botocore asks there by itself.

Private parts of drivers and of aiohttp are used here; `tests/storage/test_refusals.py`
fails where they change.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from deltaweb.storage.location import AZURE_SCHEMES, GCS_SCHEMES, S3_SCHEMES
from deltaweb.storage.objects.hosts import ANY_PUBLIC, refusal_at

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
REGION: Final = "x-amz-bucket-region"
Hosts = tuple[str, ...] | None


def confined_options(
    scheme: str, options: Mapping[str, Any], hosts: Hosts
) -> dict[str, Any]:
    """Return a driver's options, with those that confine S3's and Google's.

    Args:
        hosts: As `hosts.refusal` takes them; None where every address is allowed.
    """
    if scheme in S3_SCHEMES:
        config = options.get("config_kwargs") or {}
        session = {"http_session_cls": _s3_session(hosts)}
        return {**options, "config_kwargs": {**config, **session}}
    if scheme in GCS_SCHEMES:
        session = options.get("session_kwargs") or {}
        traces = {"trace_configs": [_confining_trace(hosts)]}
        return {**options, "session_kwargs": {**session, **traces}}
    return dict(options)


def confine(driver: Any, hosts: Hosts) -> Any:  # noqa: ANN401  # fsspec has no types
    """Return a driver that is confined, Azure's too, which has no option for it."""
    if AZURE_SCHEMES.isdisjoint(_protocols(driver)):
        return driver
    from azure.core.pipeline.policies import AsyncRedirectPolicy  # noqa: PLC0415  # loads only for remote tables

    pipeline = driver.service_client._pipeline  # noqa: SLF001  # as said
    for policy in pipeline._impl_policies:  # noqa: SLF001
        if isinstance(policy, AsyncRedirectPolicy):
            policy.allow = False
    transport = pipeline._transport  # noqa: SLF001
    if "open" not in vars(transport):  # drivers are kept
        open_session = transport.open

        async def open_confined() -> None:
            await open_session()
            _look_at_addresses(transport.session, hosts)

        transport.open = open_confined
    return driver


class RedirectRefusedError(Exception):
    """A store has answered with another address."""


class AddressRefusedError(Exception):
    """The name of a store leads to an address that is not asked."""


def _look_at_addresses(session: Any, hosts: Hosts) -> None:  # noqa: ANN401  # aiohttp's
    """Let a session connect to no address that is inside, nor to one by its digits."""
    connector = session.connector
    if hosts is None or "_resolve_host" in vars(connector):
        return
    resolve = connector._resolve_host  # noqa: SLF001  # as said
    # Buckets are below a name that is allowed; the clouds' own hosts are public.
    allowed = (ANY_PUBLIC, *hosts, *(f".{name}" for name in hosts), *_proxies())

    async def resolve_allowed(host: str, *given: Any, **named: Any) -> Sequence[Any]:  # noqa: ANN401
        found: Sequence[Any] = await resolve(host, *given, **named)
        if refusal_at(host, [one["host"] for one in found], allowed=allowed):
            raise AddressRefusedError
        return found

    connector._resolve_host = resolve_allowed  # noqa: SLF001


def _proxies() -> list[str]:
    named = (url if "//" in url else f"//{url}" for url in getproxies().values())
    return [urlsplit(url).hostname or "" for url in named]


def _protocols(driver: Any) -> tuple[str, ...]:  # noqa: ANN401  # as above
    protocol = driver.protocol
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)


@cache
def _confining_trace(hosts: Hosts) -> Any:  # noqa: ANN401  # aiohttp's
    from aiohttp import TraceConfig  # noqa: PLC0415  # as above

    async def refuse(_session: object, _context: object, asked: Any) -> None:  # noqa: ANN401  # as aiohttp calls it
        if "Location" in asked.response.headers:  # an upload has none
            raise RedirectRefusedError

    async def look(session: object, _context: object, _asked: object) -> None:
        _look_at_addresses(session, hosts)

    trace = TraceConfig()
    trace.on_request_start.append(look)
    trace.on_request_redirect.append(refuse)
    return trace


@cache
def _s3_session(hosts: Hosts) -> Any:  # noqa: ANN401  # as above
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
            session = await super()._get_session(proxy_url)
            _look_at_addresses(session, hosts)
            return _Direct(session)

    return DirectSession
