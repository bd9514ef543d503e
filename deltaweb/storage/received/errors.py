"""What is wrong with a profile or with a provider's answers.

DeltaError
├── ProfileInvalidError        a text that is no profile
├── ProviderHostError          an address that may not be asked
├── ProviderRefusedError       the provider's server does not take our token or secret
├── ProviderAnswerError        it answers something else than the protocol says
│   ├── RequestRefusedError    or refuses a request, where another one may do
│   ├── ProviderLimitError     or takes more than one look may take
│   └── ProviderSlowError      or takes longer than a person waits
├── ProviderRestsError         its newest check has failed: it is not asked for a while
├── NotSharedError             what is asked for is not shared with us (any more)
└── ReceivedTableError         we would have to write into what belongs to others
"""

from datetime import datetime

from deltaweb.delta.errors import DeltaError


class ProfileInvalidError(DeltaError, code="profile-invalid"):
    reason: str
    message = "This profile cannot be used: {reason}."
    hint = (
        "Give the .share file that the provider sent, unchanged: version 1, or "
        "version 2 with a bearer token or OAuth client credentials."
    )


class ProviderHostError(DeltaError, code="provider-host-not-allowed"):
    host: str
    reason: str
    message = "Requests to {host:.100} are not allowed: {reason}."
    hint = "An administrator can allow it in DELTAWEB_STORAGE_HOSTS."


class ProviderRefusedError(DeltaError, code="provider-refused"):
    provider: str
    status: int
    what: str = "token"
    message = "{provider} refuses the {what} (HTTP {status})."
    hint = (
        "It may have expired or been revoked, or not be valid for this server's "
        "address. Ask the provider."
    )


class NotSharedError(DeltaError, code="not-shared"):
    provider: str
    what: str
    message = "{provider} does not share {what} with you."
    hint = "It may have been withdrawn: ask the provider, or try again later."


class ProviderAnswerError(DeltaError, code="provider-answer"):
    provider: str
    reason: str
    message = "{provider} does not answer as the protocol requires: {reason}."
    hint = "Try again later. If the problem persists, tell the provider."


class RequestRefusedError(ProviderAnswerError, code="provider-refused-request"):
    """The provider says that the request is wrong (HTTP 400): another one may do."""


class ProviderLimitError(ProviderAnswerError, code="provider-limit"):
    """A look at a provider took more time, bytes, pages or lines than it may."""

    message = "The check of what {provider} shares was ended: {reason}."
    hint = (
        "It is repeated later. If the provider really shares this much, an "
        "administrator can raise the DELTAWEB_RECEIVED_… settings."
    )


class ProviderSlowError(ProviderAnswerError, code="provider-slow"):
    """A person waits, and a provider takes longer than that."""

    message = "{provider} takes too long: {reason}."
    hint = "Try again later. A download of the rows waits longer."


class ProviderRestsError(DeltaError, code="provider-rests"):
    """A provider is not asked for a while, because its newest check has failed."""

    provider: str
    until: datetime
    message = (
        "{provider} did not answer correctly. The next request is sent at {_until}."
    )
    hint = "Refresh the provider on the page of received shares to send one now."

    @property
    def _until(self) -> str:
        return f"{self.until:%Y-%m-%d %H:%M:%S} UTC"


class ReceivedTableError(DeltaError, code="received-table"):
    root: str
    message = "{root} belongs to its provider: it can be read, and not changed."
    hint = "Write its rows into another table."
