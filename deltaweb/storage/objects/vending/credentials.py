"""What is vended: credentials that read one folder for a while, whatever its store."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from deltaweb.storage.signing.s3 import S3Credentials


@dataclass(frozen=True, slots=True)
class SASToken:
    """A shared access signature of Azure: the query of a URL, without its `?`."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class OAuthToken:
    """An access token of Google."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderCredentials:
    """What reads one folder for a while."""

    location: str
    secret: S3Credentials | SASToken | OAuthToken
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder of an object store, and how it is reached.

    Attributes:
        bucket: The bucket or container, as the location writes it.
        prefix: The name of the folder, without slashes around it; never empty.
    """

    location: str
    bucket: str
    prefix: str
    options: Mapping[str, Any] = field(repr=False)


class FolderVendor(Protocol):
    """Makes the credentials of one folder; nobody is asked before it does.

    Attributes:
        min_lifetime_s: How long the shortest credentials of the store are good.
    """

    location: str
    min_lifetime_s: int

    def vend(self, *, lifetime_s: int, now: datetime) -> FolderCredentials:
        """Return credentials that read the folder.

        Args:
            lifetime_s: How long they are good; an hour at most, and no less than the
                store's shortest.

        Raises:
            VendingUnsupportedError: If the store cannot hold them to the folder.
            VendingRefusedError: If the store makes none.
            CredentialsNeededError: If there is no key that could ask.
        """
