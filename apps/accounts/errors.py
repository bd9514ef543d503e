"""What can go wrong with accounts, and the wording of each; all are `PageError`s."""

import math
from datetime import timedelta

from apps.accounts.tokens import KEY_MARK
from apps.pages.errors import PageError


class UserNotFoundError(PageError):
    """No account has that name."""

    def __init__(self, *, name: str) -> None:
        super().__init__(
            status=404,
            code="user-not-found",
            message=f"No user is named {name!r}.",
            hint="'deltaweb user list' shows them.",
        )


class UserNameTakenError(PageError):
    """Another account has that name, perhaps with other capitals."""

    def __init__(self, *, name: str) -> None:
        super().__init__(
            status=409,
            code="user-name-taken",
            message=f"A user named {name!r} exists already.",
            hint="Choose another name.",
        )


class UserInvalidError(PageError):
    """A name, role or password that an account cannot have."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(status=422, code="user-invalid", message=reason)


class UserDisabledError(PageError):
    """The account exists but may not sign in."""

    def __init__(self, *, name: str) -> None:
        super().__init__(
            status=409,
            code="user-disabled",
            message=f"The account of {name!r} is disabled.",
            hint="Enable it first.",
        )


class LastAdminError(PageError):
    """Without this account nobody could administer the installation."""

    def __init__(self, *, name: str) -> None:
        super().__init__(
            status=409,
            code="last-admin",
            message=f"{name!r} is the last active administrator.",
            hint="Make another user an administrator first.",
        )


class LinkInvalidError(PageError):
    """A sign-in link that was never issued, or whose account is disabled."""

    def __init__(self) -> None:
        super().__init__(
            status=404,
            code="link-invalid",
            message="This sign-in link is not valid.",
            hint="Ask for a new one, or make one with 'deltaweb user link NAME'.",
        )


class LinkUsedError(PageError):
    """A sign-in link works one time."""

    def __init__(self) -> None:
        super().__init__(
            status=410,
            code="link-used",
            message="This sign-in link has been used.",
            hint="Ask for a new one, or make one with 'deltaweb user link NAME'.",
        )


class LinkExpiredError(PageError):
    """A sign-in link works for fifteen minutes."""

    def __init__(self) -> None:
        super().__init__(
            status=410,
            code="link-expired",
            message="This sign-in link has expired.",
            hint="Ask for a new one, or make one with 'deltaweb user link NAME'.",
        )


class SignInError(PageError):
    """Name and password do not go together; which of them is wrong stays unsaid."""

    def __init__(self) -> None:
        super().__init__(
            status=403,
            code="sign-in-failed",
            message="That name and password do not go together.",
            hint="Try again, or sign in by a link.",
        )


class TooManySignInsError(PageError):
    """Too many wrong passwords in a short time.

    Args:
        where: For what they are counted: "for this name", "from your address".
        wait: How long until another may be tried.
    """

    def __init__(self, *, where: str, wait: timedelta) -> None:
        minutes = max(1, math.ceil(wait.total_seconds() / 60))
        super().__init__(
            status=429,
            code="too-many-sign-ins",
            message=f"Too many sign-ins have failed {where}.",
            hint=f"Wait {minutes} minute{'s'[: minutes > 1]}, or sign in by a link.",
        )


class PasswordsBusyError(PageError):
    """So many passwords are being checked that one more would hold up the pages."""

    def __init__(self) -> None:
        super().__init__(
            status=503,
            code="passwords-busy",
            message="Many passwords are being checked just now.",
            hint="Try again in some seconds, or sign in by a link.",
        )


class SessionRequiredError(PageError):
    """What changes an account, asked for with an API key.

    A key that was stolen must not become a password or more keys, which would outlive
    its revocation.
    """

    def __init__(self) -> None:
        super().__init__(
            status=403,
            code="session-required",
            message="An API key cannot change accounts, passwords or keys.",
            hint="Sign in in a browser and do it there, or use 'deltaweb user' on the "
            "server.",
        )


class APIKeyUnknownError(PageError):
    """A bearer token that is not a usable API key.

    Args:
        looks_like_key: Whether it has the mark of a key. What has not is most likely
            the token of a share, sent to another address than its profile's.
    """

    def __init__(self, *, looks_like_key: bool) -> None:
        hint = "Make a new one at /me/ or with 'deltaweb user key NAME'."
        if not looks_like_key:
            hint = (
                "The token of a share is good below /delta-sharing/ alone: check the "
                f"endpoint of the profile file. Keys of users begin with {KEY_MARK}."
            )
        super().__init__(
            status=401,
            code="api-key-unknown",
            message="This API key is unknown or revoked."
            if looks_like_key
            else "This bearer token is no API key of a user.",
            hint=hint,
        )


class SignInRequiredError(PageError):
    """A page that only a signed-in user sees."""

    def __init__(self) -> None:
        super().__init__(
            status=401,
            code="sign-in-required",
            message="This page needs a signed-in user.",
            hint="Sign in, or send an API key as 'Authorization: Bearer KEY'.",
        )


class RoleRequiredError(PageError):
    """A page that needs a higher role."""

    def __init__(self, *, role: str) -> None:
        super().__init__(
            status=403,
            code="permission-denied",
            message=f"Only {role} may do this.",
            hint="Ask an administrator of this installation for the role.",
        )
