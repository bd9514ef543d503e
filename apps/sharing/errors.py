"""The errors of shares, recipients and tokens, and the wording of each.

Each carries the HTTP `status` of its answer. None ever holds a secret.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from deltaweb.delta.errors import DeltaError
from deltaweb.words import bytes_text

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
    hint = "Use letters, digits, _ and -."


class NameTakenError(SharingStateError, code="name-taken"):
    kind: str
    name: str
    status = 409
    message = "A {kind} named {name:.80} exists already."
    hint = "Choose another name. Upper and lower case count as the same."


class ShareNotFoundError(SharingStateError, code="share-not-found"):
    name: str
    status = 404
    message = "No share is named {name:.80r}."
    hint = "'deltaweb share list' lists all shares."


class RecipientNotFoundError(SharingStateError, code="recipient-not-found"):
    name: str
    status = 404
    message = "No recipient is named {name:.80r}."
    hint = "'deltaweb recipient list' lists all recipients."


class ProviderNotFoundError(SharingStateError, code="provider-not-found"):
    name: str
    status = 404
    message = "No provider is named {name:.100r}."
    hint = "'deltaweb received list' lists all providers."


class ReceivedSharedError(SharingStateError, code="received-shared"):
    table: str
    provider: str
    message = "{table} was received from {provider} and cannot be shared again."
    hint = "Share a table of your own, or ask {provider} to share it with them."


class SharedTableNotFoundError(SharingStateError, code="shared-table-not-found"):
    share: str
    name: str
    status = 404
    message = "The share {share} has no table {name:.200r}."
    hint = "'deltaweb share show {share}' lists its tables."


class SharedTableGoneError(SharingStateError, code="shared-table-not-found"):
    """A shared table that a page names by its id does not exist.

    Attributes:
        of: The share or the table of the page.
    """

    of: str
    status = 404
    message = "{of} has no such shared table."
    hint = "It may have been removed. Load the page again to see what is shared."


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
    hint = "See the server's log. Prepare the share again when the fault is repaired."


class PreparedRoomError(SharingStateError, code="prepared-room"):
    """The rewritten files of a share are larger than they may be."""

    status = 507
    message = "the files that were prepared are larger than this server keeps."
    hint = "Raise DELTAWEB_PREPARED_BYTES, or share fewer tables in part or as plain."


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
        text = f" {self.num_others:,} more of this share failed."
        return text if self.num_others else ""


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
    message = "No hold on {table} for {recipient:.80}: {recipient:.80} {reason}."
    hint = "The page of the recipient lists its tables and its last reads."


class LimitInvalidError(SharingStateError, code="limit-invalid"):
    text: str
    reason: str
    message = "{text:.40r} is not a limit: {reason}."
    hint = "Write it as 500 GiB or 3.5 TiB, or leave it empty for no limit."


class StartVersionError(SharingStateError, code="start-version-invalid"):
    version: int | str
    reason: str
    message = "History cannot begin at version {_shown}: {reason}."
    hint = "Leave out the version to share the whole history."

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
    message = "The list has {count} networks; the most is {maximum}."
    hint = "Combine adjacent networks into larger ones."


class ContactInvalidError(SharingStateError, code="contact-invalid"):
    text: str
    message = "{text:.80r} is not an e-mail address."
    hint = "Give an address such as data@example.com, or leave it empty."


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
    hint = "Revoke it if it must not be used. Rotate to make a new one."


class TokenNotFoundError(SharingStateError, code="token-not-found"):
    recipient: str
    status = 404
    message = "{recipient!r} has no such token."
    hint = "The page of the recipient and GET .../tokens list its tokens."


class AddressNotConfirmedError(SharingStateError, code="address-not-confirmed"):
    name: str
    sent: str
    message = "{sent:.254r} is not the contact of {name}."
    hint = "Set the contact first, then confirm it for signing in."


class NoWayToTellError(SharingStateError, code="no-way-to-tell"):
    status = 409
    message = "There is no way to send reminders."
    hint = "Set DELTAWEB_SMTP_HOST for mail, or DELTAWEB_WEBHOOK_URL for a webhook."


class TokenPrefixUnknownError(SharingStateError, code="token-prefix-unknown"):
    recipient: str
    prefix: str
    status = 404
    message = "{recipient} has no token {prefix:.40r}."
    hint = "'recipient show {recipient}' lists its tokens."


class NoWaitingTokenError(SharingStateError, code="no-waiting-token"):
    name: str
    status = 409
    message = "{name} has no token that waits for activation."
    hint = "Rotate its tokens: this makes one, with an activation link."


class RetirementInvalidError(SharingStateError, code="retirement-invalid"):
    prefix: str
    latest: datetime
    message = (
        "The token {prefix}... expires at {latest:%Y-%m-%d %H:%M} UTC and cannot "
        "end later."
    )
    hint = "Choose an earlier time."


# === Coming in ===


class RehearsalPythonError(SharingStateError, code="rehearsal-python"):
    reason: str
    message = "DELTAWEB_REHEARSAL_PYTHON cannot list its clients: {reason}."
    hint = "Set it to a Python, 3.11 or newer, that has clients installed."


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
    message = "{_where} is not allowed here."
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


class NotInBrowserError(AccessError, code="not-in-browser"):
    """Nothing is open to a recipient in the browser."""

    status = 403
    message = "Nothing that is shared with you is open in the browser."
    hint = "Read it with your programs, or ask the provider."


class SessionEndedError(AccessError, code="session-ended"):
    message = "You are not signed in, or your session has ended."
    hint = "Sign in again."


class FormRefusedError(AccessError, code="form-refused"):
    """A form was sent from another page, or by another session."""

    status = 403
    message = "This form was not sent from your page."
    hint = "Open the page again, then repeat it."


class BrowserReadingError(SharingStateError, code="browser-reading"):
    """Base of what a recipient is refused in the browser, in words for it."""


class MailLinkEndedError(BrowserReadingError, code="mail-link-ended"):
    """A link of a mail that does not open a session; the reason is not given."""

    status = 410
    message = "This link has expired or was used, or it is not complete."
    hint = "Ask for a new one on the page that signs in."


class OverBudgetError(BrowserReadingError, code="over-budget"):
    """A download counts more than is left of a recipient's limit."""

    status = 403
    counted_bytes: int
    left_bytes: int
    message = "This download counts {_counted}, and {_left} are left this month."
    hint = "Add a condition, or ask the provider for a higher limit."

    @property
    def _counted(self) -> str:
        return bytes_text(self.counted_bytes, digits=3)

    @property
    def _left(self) -> str:
        return bytes_text(self.left_bytes, digits=3)


class FormatUnknownError(BrowserReadingError, code="format-unknown"):
    status = 400
    message = "There is no download in this format."
    hint = "Choose one of the buttons above the rows."


class RotationRefusedError(BrowserReadingError, code="rotation-refused"):
    status = 403
    reason: str
    message = "This token cannot be rotated here: {reason}."
    hint = "Ask the provider."


class TooManyRowsError(BrowserReadingError, code="too-many-rows"):
    """The rows of a recipient are too many to be handed out as one file."""

    max_bytes: int
    message = "These rows are larger than a download may be ({_mib} MiB)."
    hint = "Add a condition, or read the table with a program."

    @property
    def _mib(self) -> int:
        return self.max_bytes >> 20


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
    hint = "If it was not you, tell the provider. Otherwise ask for a new link."

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
