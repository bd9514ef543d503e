"""What botocore knows of a bucket: its address, and the credentials of this machine.

It is asked the way s3fs asks it, from the same options, so a table is signed where it
is read. botocore comes with s3fs and loads only for tables on S3.
"""

import functools
import json
import os
import threading
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from deltaweb.delta.errors import (
    CredentialsNeededError,
    LocationInvalidError,
    LocationUnsupportedError,
)
from deltaweb.storage.s3_signing import S3Credentials, S3Endpoint

KNOWN_BUCKETS: Final = 256
PROBE_KEY: Final = "k"
# A session makes one client at a time; looking for credentials may take seconds.
_client_lock, _credentials_lock = threading.Lock(), threading.Lock()
_ADDRESS_OPTIONS: Final = (
    "endpoint_url",
    "use_ssl",
    "client_kwargs",
    "config_kwargs",
    "profile",
)
_CLIENT_OPTIONS: Final = ("endpoint_url", "region_name", "use_ssl", "api_version")


def find_endpoint(location: str, bucket: str, options: Mapping[str, Any]) -> S3Endpoint:
    """Return where a bucket is.

    Raises:
        LocationInvalidError: If the options or the bucket's name do not fit.
        LocationUnsupportedError: If botocore is not installed.
    """
    chosen = {name: options[name] for name in _ADDRESS_OPTIONS if name in options}
    address = json.dumps(chosen, sort_keys=True, default=str)
    try:
        with _client_lock:
            return _find_endpoint(bucket, address, _environment())
    except ImportError:
        raise LocationUnsupportedError(
            location=location, scheme="s3", package="s3fs"
        ) from None
    except Exception as error:  # noqa: BLE001 (botocore's errors have no common base)
        reason = f"its options do not fit ({type(error).__name__})"
        raise LocationInvalidError(location=location, reason=reason) from None


def find_credentials(location: str, options: Mapping[str, Any]) -> S3Credentials:
    """Return the credentials of the options, or else those that botocore finds.

    Raises:
        CredentialsNeededError: If there are none, or they cannot be renewed.
    """
    client = options.get("client_kwargs") or {}
    key = options.get("key") or options.get("username")
    secret = options.get("secret") or options.get("password")
    key = key or client.get("aws_access_key_id")
    secret = secret or client.get("aws_secret_access_key")
    if key and secret:
        token = options.get("token") or client.get("aws_session_token")
        return S3Credentials(access_key=key, secret_key=secret, token=token or None)
    try:
        with _credentials_lock:
            session = _session(options.get("profile"), _environment())
            found = session.get_credentials()
        frozen = found.get_frozen_credentials()
    except Exception:  # noqa: BLE001 (each provider has its own errors; None has no method)
        raise CredentialsNeededError(location=location) from None
    if not frozen.access_key or not frozen.secret_key:
        raise CredentialsNeededError(location=location)
    expires_at = getattr(found, "_expiry_time", None)
    return S3Credentials(
        access_key=frozen.access_key,
        secret_key=frozen.secret_key,
        token=frozen.token,
        expires_at=expires_at if isinstance(expires_at, datetime) else None,
    )


@functools.lru_cache(maxsize=KNOWN_BUCKETS)
def _find_endpoint(
    bucket: str, address: str, environment: tuple[tuple[str, str], ...]
) -> S3Endpoint:
    """Have botocore presign one URL and take its address from it."""
    from botocore.config import Config  # noqa: PLC0415 (only tables on S3 need it)

    options = json.loads(address)
    client_options = {**options, **(options.get("client_kwargs") or {})}
    config = {**(options.get("config_kwargs") or {}), "signature_version": "s3v4"}
    client = _session(options.get("profile"), environment).create_client(
        "s3",
        aws_access_key_id=PROBE_KEY,
        aws_secret_access_key=PROBE_KEY,
        config=Config(**config),
        **{
            name: client_options[name]
            for name in _CLIENT_OPTIONS
            if client_options.get(name) is not None
        },
    )
    try:
        url = client.generate_presigned_url(
            "get_object", Params={"Bucket": bucket, "Key": PROBE_KEY}
        )
    finally:
        client.close()
    parts = urlsplit(url)
    scope = parse_qs(parts.query)["X-Amz-Credential"][0].split("/")
    base_url = f"{parts.scheme}://{parts.netloc}{parts.path[: -len(PROBE_KEY)]}"
    return S3Endpoint(base_url=base_url, region=scope[2])


@functools.lru_cache(maxsize=KNOWN_BUCKETS)
def _session(profile: str | None, _environment: tuple[tuple[str, str], ...]) -> Any:  # noqa: ANN401 (botocore has no types)
    """Return the session of a profile, which keeps and renews its credentials."""
    import botocore.session  # noqa: PLC0415 (as above)

    return botocore.session.Session(profile=profile)


def _environment() -> tuple[tuple[str, str], ...]:
    """Return the variables that botocore reads: other values, another session."""
    names = sorted(name for name in os.environ if name.startswith("AWS_"))
    return tuple((name, os.environ[name]) for name in names)
