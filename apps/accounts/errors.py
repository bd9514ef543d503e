"""What can go wrong with accounts, and the wording of each; all are `PageError`s."""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

from apps.accounts.tokens import KEY_MARK
from apps.pages.errors import PageError
from deltaweb.words import counted


class UserNotFoundError(PageError, code="user-not-found"):
    name: str
    status = 404
    message = "No user is named {name!r}."
    hint = "'deltaweb user list' lists all users."


class UserNameTakenError(PageError, code="user-name-taken"):
    name: str
    status = 409
    message = "A user named {name!r} exists already."
    hint = "Choose another name."


class UserInvalidError(PageError, code="user-invalid"):
    """A name, role or password that an account cannot have."""

    reason: str
    status = 422
    message = "{reason}"


class UserDisabledError(PageError, code="user-disabled"):
    name: str
    status = 409
    message = "The account of {name!r} is disabled."
    hint = "Enable it first."


class LastAdminError(PageError, code="last-admin"):
    name: str
    status = 409
    message = "{name!r} is the last active administrator."
    hint = "Make another user an administrator first."


class SignInLinkInvalidError(PageError, code="link-invalid"):
    status = 404
    message = "This sign-in link is not valid."
    hint = "Ask for a new one, or make one with 'deltaweb user link NAME'."


class SignInLinkUsedError(PageError, code="link-used"):
    status = 410
    message = "This sign-in link has been used."
    hint = "Ask for a new one, or make one with 'deltaweb user link NAME'."


class SignInLinkExpiredError(PageError, code="link-expired"):
    status = 410
    message = "This sign-in link has expired."
    hint = "Ask for a new one, or make one with 'deltaweb user link NAME'."


class AddressLinkInvalidError(PageError, code="address-link-invalid"):
    """A link that confirms no address: unknown, used, replaced or too old."""

    status = 410
    message = "This link does not confirm an address, or not any more."
    hint = "Request another one at /me/. Only the last link that was sent works."


class NothingToConfirmError(PageError, code="nothing-to-confirm"):
    name: str
    status = 409
    message = "{name!r} has no e-mail address that waits to be confirmed."
    hint = "Set an address first."


class MailAddressMissingError(PageError, code="mail-address-missing"):
    name: str
    status = 409
    message = "{name!r} has no confirmed e-mail address."
    hint = "State the address that the mail goes to."


class MailNotSetUpError(PageError, code="mail-not-set-up"):
    status = 409
    message = "The server sends no mail."
    hint = "Set DELTAWEB_SMTP_HOST, and restart the server."


class TooManyMailsError(PageError, code="too-many-mails"):
    wait: timedelta
    status = 429
    message = "Too many mails were requested in a short time."
    hint = "Wait {_minutes}, then try again."

    @property
    def _minutes(self) -> str:
        return counted(max(1, math.ceil(self.wait.total_seconds() / 60)), "minute")


class SignInError(PageError, code="sign-in-failed"):
    status = 403
    message = "The name or the password is not correct."
    hint = "Try again, or sign in with a link."


class TooManySignInsError(PageError, code="too-many-sign-ins"):
    """Too many wrong passwords in a short time.

    Args:
        where: For what they are counted: "for this name", "from your address".
        wait: How long until another may be tried.
    """

    where: str
    wait: timedelta
    status = 429
    message = "There were too many failed sign-ins {where}."
    hint = "Wait {_minutes}, or sign in with a link."

    @property
    def _minutes(self) -> str:
        minutes = max(1, math.ceil(self.wait.total_seconds() / 60))
        return counted(minutes, "minute")


class PasswordsBusyError(PageError, code="passwords-busy"):
    status = 503
    message = "The server is checking many passwords at the moment."
    hint = "Try again in a few seconds, or sign in with a link."


class SessionRequiredError(PageError, code="session-required"):
    """What changes an account, asked for with an API key.

    A key that was stolen must not become a password or more keys, which would outlive
    its revocation.
    """

    status = 403
    message = "An API key cannot change accounts, passwords or keys."
    hint = (
        "Sign in with a browser and do it there, or use 'deltaweb user' on the server."
    )


class APIKeyUnknownError(PageError, code="api-key-unknown"):
    """A bearer token that is not a usable API key.

    Args:
        looks_like_key: Whether it has the mark of a key. What has not is most likely
            the token of a share, sent to another address than its profile's.
    """

    looks_like_key: bool
    status = 401
    message = "{_verdict}"
    hint = "{_advice}"

    @property
    def _verdict(self) -> str:
        if self.looks_like_key:
            return "This API key is unknown or revoked."
        return "This bearer token is not a user's API key."

    @property
    def _advice(self) -> str:
        if self.looks_like_key:
            return "Make a new one at /me/ or with 'deltaweb user key NAME'."
        return (
            "A share's token is valid only below /delta-sharing/: check the "
            f"endpoint of the profile file. Keys of users begin with {KEY_MARK}."
        )


class APIKeyExpiredError(PageError, code="api-key-expired"):
    """A key that was good until a moment that is past.

    Who sends it has it, so it may be named.
    """

    label: str
    prefix: str
    expires_at: datetime
    status = 401
    message = "The API key {label!r} ({prefix}…) expired on {expires_at:%Y-%m-%d}."
    hint = "Make a new one at /me/ or with 'deltaweb user key NAME'."


class APIKeySuspendedError(PageError, code="api-key-suspended"):
    """A key of a person who no longer signs on; who sends it has it."""

    label: str
    prefix: str
    status = 401
    message = (
        "The API key {label!r} ({prefix}…) is suspended, because its user has not "
        "signed in through the provider recently."
    )
    hint = "Sign in with a browser: the key then works again."


class APIKeyNotFoundError(PageError, code="api-key-not-found"):
    name: str
    status = 404
    message = "{name!r} has no such API key."


class ScopeRequiredError(PageError, code="scope-required"):
    """A key is asked for more than it was made for.

    Args:
        scopes: What it may be used for.
    """

    label: str
    scopes: Sequence[str]
    needed: str
    status = 403
    message = "The API key {label!r} has the scopes {_held}; this needs {needed!r}."
    hint = "Make one with that scope at /me/ or with 'deltaweb user key NAME'."

    @property
    def _held(self) -> str:
        return ", ".join(self.scopes)


class ScopeInvalidError(PageError, code="scope-invalid"):
    scope: str
    known: Sequence[str]
    status = 422
    message = "{scope:.40r} is not a scope of an API key."
    hint = "Choose one of {_known}."

    @property
    def _known(self) -> str:
        return ", ".join(self.known)


class SignInRequiredError(PageError, code="sign-in-required"):
    status = 401
    message = "This page needs a signed-in user."
    hint = "Sign in, or send an API key as 'Authorization: Bearer KEY'."


class RoleRequiredError(PageError, code="permission-denied"):
    role: str
    status = 403
    message = "Only {role} may do this."
    hint = "Ask an administrator of this installation for the role."


class InvitationNotFoundError(PageError, code="invitation-not-found"):
    email: str
    status = 404
    message = "No open invitation has the address {email:.80r}."
    hint = "It may be used or expired. 'deltaweb user invitations' lists the open ones."


class GroupNotFoundError(PageError, code="group-not-found"):
    name: str
    status = 404
    message = "No group is named {name:.80r}."
    hint = "'deltaweb group list' lists all groups."


class GroupNameTakenError(PageError, code="group-name-taken"):
    name: str
    status = 409
    message = "A group named {name:.80r} exists already."
    hint = "Choose another name."


class GroupInvalidError(PageError, code="group-invalid"):
    name: str
    status = 422
    message = "{name:.80r} cannot be the name of a group."
    hint = "Give a name of up to 150 characters, without line breaks."


class GroupOfClaimsError(PageError, code="group-of-claims"):
    """The name of a group from claims is how sign-ins find it."""

    name: str
    status = 409
    message = "The sign-on provider names the group {name:.80r}, so its name stays."
    hint = "Rename it at the provider, and give its permissions to the new group."


class MemberNotFoundError(PageError, code="member-not-found"):
    """A user whom no administrator put into a group.

    Args:
        is_of_claim: Whether a sign-in put the user into it.
    """

    name: str
    user: str
    is_of_claim: bool
    status = 404
    message = "{_verdict}"
    hint = "{_advice}"

    @property
    def _verdict(self) -> str:
        if self.is_of_claim:
            return f"A sign-in put {self.user!r} into {self.name!r}."
        return f"{self.user!r} is not in {self.name!r}."

    @property
    def _advice(self) -> str:
        if self.is_of_claim:
            return "Change the groups of this person at the sign-on provider."
        return f"'deltaweb group show {self.name}' lists its members."


# === Single sign-on ===


class SignOnRefusedError(PageError, code="sign-on-refused"):
    """A person whom the provider knows, and no rule admits.

    Args:
        reasons: Why, for the record. The person is not told which rules there are.
    """

    reasons: Sequence[str]
    status = 403
    message = "Your account at the provider has no access here."
    hint = "Ask an administrator of this installation to admit you."


class SignOnFailedError(PageError, code="sign-on-failed"):
    """An answer of the provider that signs nobody in."""

    reason: str
    status = 403
    message = "You are not signed in: {reason:.200}."
    hint = "Begin again on the sign-in page. If it fails again, tell an administrator."


class ProviderUnavailableError(PageError, code="sign-on-unavailable"):
    """The provider does not answer, or not as its specification says."""

    reason: str
    status = 503
    message = "The sign-on provider cannot be used at the moment: {reason:.300}"
    hint = "Try again in a moment. 'deltaweb sso check' on the server says more."


class SignOnOffError(PageError, code="sign-on-off"):
    status = 404
    message = "No sign-on provider is set up here."
    hint = "Sign in with a password or a link."


class RemoteUserRefusedError(PageError, code="remote-user-refused"):
    header: str
    status = 403
    message = "The header {header} is accepted only from the authenticating proxy."
    hint = "Open the address of the proxy. DELTAWEB_REMOTE_USER_PROXIES names it."


class RemoteUserInvalidError(PageError, code="remote-user-invalid"):
    header: str
    status = 400
    message = "The header {header} does not have exactly one readable value."
    hint = "The proxy has to remove the header of the client and set it once."


class LocalAccountsOffError(PageError, code="local-accounts-off"):
    status = 403
    message = "Passwords and sign-in links are switched off here."
    hint = "Sign in through your provider."


class IdentityTakenError(PageError, code="identity-taken"):
    issuer: str
    subject: str
    status = 409
    message = "{subject:.80r} of {issuer:.120} signs in to an account already."
    hint = "Make that account local first: deltaweb user identity NAME --remove."


class UserOfProviderError(PageError, code="user-of-provider"):
    name: str
    status = 409
    message = "{name!r} signs in through a provider, not with a password or a link."
    hint = "Change this account at the provider."
