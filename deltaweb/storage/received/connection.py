"""Connections to servers of others: checked addresses, proxies and one deadline.

The name of a host is looked up once, checked, and the connection goes to that very
address. Where `HTTPS_PROXY` or `HTTP_PROXY` names a proxy for the host, the proxy looks
the name up again; the addresses that we find are checked before.
"""

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Final, Self, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from urllib3 import make_headers
from urllib3.connection import HTTPConnection, HTTPSConnection, ProxyConfig
from urllib3.util import Url, parse_url

from deltaweb.storage.objects.hosts import allowed_addresses, is_named
from deltaweb.storage.received.errors import ProviderAnswerError, ProviderHostError
from deltaweb.storage.signing.s3 import DEFAULT_PORTS

_PROXY_TLS: Final = ProxyConfig(
    ssl_context=None,
    use_forwarding_for_https=False,
    assert_hostname=None,
    assert_fingerprint=None,
)
_T = TypeVar("_T")


class Deadline:
    """Ends connections under their reader when the time is over.

    A server may send a byte a minute, of its headers and of its handshake too, so to
    look at the clock between two parts of an answer is not enough.
    """

    def __init__(self, after_s: float, error: ProviderAnswerError) -> None:
        self._error = error
        self._ends_s = time.monotonic() + after_s
        self._is_over = threading.Event()
        self._lock = threading.Lock()
        self._connected: socket.socket | None = None
        self._timer = threading.Timer(after_s, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            if self._connected is not None:
                self._connected.close()

    def left_s(self) -> float:
        """Return the seconds that are left; raise the error without any."""
        self.check()
        return max(self._ends_s - time.monotonic(), 0.001)

    def take(self, connected: socket.socket) -> None:
        """Watch a connection instead of the one before.

        It is a descriptor of our own, because TLS takes away the first.
        """
        with self._lock:
            if self._connected is not None:
                self._connected.close()
            self._connected = connected.dup()
        if self._is_over.is_set():
            self._end()

    def check(self) -> None:
        """Raise the error if the time is over."""
        if self._is_over.is_set() or time.monotonic() >= self._ends_s:
            raise self._error from None

    def unless_over(self) -> Iterator[bytes]:
        """End an answer: without a length, one that was broken off looks whole."""
        self.check()
        yield from ()

    def run(self, work: Callable[[], _T]) -> _T:
        """Return the result of a call that cannot be given a timeout itself."""
        result = Future[_T]()

        def run() -> None:
            try:
                result.set_result(work())
            except BaseException as error:  # noqa: BLE001 (raised again by the caller)
                result.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        try:
            return result.result(timeout=self.left_s())
        except TimeoutError:
            raise self._error from None

    def _end(self) -> None:
        self._is_over.set()
        with self._lock, suppress(OSError):
            if self._connected is not None:
                self._connected.shutdown(socket.SHUT_RDWR)


class CheckedConnection(HTTPConnection):
    """A connection that ends with its deadline.

    Attributes:
        forwarded_with: Headers for a proxy that forwards requests, which then name the
            whole URL; None without one.
    """

    deadline: Deadline
    forwarded_with: Mapping[str, str] | None = None

    def _new_conn(self) -> socket.socket:
        connected = super()._new_conn()
        self.deadline.take(connected)
        return connected


class CheckedTLSConnection(HTTPSConnection):
    """The same over TLS."""

    deadline: Deadline
    forwarded_with: Mapping[str, str] | None = None

    def _new_conn(self) -> socket.socket:
        connected = super()._new_conn()
        self.deadline.take(connected)
        return connected


def connection_to(
    url: str, *, allowed: Sequence[str], timeout_s: float, deadline: Deadline
) -> CheckedConnection | CheckedTLSConnection:
    """Return a connection to the host of a URL, which is not opened yet.

    Args:
        allowed: As `deltaweb.storage.objects.hosts` takes them.

    Raises:
        ProviderHostError: If the host may not be asked.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    if parts.scheme not in DEFAULT_PORTS or not host:
        raise ProviderHostError(host=host or "an address", reason="it is not a URL")
    port = parts.port or DEFAULT_PORTS[parts.scheme]
    proxy = _proxy_for(parts, host)
    found, reason = deadline.run(lambda: allowed_addresses(host, allowed=allowed))
    # A proxy may know names that are not known here: of those, named hosts are allowed.
    if not found and not (proxy and is_named(host, allowed=allowed)):
        raise ProviderHostError(host=host, reason=reason)
    timeout_s = min(timeout_s, deadline.left_s())
    connection: CheckedConnection | CheckedTLSConnection
    if proxy is not None:
        connection = _through(proxy, parts.scheme, host, port, timeout_s)
    elif parts.scheme == "http":
        connection = CheckedConnection(found[0], port, timeout=timeout_s)
    else:
        connection = CheckedTLSConnection(
            found[0],
            port,
            timeout=timeout_s,
            server_hostname=host,
            assert_hostname=host,
        )
    connection.deadline = deadline
    return connection


def _proxy_for(parts: SplitResult, host: str) -> Url | None:
    """Return the proxy that the environment names for a host; None without one."""
    proxies = getproxies()
    text = proxies.get(parts.scheme) or proxies.get("all")
    if not text or proxy_bypass(_place(host, parts)):
        return None
    proxy = parse_url(text if "://" in text else f"http://{text}")
    if proxy.scheme not in DEFAULT_PORTS or not proxy.host:
        reason = "the proxy that the environment names has no http or https URL"
        raise ProviderHostError(host=host, reason=reason)
    return proxy


def _place(host: str, parts: SplitResult) -> str:
    """Return host and port as `NO_PROXY` names them."""
    return host if parts.port is None else f"{host}:{parts.port}"


def _through(
    proxy: Url, scheme: str, host: str, port: int, timeout_s: float
) -> CheckedConnection | CheckedTLSConnection:
    """Return a connection through a proxy: a tunnel for `https`, forwarded for `http`.

    Source: RFC 9110, 9.3.6 "CONNECT"; RFC 9112, 3.2.2 "absolute-form".
    """
    address = (proxy.host or "").strip("[]")
    proxy_port = proxy.port or DEFAULT_PORTS[proxy.scheme or ""]
    headers = make_headers(proxy_basic_auth=unquote(proxy.auth)) if proxy.auth else {}
    connection: CheckedConnection | CheckedTLSConnection
    if scheme == "http":
        kind = CheckedConnection if proxy.scheme == "http" else CheckedTLSConnection
        connection = kind(address, proxy_port, timeout=timeout_s)
        connection.forwarded_with = headers
        return connection
    connection = CheckedTLSConnection(
        address,
        proxy_port,
        timeout=timeout_s,
        proxy=proxy,
        proxy_config=_PROXY_TLS,
        server_hostname=host,
        assert_hostname=host,
    )
    connection.set_tunnel(host, port, headers=headers, scheme=proxy.scheme or "http")
    return connection
