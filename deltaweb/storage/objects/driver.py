"""The drivers of object stores: opened, and their faults as errors of ours.

The text of a driver's error may hold signed URLs or keys, so only its kind is told, or
what the store's own code means.

Source: Amazon S3, "Error responses"; Azure, "Blob Storage error codes"; Google Cloud
Storage, "HTTP status and error codes for JSON".
"""

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from deltaweb.delta.errors import (
    CredentialsNeededError,
    DeltaError,
    LocationDeniedError,
    LocationInvalidError,
    LocationUnreachableError,
    LocationUnsupportedError,
)
from deltaweb.storage.location import without_credentials
from deltaweb.storage.objects.ambient import ambient_options
from deltaweb.storage.objects.confined import confine, confined_options
from deltaweb.storage.objects.errors import (
    BucketNotFoundError,
    ClockSkewedError,
    CredentialsExpiredError,
    KeyUnknownError,
    RegionWrongError,
    SecretWrongError,
)
from deltaweb.storage.objects.hosts import ALLOWED_HOSTS
from deltaweb.storage.objects.vending import options as vending
from deltaweb.storage.signing.azure import HAND_OUT_OPTION

DRIVERS: Final[Mapping[str, str]] = {
    "abfs": "adlfs",
    "abfss": "adlfs",
    "az": "adlfs",
    "gcs": "gcsfs",
    "gs": "gcsfs",
    "s3": "s3fs",
    "s3a": "s3fs",
}
# What the kinds, codes and texts of faults hold; in small letters, without `_` and
# blanks. The first that fits counts: an expired key is told as a refused one, too.
SIGNS: Final[Sequence[tuple[Callable[..., DeltaError], Sequence[str]]]] = (
    (ClockSkewedError, ("requesttimetooskewed", "timetooskewed", "requestexpired")),
    (
        CredentialsExpiredError,
        (
            *("expiredtoken", "tokenexpired", "tokenhasexpired", "tokenrefresh"),
            *("ssotokenload", "unauthorizedsso", "reauth", "invalidgrant"),
            "signaturenotvalidinthespecifiedtimeframe",
        ),
    ),
    (
        RegionWrongError,
        ("permanentredirect", "authorizationheadermalformed", "movedpermanently"),
    ),
    (
        BucketNotFoundError,
        ("nosuchbucket", "containernotfound", "bucketdoesnotexist", "invalidbucket"),
    ),
    (KeyUnknownError, ("invalidaccesskey",)),
    (SecretWrongError, ("signaturedoesnotmatch",)),
    (
        CredentialsNeededError,
        (
            *("credential", "clientauthentication", "unauthorized", "profilenotfound"),
            *("anonymouscaller", "authenticationfailed", "noauthenticationinformation"),
            *("invalidtoken", "failedtoauthenticate", "authorizationrequired"),
            "publicaccessnotpermitted",
        ),
    ),
    (
        LocationDeniedError,
        (
            "forbidden:",
            "accessdenied",
            "authorizationpermission",
            "authorizationfailure",
        ),
    ),
)
SILENT: Final = (
    *("endpointconnection", "connecttimeout", "connectorerror", "servicerequest"),
    *("clientconnector", "connectionrefused", "nameresolution", "fstimeout"),
)
REDIRECTED: Final = (
    *("redirectrefused", "status301", "status302", "status303"),
    *("status307", "status308"),
)
INSIDE: Final = "addressrefused"
# Options that are ours, and no driver's.
OWN_OPTIONS: Final = frozenset({HAND_OUT_OPTION, ALLOWED_HOSTS}) | vending.OPTIONS
_REGION: Final = re.compile(r"expecting '([a-z0-9-]{3,40})'")


def open_driver(root: str, options: Mapping[str, Any]) -> Any:  # noqa: ANN401  # fsspec has no types
    import fsspec  # noqa: PLC0415  # loads only for remote tables

    shown, scheme = without_credentials(root), root.partition("://")[0]
    given, hosts = driver_options(root, options), options.get(ALLOWED_HOSTS)
    try:
        driver = fsspec.filesystem(scheme, **confined_options(scheme, given, hosts))
        return confine(driver, hosts)
    except ImportError:
        package = DRIVERS.get(scheme, "")
    except (TypeError, KeyError, ValueError) as error:
        if scheme in DRIVERS or not isinstance(error, ValueError):
            reason = f"its options do not fit ({_kind(error)})"
            raise LocationInvalidError(location=shown, reason=reason) from None
        package = ""  # fsspec knows no such scheme
    except Exception as error:  # noqa: BLE001  # whatever its libraries raise
        raise fault_of(error, location=shown) from None
    raise LocationUnsupportedError(
        location=shown, scheme=scheme, package=package
    ) from None


def driver_options(root: str, options: Mapping[str, Any]) -> dict[str, Any]:
    stored = {name: options[name] for name in options if name not in OWN_OPTIONS}
    return ambient_options(root, stored)


@contextlib.contextmanager
def driver_faults(fault: Callable[[Exception], DeltaError]) -> Iterator[None]:
    """Turn whatever a driver raises into errors of ours.

    Missing and existing single files pass.

    Args:
        fault: Returns the error of ours, as `fault_of` does.
    """
    try:
        yield
    except (FileNotFoundError, FileExistsError, DeltaError):
        raise
    except (NotADirectoryError, IsADirectoryError) as error:
        raise FileNotFoundError(str(error)) from None
    except Exception as error:  # noqa: BLE001  # each driver has its own tree
        raise fault(error) from None


def fault_of(
    error: BaseException,
    *,
    location: str,
    fs: Any = None,  # noqa: ANN401  # fsspec has no types
) -> DeltaError:
    """Return the error of ours that a driver's error means.

    Args:
        fs: The driver, once it is open: one that has no credentials needs some.
    """
    found = _fault(error, location)
    is_unknown = getattr(fs, "anon", None) is True
    if is_unknown and type(found) is LocationDeniedError:
        return CredentialsNeededError(location=location)
    return found


def _fault(error: BaseException, location: str) -> DeltaError:
    said = _said(error)
    for kind, signs in SIGNS:
        if any(sign in said for sign in signs):
            region = _REGION.search(str(error))
            if kind is RegionWrongError and region is not None:
                return RegionWrongError(location=location, region=region[1])
            return kind(location=location)
    if isinstance(error, PermissionError):
        return LocationDeniedError(location=location)
    reason = _kind(error)
    if INSIDE in said:
        reason = "its address is on this machine or in a private network"
    elif any(sign in said for sign in SILENT):
        reason = "nothing answers at its address"
    elif any(sign in said for sign in REDIRECTED):
        reason = "it answers with another address, and redirects are not followed"
    return LocationUnreachableError(location=location, reason=reason)


def _said(error: BaseException | None) -> str:
    """Return kinds, codes and texts of an error and of those behind it, to look in."""
    parts: list[str] = []
    while error is not None and len(parts) < 4 * 4:
        response = getattr(error, "response", None)
        code = getattr(error, "error_code", "")
        status = getattr(error, "status_code", "")  # Azure's
        if isinstance(response, Mapping):  # botocore's
            code = response.get("Error", {}).get("Code", "")
            status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", "")
        parts += [_kind(error), str(getattr(code, "value", code)), str(error)]
        parts.append(f"status{status}")
        error = error.__cause__ or error.__context__
    return " ".join(parts).lower().replace("_", "").replace(" ", "")


def _kind(error: BaseException) -> str:
    return type(error).__name__
