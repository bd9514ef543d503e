"""What botocore knows of a bucket: its address, and the credentials of this machine.

It is asked the way s3fs asks it, from the same options, so a table is signed where it
is read. botocore comes with s3fs; this module is loaded for tables on S3 alone.
"""

import functools
import json
import os
import threading
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import botocore.session
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.loaders import create_loader

from deltaweb.delta.errors import (
    CredentialsNeededError,
    LocationInvalidError,
    LocationUnsupportedError,
)
from deltaweb.storage.signing.s3 import S3Credentials, S3Endpoint

KNOWN_BUCKETS: Final = 256
PROBE_KEY: Final = "k"
REGION_TIMEOUT_S: Final = 2
STS_TIMEOUT_S: Final = 5
# A session makes one client at a time; looking for credentials may take seconds.
_client_lock, _credentials_lock = threading.Lock(), threading.Lock()
_ADDRESS_OPTIONS: Final = (
    "endpoint_url",
    "use_ssl",
    "client_kwargs",
    "config_kwargs",
    "profile",
)
_CLIENT_OPTIONS: Final = ("endpoint_url", "use_ssl", "api_version")
_Environment = tuple[tuple[str, str], ...]


def find_endpoint(location: str, bucket: str, options: Mapping[str, Any]) -> S3Endpoint:
    """Return where a bucket is."""
    chosen = {name: options[name] for name in _ADDRESS_OPTIONS if name in options}
    address = json.dumps(chosen, sort_keys=True, default=str)
    environment = _environment()
    try:
        region = _find_region(bucket, address, environment)
        return _find_endpoint(bucket, address, environment, region)
    except ImportError:
        raise LocationUnsupportedError(
            location=location, scheme="s3", package="s3fs"
        ) from None
    except Exception as error:  # noqa: BLE001 (botocore's errors have no common base)
        reason = f"its options do not fit ({type(error).__name__})"
        raise LocationInvalidError(location=location, reason=reason) from None


def find_credentials(location: str, options: Mapping[str, Any]) -> S3Credentials:
    """Return the credentials of the options, or else those that botocore finds."""
    client = options.get("client_kwargs") or {}
    key = options.get("key") or options.get("username")
    secret = options.get("secret") or options.get("password")
    key = key or client.get("aws_access_key_id")
    secret = secret or client.get("aws_secret_access_key")
    if key and secret:
        token = options.get("token") or client.get("aws_session_token")
        return S3Credentials(access_key=key, secret_key=secret, token=token or None)
    if key or secret:
        raise CredentialsNeededError(location=location)  # half of what was meant
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


def new_sts_client(
    options: Mapping[str, Any],
    *,
    endpoint_url: str | None,
    region: str,
    credentials: S3Credentials,
) -> Any:  # noqa: ANN401 (botocore has no types)
    """Return a client of the service that makes temporary credentials.

    Args:
        endpoint_url: Its address; None is where the bucket is, or else AWS's own.
    """
    address = _client_options(json.dumps(dict(options), default=str))
    config = Config(
        connect_timeout=STS_TIMEOUT_S,
        read_timeout=STS_TIMEOUT_S,
        retries={"total_max_attempts": 2},
    )
    with _client_lock:
        return _session(options.get("profile"), _environment()).create_client(
            "sts",
            region_name=region,
            endpoint_url=endpoint_url or address.get("endpoint_url"),
            aws_access_key_id=credentials.access_key,
            aws_secret_access_key=credentials.secret_key,
            aws_session_token=credentials.token,
            config=config,
        )


def _find_region(bucket: str, address: str, environment: _Environment) -> str | None:
    """Return the region that is configured, or else the one that the bucket tells.

    Reading finds it by itself, from the refusal of a request that names another one;
    a recipient who is refused would not. None if unknown.
    """
    options = _client_options(address)
    config = options.get("config_kwargs") or {}
    session = _session(options.get("profile"), environment)
    configured = options.get("region_name") or config.get("region_name")
    region = configured or session.get_config_variable("region")
    if region:
        return str(region)
    try:
        return _ask_region(bucket, address, environment)
    except (BotoCoreError, ClientError, KeyError):
        return None


@functools.lru_cache(maxsize=KNOWN_BUCKETS)
def _ask_region(bucket: str, address: str, environment: _Environment) -> str:
    """Return the region of a bucket, which S3 tells everybody, even with a refusal."""
    client = _new_client(
        address,
        environment,
        signature_version=UNSIGNED,
        connect_timeout=REGION_TIMEOUT_S,
        read_timeout=REGION_TIMEOUT_S,
        retries={"total_max_attempts": 1},
    )
    try:
        answer = client.head_bucket(Bucket=bucket)
    except ClientError as error:
        answer = error.response
    finally:
        client.close()
    return str(answer["ResponseMetadata"]["HTTPHeaders"]["x-amz-bucket-region"])


@functools.lru_cache(maxsize=KNOWN_BUCKETS)
def _find_endpoint(
    bucket: str, address: str, environment: _Environment, region: str | None
) -> S3Endpoint:
    """Have botocore presign one URL and take its address from it."""
    client = _new_client(
        address, environment, region_name=region, signature_version="s3v4"
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


def _new_client(address: str, environment: _Environment, **config: Any) -> Any:  # noqa: ANN401 (botocore has no types)
    """Return a client that is made as s3fs makes its own, with other settings."""
    options = _client_options(address)
    region = config.pop("region_name", None) or options.get("region_name")
    known = {name: options[name] for name in _CLIENT_OPTIONS if name in options}
    with _client_lock:
        return _session(options.get("profile"), environment).create_client(
            "s3",
            region_name=region,
            aws_access_key_id=PROBE_KEY,
            aws_secret_access_key=PROBE_KEY,
            config=Config(**{**(options.get("config_kwargs") or {}), **config}),
            **known,
        )


def _client_options(address: str) -> dict[str, Any]:
    """Return the options of an address, those for the client among the others."""
    options: dict[str, Any] = json.loads(address)
    merged = {**options, **(options.get("client_kwargs") or {})}
    return {name: value for name, value in merged.items() if value is not None}


@functools.lru_cache(maxsize=KNOWN_BUCKETS)
def _session(profile: str | None, _environment: _Environment) -> Any:  # noqa: ANN401 (as above)
    session = botocore.session.Session(profile=profile)
    folders = session.get_config_variable("data_path")
    session.register_component("data_loader", _models(folders))
    return session


@functools.lru_cache(maxsize=1)
def _models(folders: str | None) -> Any:  # noqa: ANN401 (as above)
    """Return what knows the services: reading about S3 takes a session 0.1 s."""
    return create_loader(folders)


def _environment() -> _Environment:
    """Return the variables that botocore reads: other values, another session."""
    names = sorted(name for name in os.environ if name.startswith("AWS_"))
    return tuple((name, os.environ[name]) for name in names)
