"""Logs in S3 and Azure, read and listed by obstore: at a tenth of the processor time.

A location is opened by fsspec. Where obstore is installed (the extra `obstore`) and
both drivers take the options alike, it answers what is asked most: the names of a log,
and its files. What it does not answer the driver of fsspec is asked again, whose faults
are known as sentences; so it is an answer sooner, or nothing.

All else stays as it is. A commit is created by the driver whose promise was tried
(`creation`), once, and a repeated creation would find itself. A scan asks for one key
of each log, and obstore only for a thousand. Google has no server for tests that
obstore speaks to. Profiles and sign-on are those drivers' own.

Of 2,000 small files in S3 s3fs took 7.3 s of CPU and obstore 0.4 s, of a thousand lists
and commits 4.2 s and 0.5 s (`python -m tests.benchmarks stores`); a snapshot of 3,000
commits 10.7 s by s3fs alone, and 0.8 s so. In Azure a file took adlfs 1.9 ms and
obstore 0.2 ms, a list of 500 names 144 ms and 5 ms.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache, partial
from importlib.util import find_spec
from itertools import chain
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.store import FileStatus
from deltaweb.storage.location import AZURE_SCHEMES, S3_SCHEMES
from deltaweb.storage.objects.hosts import is_named
from deltaweb.storage.objects.listing import file_status
from deltaweb.storage.signing.azure import read_account

T = TypeVar("T")

AT_ONCE: Final = 16  # requests
MAX_SKIPPED: Final = 1_000  # files of folders below, before they are jumped over
LAST: Final = "\U0010ffff"  # sorts after every other character
S3_OPTIONS: Final = frozenset(
    {"key", "secret", "token", "anon", "endpoint_url", "client_kwargs"}
)
AZURE_OPTIONS: Final = frozenset({"connection_string", "account_name", "account_key"})
CLIENT_OPTIONS: Final = frozenset({"endpoint_url", "region_name"})
# By which a driver in Python alone is told whom to trust.
TRUST: Final = ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE")
LIMITS: Final[Any] = {"timeout": "60s", "connect_timeout": "4s", "allow_http": True}
RETRIES: Final[Any] = {"max_retries": 2, "retry_timeout": timedelta(seconds=10)}

_used_by: Final[dict[str, int]] = {}


class QuickReads:
    """Answers for the objects of one bucket, until it is at fault.

    Args:
        open_store: Opens the bucket for obstore; None where fsspec's driver answers.
    """

    def __init__(self, open_store: Callable[[], Any] | None) -> None:
        self._open_store = open_store

    def read(self, place: str, otherwise: Callable[[], bytes]) -> bytes:
        return self._answer(lambda store: _object(store, _key(place)), otherwise)

    def read_many(
        self, places: Sequence[str], otherwise: Callable[[], list[bytes]]
    ) -> list[bytes]:
        """Return objects, in their order."""

        def ask(store: Any) -> list[bytes]:  # noqa: ANN401  # its own type
            with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="quick") as pool:
                return [*pool.map(partial(_object, store), map(_key, places))]

        return self._answer(ask, otherwise)

    def list_from(
        self, folder: str, name: str, otherwise: Callable[[], list[FileStatus]]
    ) -> list[FileStatus]:
        """Return the files of a folder from `name` on, in order."""

        def ask(store: Any) -> list[FileStatus]:  # noqa: ANN401  # as above
            found = [*map(file_status, _objects(store, f"{_key(folder)}/", name))]
            return sorted(status for status in found if status.name >= name)

        return self._answer(ask, otherwise)

    def _answer(self, ask: Callable[[Any], T], otherwise: Callable[[], T]) -> T:
        # A child that was forked after its parent used obstore would wait for ever.
        pid = os.getpid()
        if self._open_store is not None and _used_by.setdefault("pid", pid) == pid:
            try:
                return ask(self._open_store())
            except FileNotFoundError:
                raise
            except Exception:  # noqa: BLE001  # the other says what it is
                self._open_store = None
        return otherwise()


def quick_reads(
    root: str, options: Mapping[str, Any], *, allowed_hosts: Sequence[str] = ()
) -> QuickReads:
    """Return what reads below a URL, as far as both drivers take the options alike.

    obstore follows redirects, and whatever a name leads to, and cannot be told not to:
    it asks the clouds' own servers, and such as whoever runs this one has named.

    Args:
        allowed_hosts: The latter, as `hosts.is_named` takes them.
    """
    scheme, bucket = root.partition("://")[0], None
    if scheme in S3_SCHEMES:
        bucket = _bucket(root, options)
    elif scheme in AZURE_SCHEMES:
        bucket = _container(root, options)
    if (
        bucket is None
        or not (_is_of_the_cloud(bucket) or _is_named(bucket, allowed_hosts))
        or (
            any(map(os.environ.get, TRUST))
            and not (bucket.endpoint or "").startswith("http://")
        )
        or find_spec("obstore") is None
    ):
        return QuickReads(None)
    return QuickReads(partial(_opened, bucket))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bucket:
    """A bucket or a container, as obstore takes it.

    Attributes:
        credentials: As its class has them; None reads without any.
    """

    store: str
    name: str
    endpoint: str | None
    config: tuple[tuple[str, Any], ...] = ()
    credentials: tuple[tuple[str, Any], ...] | None = field(default=None, repr=False)


def _bucket(root: str, options: Mapping[str, Any]) -> _Bucket | None:
    client: Mapping[str, Any] = options.get("client_kwargs") or {}
    endpoint = client.get("endpoint_url") or options.get("endpoint_url")
    region = client.get("region_name") or (endpoint and "us-east-1")
    has_key = bool(options.get("key") and options.get("secret"))
    is_anonymous = options.get("anon") is True
    is_known = options.keys() <= S3_OPTIONS and client.keys() <= CLIENT_OPTIONS
    if not (is_known and region) or has_key == is_anonymous:
        return None
    credentials = {
        "access_key_id": options.get("key"),
        "secret_access_key": options.get("secret"),
        "token": options.get("token"),
        "expires_at": None,
    }
    return _Bucket(
        store="S3Store",
        name=_owner(root),
        endpoint=endpoint,
        config=(("region", region), ("skip_signature", is_anonymous)),
        credentials=None if is_anonymous else tuple(credentials.items()),
    )


def _container(root: str, options: Mapping[str, Any]) -> _Bucket | None:
    if not options.keys() <= AZURE_OPTIONS:
        return None
    name, _, host = _owner(root).partition("@")
    try:
        account = read_account(root, options, host)
    except DeltaError:  # the driver is asked, and says what is missing
        return None
    if not account.key or account.sas_token:
        return None
    return _Bucket(
        store="AzureStore",
        name=name,
        endpoint=account.blob_url,
        config=(("account_name", account.name),),
        credentials=(("access_key", account.key), ("expires_at", None)),
    )


@lru_cache(maxsize=64)
def _opened(bucket: _Bucket) -> Any:  # noqa: ANN401  # as above
    """Return a store, whose connections all that ask alike share."""
    from obstore import store  # noqa: PLC0415  # an extra

    given: dict[str, Any] = dict(bucket.config)
    if bucket.endpoint:
        given["endpoint"] = bucket.endpoint
    if bucket.credentials is not None:
        # Given so, no variable of the environment is put beside a stored key.
        credentials = dict(bucket.credentials)
        given["credential_provider"] = lambda: dict(credentials)
    return getattr(store, bucket.store)(
        bucket.name, client_options=LIMITS, retry_config=RETRIES, **given
    )


def _is_of_the_cloud(bucket: _Bucket) -> bool:
    own = f"https://{dict(bucket.config).get('account_name')}.blob.core.windows.net"
    return bucket.endpoint in {None, own}


def _is_named(bucket: _Bucket, allowed: Sequence[str]) -> bool:
    host = urlsplit(bucket.endpoint or "").hostname
    return host is not None and is_named(host, allowed=allowed)


def _owner(root: str) -> str:
    return root.partition("://")[2].partition("/")[0]


def _key(place: str) -> str:
    return place.partition("://")[2].partition("/")[2]


def _object(store: Any, key: str) -> bytes:  # noqa: ANN401  # as above
    import obstore  # noqa: PLC0415  # an extra

    try:
        return bytes(obstore.get(store, key).bytes())
    except FileNotFoundError:  # its text has the whole answer
        raise FileNotFoundError(key) from None


def _objects(store: Any, folder: str, name: str) -> Iterator[dict[str, Any]]:  # noqa: ANN401  # as above
    """Yield the objects of a folder from a name on, as `file_status` takes them.

    Those of folders below are listed with them, so many are jumped over.
    """
    import obstore  # noqa: PLC0415  # an extra

    # What is given is left out, so it is a name that sorts just before.
    offset = f"{folder}{name[:-1]}{chr(ord(name[-1]) - 1)}{LAST}" if name else None
    while True:
        skipped = 0
        for entry in chain.from_iterable(
            obstore.list(store, folder, offset=offset, chunk_size=1_000)
        ):
            below, is_deep, _ = entry["path"].removeprefix(folder).partition("/")
            if not is_deep:
                yield {**entry, "name": below}
                continue
            skipped += 1
            if skipped == MAX_SKIPPED:
                offset = f"{folder}{below}/{LAST}"
                break
        else:
            return
