"""The errors of shares, recipients and tokens, and the wording of each.

DeltaError
└── SharingStateError
    ├── NameInvalidError            a name that breaks the protocol's rules
    ├── NameTakenError              something of that kind has the name
    ├── ShareNotFoundError          no share has that name
    ├── RecipientNotFoundError      no recipient has that name
    ├── SharedTableNotFoundError    the share has no such table
    ├── PartitionFilterError        a filter that does not fit the table
    ├── StartVersionError           a version that history cannot begin at
    ├── NetworkInvalidError         a text that is no network
    ├── TooManyNetworksError        an allow list that is too long
    ├── ContactInvalidError         a contact that is no mail address
    ├── LifetimeInvalidError        a text that is no span of time, or too long
    ├── TokenStateError             a token that is past what was asked for
    ├── NoWaitingTokenError         a recipient without a token to hand over
    ├── RetirementInvalidError      a token that cannot end then
    ├── AccessError                 a caller who may not come in
    │   ├── TokenUnknownError       401
    │   ├── TokenExpiredError       401
    │   ├── TokenRevokedError       401
    │   ├── AddressNotAllowedError  403
    │   └── NotGrantedError         404, whether it is missing or not granted
    └── ActivationError             a link that does not work
        ├── LinkUnknownError        404
        ├── LinkUsedError           410
        ├── LinkExpiredError        410
        ├── LinkWithdrawnError      410
        └── LinkRevokedError        410

Each carries the HTTP `status` of its answer. None ever holds a secret.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from deltaweb.delta.errors import DeltaError


class SharingStateError(DeltaError):
    """Base of the errors of shares, recipients and tokens.

    Attributes:
        status: The HTTP status of its answer.
    """

    code: ClassVar[str] = "sharing-error"
    status: ClassVar[int] = 422


# === Names ===


class NameInvalidError(SharingStateError):
    """A name breaks the rules of the protocol."""

    code = "name-invalid"

    def __init__(self, *, kind: str, name: str, reason: str) -> None:
        super().__init__(
            f"{name[:80]!r} cannot be the name of a {kind}: {reason}.",
            hint="Take letters, digits, _ and -.",
        )
        self.kind = kind


class NameTakenError(SharingStateError):
    """Something of the kind has the name, perhaps with other capitals."""

    code = "name-taken"
    status = 409

    def __init__(self, *, kind: str, name: str) -> None:
        super().__init__(
            f"A {kind} named {name[:80]} exists already.",
            hint="Capitals make no difference; choose another name.",
        )


class ShareNotFoundError(SharingStateError):
    """No share has the name."""

    code = "share-not-found"
    status = 404

    def __init__(self, *, name: str) -> None:
        super().__init__(
            f"No share is named {name[:80]!r}.",
            hint="The list of shares has all their names.",
        )


class RecipientNotFoundError(SharingStateError):
    """No recipient has the name."""

    code = "recipient-not-found"
    status = 404

    def __init__(self, *, name: str) -> None:
        super().__init__(
            f"No recipient is named {name[:80]!r}.",
            hint="The list of recipients has all their names.",
        )


class SharedTableNotFoundError(SharingStateError):
    """The share has no table of that name."""

    code = "shared-table-not-found"
    status = 404

    def __init__(self, *, share: str, name: str) -> None:
        super().__init__(
            f"The share {share} has no table {name[:200]!r}.",
            hint=f"The share {share} itself shows which tables it has.",
        )


# === What is shared, and how ===


class PartitionFilterError(SharingStateError):
    """A partition filter does not parse, or does not fit the table."""

    code = "partition-filter-invalid"

    def __init__(self, *, sentence: str, columns: Sequence[str]) -> None:
        """Take what is wrong as a sentence, and the table's partition columns."""
        named = f"Only {', '.join(columns)} may be named." if columns else ""
        super().__init__(sentence, hint=named or "Leave the filter empty.")


class StartVersionError(SharingStateError):
    """A version that history cannot begin at."""

    code = "start-version-invalid"

    def __init__(self, *, version: int, reason: str) -> None:
        super().__init__(
            f"History cannot begin at version {version}: {reason}.",
            hint="Leave it out to share the whole history.",
        )


class NetworkInvalidError(SharingStateError):
    """A text of an allow list is no network."""

    code = "network-invalid"

    def __init__(self, *, text: str, reason: str, hint: str) -> None:
        super().__init__(f"{text[:80]!r} is not a network: {reason}.", hint=hint)


class TooManyNetworksError(SharingStateError):
    """An allow list is longer than a person can oversee."""

    code = "too-many-networks"

    def __init__(self, *, count: int, maximum: int) -> None:
        super().__init__(
            f"The list holds {count} networks; {maximum} fit.",
            hint="Join neighbours into larger networks.",
        )


class ContactInvalidError(SharingStateError):
    """A contact is no mail address."""

    code = "contact-invalid"

    def __init__(self, *, contact: str) -> None:
        super().__init__(
            f"{contact[:80]!r} is not a mail address.",
            hint="Write one such as data@example.com, or leave it empty.",
        )


# === Tokens ===


class LifetimeInvalidError(SharingStateError):
    """A text is no span of time, or the span is too long."""

    code = "lifetime-invalid"

    def __init__(self, *, text: str, reason: str) -> None:
        super().__init__(
            f"{text[:40]!r} will not do: {reason}.",
            hint="Write 90d, 24h, 30m or a date such as 2030-12-31.",
        )


class TokenStateError(SharingStateError):
    """A token is past what was asked for."""

    code = "token-state"
    status = 409

    def __init__(self, *, prefix: str, reason: str) -> None:
        super().__init__(
            f"The token {prefix}... {reason}.", hint="Rotate to make a new one."
        )


class NoWaitingTokenError(SharingStateError):
    """A recipient has no token that waits to be handed over."""

    code = "no-waiting-token"
    status = 409

    def __init__(self, *, name: str) -> None:
        super().__init__(
            f"{name} has no token that waits for its activation.",
            hint="A rotation makes one, with a link to hand over.",
        )


class RetirementInvalidError(SharingStateError):
    """A token cannot end at that moment."""

    code = "retirement-invalid"

    def __init__(self, *, prefix: str, expires_at: datetime) -> None:
        super().__init__(
            f"The token {prefix}... expires at {expires_at:%Y-%m-%d %H:%M} UTC and "
            "cannot end later.",
            hint="Choose a moment before that.",
        )


# === Coming in ===


class AccessError(SharingStateError):
    """A caller may not come in."""

    code = "access-denied"
    status = 401


class TokenUnknownError(AccessError):
    """No token, or none of ours."""

    code = "token-unknown"

    def __init__(self) -> None:
        super().__init__(
            "This bearer token is not known here.",
            hint="Check the profile file, or ask the provider for a new one.",
        )


class TokenExpiredError(AccessError):
    """A token whose time is over, by its expiry or by a rotation."""

    code = "token-expired"

    def __init__(self, *, ended_at: datetime) -> None:
        super().__init__(
            f"This bearer token ended at {ended_at:%Y-%m-%d %H:%M} UTC.",
            hint="Ask the provider for a new profile file.",
        )
        self.ended_at = ended_at


class TokenRevokedError(AccessError):
    """A token that an administrator took back."""

    code = "token-revoked"

    def __init__(self) -> None:
        super().__init__(
            "This bearer token has been revoked.",
            hint="Ask the provider for a new profile file.",
        )


class AddressNotAllowedError(AccessError):
    """The caller's address is not on the recipient's allow list."""

    code = "address-not-allowed"
    status = 403

    def __init__(self, *, address: str) -> None:
        where = f"The address {address}" if address else "An unknown address"
        super().__init__(
            f"{where} may not use this.",
            hint="Ask the provider to add your network.",
        )
        self.address = address


class NotGrantedError(AccessError):
    """What was asked for does not exist for the recipient; why is not said."""

    code = "not-granted"
    status = 404

    def __init__(self, *, kind: str, name: str) -> None:
        super().__init__(
            f"The {kind} {name[:600]!r} does not exist.",
            hint="Ask the provider what is shared with you.",
        )
        self.kind = kind
        self.name = name


# === Activation ===


class ActivationError(SharingStateError):
    """An activation link does not work."""

    code = "activation-failed"
    status = 410


class LinkUnknownError(ActivationError):
    """A link that was never issued."""

    code = "activation-link-unknown"
    status = 404

    def __init__(self) -> None:
        super().__init__(
            "This activation link is not valid.", hint="Ask the provider for a new one."
        )


class LinkUsedError(ActivationError):
    """A link whose profile has been downloaded."""

    code = "activation-link-used"

    def __init__(self, *, used_at: datetime | None) -> None:
        when = f" on {used_at:%Y-%m-%d at %H:%M} UTC" if used_at else ""
        super().__init__(
            f"This activation link was used{when}.",
            hint="If that was not you, tell the provider; else ask for a new one.",
        )
        self.used_at = used_at


class LinkExpiredError(ActivationError):
    """A link whose time is over, or whose token's is."""

    code = "activation-link-expired"

    def __init__(self, *, expired_at: datetime) -> None:
        super().__init__(
            f"This activation link expired on {expired_at:%Y-%m-%d at %H:%M} UTC.",
            hint="Ask the provider for a new one.",
        )
        self.expired_at = expired_at


class LinkWithdrawnError(ActivationError):
    """A link that a newer one replaced."""

    code = "activation-link-withdrawn"

    def __init__(self) -> None:
        super().__init__(
            "This activation link was replaced by a newer one.",
            hint="Use the newest link that the provider sent.",
        )


class LinkRevokedError(ActivationError):
    """A link whose token an administrator took back before it was fetched."""

    code = "activation-link-revoked"

    def __init__(self) -> None:
        super().__init__(
            "This activation link was taken back by the provider.",
            hint="Ask the provider for a new one.",
        )
