"""The errors of shares, recipients and tokens, and the wording of each.

Each carries the HTTP `status` of its answer. None ever holds a secret.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from deltaweb.delta.errors import DeltaError

MAX_COLUMNS_SHOWN = 12


class SharingStateError(DeltaError, code="sharing-error"):
    """Base of the errors of shares, recipients and tokens."""

    status: ClassVar[int] = 422


# === Names ===


class NameInvalidError(SharingStateError, code="name-invalid"):
    kind: str
    name: str
    reason: str
    message = "{name:.80r} cannot be the name of a {kind}: {reason}."
    hint = "Take letters, digits, _ and -."


class NameTakenError(SharingStateError, code="name-taken"):
    kind: str
    name: str
    status = 409
    message = "A {kind} named {name:.80} exists already."
    hint = "Capitals make no difference; choose another name."


class ShareNotFoundError(SharingStateError, code="share-not-found"):
    name: str
    status = 404
    message = "No share is named {name:.80r}."
    hint = "The list of shares has all their names."


class RecipientNotFoundError(SharingStateError, code="recipient-not-found"):
    name: str
    status = 404
    message = "No recipient is named {name:.80r}."
    hint = "The list of recipients has all their names."


class ProviderNotFoundError(SharingStateError, code="provider-not-found"):
    name: str
    status = 404
    message = "No provider is named {name:.100r}."
    hint = "`received list` shows the providers whose profiles are kept."


class ReceivedSharedError(SharingStateError, code="received-shared"):
    table: str
    provider: str
    message = (
        "{table} belongs to {provider}, who has not said that it may be shared on."
    )
    hint = "Share a table of your own, or ask {provider} to share it with them."


class SharedTableNotFoundError(SharingStateError, code="shared-table-not-found"):
    share: str
    name: str
    status = 404
    message = "The share {share} has no table {name:.200r}."
    hint = "The share {share} itself shows which tables it has."


# === What is shared, and how ===


class ConditionError(SharingStateError, code="condition-invalid"):
    """A condition does not parse, or does not fit the table.

    Attributes:
        columns: Those of the table, where they are known.
        advice: What to do where naming them does not help.
    """

    sentence: str
    columns: Sequence[str]
    advice: str = "Leave it empty."
    message = "{sentence}"
    hint = "{_advice}"

    @property
    def _advice(self) -> str:
        if not self.columns:
            return self.advice
        shown = ", ".join(self.columns[:MAX_COLUMNS_SHOWN])
        more = len(self.columns) - MAX_COLUMNS_SHOWN
        return f"The columns are {shown}{f' and {more} more' if more > 0 else ''}."


class ColumnsError(ConditionError, code="columns-invalid"):
    """A list of columns does not fit the table."""


class PreparationFaultError(SharingStateError, code="preparation-fault"):
    """A fault of the server ended the preparation of one table."""

    status = 500
    kind: str
    message = "the server failed ({kind})."
    hint = "The server's log says more. Prepare the share again once that is repaired."


class NotPreparedError(SharingStateError, code="not-prepared"):
    """Some tables or rules of a share cannot be made ready; all others are."""

    what: str
    reason: str
    advice: str
    num_others: int
    message = "{what} cannot be prepared: {reason}{_others}"
    hint = "{advice}"

    @property
    def _others(self) -> str:
        return f" {self.num_others:,} more of the share failed." * bool(self.num_others)


class PropertyInvalidError(SharingStateError, code="property-invalid"):
    text: str
    reason: str
    message = "{text:.80r} is not a property: {reason}."
    hint = "Write key=value, as in region=EU."


class HoldInvalidError(SharingStateError, code="hold-invalid"):
    """Versions of a table cannot be held for a recipient."""

    recipient: str
    table: str
    reason: str
    message = "{table} cannot be held for {recipient:.80}: {recipient:.80} {reason}."
    hint = "Its page lists what it may read, and what it has read last."


class LimitInvalidError(SharingStateError, code="limit-invalid"):
    text: str
    reason: str
    message = "{text:.40r} is not a limit: {reason}."
    hint = "Write it as 500 GiB or 3.5 TiB, or leave it empty for no limit."


class StartVersionError(SharingStateError, code="start-version-invalid"):
    version: int | str
    reason: str
    message = "History cannot begin at version {_shown}: {reason}."
    hint = "Leave it out to share the whole history."

    @property
    def _shown(self) -> str:
        return str(self.version)[:40]


class NetworkInvalidError(SharingStateError, code="network-invalid"):
    text: str
    reason: str
    hint: str
    message = "{text:.80r} is not a network: {reason}."


class TooManyNetworksError(SharingStateError, code="too-many-networks"):
    count: int
    maximum: int
    message = "The list holds {count} networks; {maximum} fit."
    hint = "Join neighbours into larger networks."


class ContactInvalidError(SharingStateError, code="contact-invalid"):
    contact: str
    message = "{contact:.80r} is not a mail address."
    hint = "Write one such as data@example.com, or leave it empty."


# === Tokens ===


class LifetimeInvalidError(SharingStateError, code="lifetime-invalid"):
    text: str
    reason: str
    message = "{text:.40r} is not valid: {reason}."
    hint = "Write 90d, 24h, 30m or a date such as 2030-12-31."


class TokenStateError(SharingStateError, code="token-state"):
    """A token is past what was asked for."""

    prefix: str
    reason: str
    status = 409
    message = "The token {prefix}... {reason}."
    hint = "Revoke it if nobody is to use it; a rotation makes a new one."


class TokenNotFoundError(SharingStateError, code="token-not-found"):
    recipient: str
    status = 404
    message = "{recipient!r} has no such token."
    hint = "Its page and GET .../tokens list those that it has."


class MailRefusedError(SharingStateError, code="mail-refused"):
    reason: str
    status = 502
    message = "The mail relay does not take it: {reason}."
    hint = "DELTAWEB_SMTP_HOST names the relay."


class NoWayToTellError(SharingStateError, code="no-way-to-tell"):
    status = 409
    message = "Nothing is set that reminders could be sent by."
    hint = "DELTAWEB_SMTP_HOST names a mail relay, DELTAWEB_WEBHOOK_URL a webhook."


class TokenPrefixUnknownError(SharingStateError, code="token-prefix-unknown"):
    recipient: str
    prefix: str
    status = 404
    message = "{recipient} has no token {prefix:.40r}."
    hint = "'recipient show {recipient}' lists its tokens."


class NoWaitingTokenError(SharingStateError, code="no-waiting-token"):
    name: str
    status = 409
    message = "{name} has no token that waits for its activation."
    hint = "A rotation makes one, with a link to hand over."


class RetirementInvalidError(SharingStateError, code="retirement-invalid"):
    prefix: str
    expires_at: datetime
    message = (
        "The token {prefix}... expires at {expires_at:%Y-%m-%d %H:%M} UTC and cannot "
        "end later."
    )
    hint = "Choose an earlier time."


# === Coming in ===


class RehearsalPythonError(SharingStateError, code="rehearsal-python"):
    reason: str
    message = "DELTAWEB_REHEARSAL_PYTHON does not say which clients it has: {reason}."
    hint = "Set it to the Python, 3.11 or newer, of an environment that has some."


class AccessError(SharingStateError, code="access-denied"):
    """A caller may not come in."""

    status = 401


class TokenUnknownError(AccessError, code="token-unknown"):
    message = "This bearer token is not known here."
    hint = "Check the profile file, or ask the provider for a new one."


class TokenExpiredError(AccessError, code="token-expired"):
    ended_at: datetime
    message = "This bearer token ended at {ended_at:%Y-%m-%d %H:%M} UTC."
    hint = "Ask the provider for a new profile file."


class TokenRevokedError(AccessError, code="token-revoked"):
    message = "This bearer token has been revoked."
    hint = "Ask the provider for a new profile file."


class AddressNotAllowedError(AccessError, code="address-not-allowed"):
    address: str
    status = 403
    message = "{_where} may not use this."
    hint = "Ask the provider to add your network."

    @property
    def _where(self) -> str:
        return f"The address {self.address}" if self.address else "An unknown address"


class NotGrantedError(AccessError, code="not-granted"):
    kind: str
    name: str
    status = 404
    message = "The {kind} {name:.600r} does not exist."
    hint = "Ask the provider what is shared with you."


# === Activation ===


class ActivationError(SharingStateError, code="activation-failed"):
    """An activation link does not work."""

    status = 410


class LinkUnknownError(ActivationError, code="activation-link-unknown"):
    status = 404
    message = "This activation link is not valid."
    hint = "Ask the provider for a new one."


class LinkUsedError(ActivationError, code="activation-link-used"):
    used_at: datetime | None
    message = "This activation link was used{_when}."
    hint = "If that was not you, tell the provider; else ask for a new one."

    @property
    def _when(self) -> str:
        return f" on {self.used_at:%Y-%m-%d at %H:%M} UTC" if self.used_at else ""


class LinkExpiredError(ActivationError, code="activation-link-expired"):
    expired_at: datetime
    message = "This activation link expired on {expired_at:%Y-%m-%d at %H:%M} UTC."
    hint = "Ask the provider for a new one."


class LinkWithdrawnError(ActivationError, code="activation-link-withdrawn"):
    message = "This activation link was replaced by a newer one."
    hint = "Use the newest link that the provider sent."


class LinkRevokedError(ActivationError, code="activation-link-revoked"):
    message = "This activation link was revoked by the provider."
    hint = "Ask the provider for a new one."
