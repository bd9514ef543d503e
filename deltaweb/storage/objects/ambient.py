"""What a driver finds by itself, where nobody stored options for a location.

The usual settings of each cloud count: environment, profiles and sign-on of the
command line, roles of the machine. Where there is nothing of the kind, a public bucket
is still read, without any credentials. s3fs would rather refuse, and adlfs never looks
for a sign-on unless it is told to.
"""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from deltaweb.storage.location import AZURE_SCHEMES, S3_SCHEMES
from deltaweb.storage.signing.azure import account_of, split_host

# What the tools of Azure leave where somebody, or something, has signed on.
AZURE_SIGNS: Final = (
    *("AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE", "IDENTITY_ENDPOINT"),
    *("MSI_ENDPOINT", "AZURE_TENANT_ID"),
)
LOOK_AGAIN_S: Final = 60.0  # somebody may sign on while the server runs
_looked: dict[str, tuple[float, bool]] = {}


def ambient_options(url: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for a driver, with those that the URL and the machine say.

    Args:
        url: The location; that of Azure may name its account.
        options: Those that are stored; they come before all else.
    """
    scheme = url.partition("://")[0]
    if scheme in S3_SCHEMES and not options:
        return {} if _has_s3_credentials() else {"anon": True}
    if scheme in AZURE_SCHEMES:
        found = dict(options)
        _, host = split_host(url.partition("://")[2].partition("/")[0])
        account = account_of(url, host)
        if account and not {"account_name", "connection_string"} & found.keys():
            found["account_name"] = account
        if not options and _is_signed_on():
            found["anon"] = False
        return found
    return dict(options)


def _is_signed_on() -> bool:
    profile = Path(os.environ.get("AZURE_CONFIG_DIR", "~/.azure")).expanduser()
    return any(os.environ.get(name) for name in AZURE_SIGNS) or profile.is_dir()


def _has_s3_credentials() -> bool:
    """Whether botocore finds any: a machine without takes a second to say so."""
    place = str(
        hash(tuple(item for item in os.environ.items() if item[0][:4] == "AWS_"))
    )
    looked_at, is_there = _looked.get(place, (0.0, False))
    if is_there or (looked_at and time.monotonic() - looked_at < LOOK_AGAIN_S):
        return is_there
    from botocore.session import Session  # noqa: PLC0415  # comes with s3fs

    try:
        is_there = Session().get_credentials() is not None
    except Exception:  # noqa: BLE001  # the driver meets it again, and says what it is
        is_there = True
    _looked.clear()
    _looked[place] = (time.monotonic(), is_there)
    return is_there
