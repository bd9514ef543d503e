"""What people ask of accounts: users, roles, sign-in links, API keys."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import urljoin
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F
from django.http import HttpRequest
from django.urls import reverse

from apps.accounts import errors
from apps.accounts.models import APIKey, FailedSignIn, SignInLink, User
from apps.accounts.tokens import PREFIX_LENGTH, new_api_key, new_token, sha256
from apps.pages.actions import Action, Actor, report
from apps.pages.errors import PageError

FAILURE_WINDOW = timedelta(minutes=15)
FAILURES_ALLOWED_FROM_ONE_ADDRESS = 10  # for one name within the window
FAILURES_ALLOWED = 100  # for one name within the window, from anywhere
KEEP_FAILURES = timedelta(days=1)
FIRST_ADMIN = "admin"
UNKNOWN_USER = "unknown"


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new API key; `secret` is shown now and never again."""

    key: APIKey
    secret: str


# === Users ===


@transaction.atomic
def create_user(
    *, name: str, role: str, password: str | None = None, actor: Actor, now: datetime
) -> User:
    """Make an account; without a password its user signs in by links.

    Raises:
        UserInvalidError: If the name, the role or the password will not do.
        UserNameTakenError: If the name exists, whatever its capitals.
    """
    user = User(username=name, role=checked_role(role))
    try:
        user.clean_fields(exclude=["password"])
        if password is not None:
            validate_password(password, user)
    except ValidationError as error:
        raise errors.UserInvalidError(reason=" ".join(error.messages)) from error
    if User.objects.named(name).exists():
        raise errors.UserNameTakenError(name=name)
    user.set_password(password)  # None makes it unusable
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError as error:
        raise errors.UserNameTakenError(name=name) from error
    report(_action("user.create", user, actor, now, role=user.get_role_display()))
    return user


def checked_role(role: str) -> User.Role:
    """Return the role of that name in any capitals.

    Raises:
        UserInvalidError: If there is no such role.
    """
    try:
        return User.Role(role.upper())
    except ValueError as error:
        names = ", ".join(label for _, label in User.Role.choices)
        message = f"{role!r} is not a role. Choose one of: {names}."
        raise errors.UserInvalidError(reason=message) from error


@transaction.atomic
def set_role(*, user: User, role: str, actor: Actor, now: datetime) -> User:
    """Change what a user may do, from the user's next request on.

    Raises:
        LastAdminError: If nobody would be left to administer.
    """
    new_role = checked_role(role)
    if new_role != User.Role.ADMIN:
        _check_not_last_admin(user)
    before = user.get_role_display()
    User.objects.filter(id=user.id).update(role=new_role)
    user.refresh_from_db()
    after = user.get_role_display()
    report(_action("user.set_role", user, actor, now, before=before, after=after))
    return user


@transaction.atomic
def disable_user(*, user: User, actor: Actor, now: datetime) -> User:
    """Shut a user out from the next request on: sessions, links and API keys.

    Sessions and links are gone for good; keys rest until the account is enabled.

    Raises:
        LastAdminError: If nobody would be left to administer.
    """
    _check_not_last_admin(user)
    User.objects.filter(id=user.id).update(
        is_active=False, session_generation=F("session_generation") + 1
    )
    SignInLink.objects.filter(user=user, used_at__isnull=True).delete()
    user.refresh_from_db()
    report(_action("user.disable", user, actor, now))
    return user


@transaction.atomic
def enable_user(*, user: User, actor: Actor, now: datetime) -> User:
    """Let a disabled user sign in again."""
    User.objects.filter(id=user.id).update(is_active=True)
    user.refresh_from_db()
    report(_action("user.enable", user, actor, now))
    return user


def _check_not_last_admin(user: User) -> None:
    """Refuse to take the last administrator away.

    The rows are locked, so two administrators cannot demote each other at once.
    """
    admins = list(User.objects.active_admins().select_for_update())
    if [admin.id for admin in admins] == [user.id]:
        raise errors.LastAdminError(name=user.username)


@transaction.atomic
def change_password(*, user: User, password: str, actor: Actor, now: datetime) -> User:
    """Set a password; every other session of the user ends.

    Raises:
        UserInvalidError: If the password is too weak.
    """
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise errors.UserInvalidError(reason=" ".join(error.messages)) from error
    user.set_password(password)
    user.save(update_fields=["password"])
    report(_action("user.set_password", user, actor, now))
    return user


def set_appearance(*, user: User, theme: str, time_zone: str) -> User:
    """Keep how pages look for a user.

    Raises:
        UserInvalidError: If there is no such theme or time zone.
    """
    if theme not in User.Theme.values:
        raise errors.UserInvalidError(reason=f"{theme!r} is not a theme.")
    try:
        ZoneInfo(time_zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        message = f"{time_zone!r} is not a time zone. Give one such as Europe/Berlin."
        raise errors.UserInvalidError(reason=message) from error
    user.theme = User.Theme(theme)
    user.time_zone = time_zone
    user.save(update_fields=["theme", "time_zone"])
    return user


# === Signing in ===


def first_admin(*, actor: Actor, now: datetime) -> User:
    """Return the oldest active administrator; a new installation gets one."""
    if admin := User.objects.active_admins().first():
        return admin
    name = FIRST_ADMIN
    number = 2
    while User.objects.named(name).exists():
        name, number = f"{FIRST_ADMIN}{number}", number + 1
    return create_user(name=name, role=User.Role.ADMIN, actor=actor, now=now)


@transaction.atomic
def issue_sign_in_link(*, user: User, actor: Actor, now: datetime) -> str:
    """Make a link that signs the user in once, within fifteen minutes.

    Returns:
        The absolute URL. It is the only copy: the database has a hash.

    Raises:
        UserDisabledError: If the account is disabled.
    """
    if not user.is_active:
        raise errors.UserDisabledError(name=user.username)
    lifetime = timedelta(seconds=settings.SIGN_IN_LINK_LIFETIME_S)
    SignInLink.objects.filter(expires_at__lt=now - lifetime).delete()
    token = new_token()
    SignInLink.objects.create(
        user=user,
        token_sha256=sha256(token),
        created_at=now,
        expires_at=now + lifetime,
    )
    report(_action("user.link", user, actor, now))
    return urljoin(settings.PUBLIC_URL, reverse("accounts:use-link", args=[token]))


def use_sign_in_link(*, token: str, actor: Actor, now: datetime) -> User:
    """Spend a link and return its user; of two requests at once one succeeds.

    `actor` says from where; success is recorded, and refusal of a link that was ours.

    Raises:
        LinkInvalidError: If it was never issued, or the account is disabled.
        LinkUsedError: If it has been used.
        LinkExpiredError: If its time has run out.
    """
    try:
        with transaction.atomic():
            user = _spend_link(sha256(token), now)
            report(_sign_in(user, actor, now, by="link"))
    except PageError as error:
        if owner := user_of_link(token=token):
            report(_failed_sign_in(owner, actor, now, by="link", error=error))
        raise
    return user


def _spend_link(digest: str, now: datetime) -> User:
    # One UPDATE over the link's own columns decides: a join would be evaluated
    # before the row is locked, and let two requests through.
    spent = SignInLink.objects.filter(
        token_sha256=digest, used_at__isnull=True, expires_at__gt=now
    ).update(used_at=now)
    link = SignInLink.objects.select_related("user").filter(token_sha256=digest).first()
    if link is None or not link.user.is_active:
        raise errors.LinkInvalidError
    if spent:
        return link.user
    raise errors.LinkUsedError if link.used_at else errors.LinkExpiredError


def user_of_link(*, token: str) -> User | None:
    """Return whose link it is or was; None for one that was never issued."""
    link = SignInLink.objects.select_related("user").filter(token_sha256=sha256(token))
    return found.user if (found := link.first()) else None


def sign_in(
    request: HttpRequest, *, name: str, password: str, actor: Actor, now: datetime
) -> User:
    """Check a name and a password and return the user.

    `actor` says from where; success and failure are recorded.

    Wrong passwords are counted by name and address, so a stranger cannot lock
    somebody out from elsewhere by guessing; a link always works.

    Raises:
        SignInError: If they do not go together.
        TooManySignInsError: If too many sign-ins failed of late.
    """
    key = name.lower()[:150]
    address = str(request.META.get("REMOTE_ADDR", ""))[:64]
    failures = FailedSignIn.objects.against(key, since=now - FAILURE_WINDOW)
    from_here = failures.filter(address=address).count()
    if (
        from_here >= FAILURES_ALLOWED_FROM_ONE_ADDRESS
        or failures.count() >= FAILURES_ALLOWED
    ):
        minutes = int(FAILURE_WINDOW.total_seconds() // 60)
        raise errors.TooManySignInsError(minutes=minutes)
    existing = User.objects.named(name).first()
    username = existing.username if existing else name
    user = authenticate(request, username=username, password=password)
    if not isinstance(user, User):
        FailedSignIn.objects.filter(failed_at__lt=now - KEEP_FAILURES).delete()
        FailedSignIn.objects.create(name=key, address=address, failed_at=now)
        error = errors.SignInError()
        report(_failed_sign_in(existing, actor, now, by="password", error=error))
        raise error
    FailedSignIn.objects.filter(name=key, address=address).delete()
    report(_sign_in(user, actor, now, by="password"))
    return user


def _sign_in(user: User, actor: Actor, now: datetime, *, by: str) -> Action:
    who = replace(actor, name=user.username, user_id=user.pk)
    return Action(name="sign_in", actor=who, at=now, detail={"by": by})


def _failed_sign_in(
    user: User | None, actor: Actor, now: datetime, *, by: str, error: PageError
) -> Action:
    """Tell of a refusal; a name that no account has may be a mistyped password."""
    name = UNKNOWN_USER if user is None else user.username
    return Action(
        name="sign_in",
        actor=replace(actor, name=name, user_id=None if user is None else user.pk),
        at=now,
        detail={"by": by},
        status=error.status,
        error_code=error.code,
    )


# === API keys ===


@transaction.atomic
def issue_api_key(*, user: User, name: str, actor: Actor, now: datetime) -> IssuedKey:
    """Make a key for the user's scripts; its secret is returned once.

    Raises:
        UserDisabledError: If the account is disabled.
    """
    if not user.is_active:
        raise errors.UserDisabledError(name=user.username)
    secret = new_api_key()
    key = APIKey.objects.create(
        user=user,
        name=name.strip()[:100] or "unnamed",
        prefix=secret[:PREFIX_LENGTH],
        key_sha256=sha256(secret),
        created_at=now,
    )
    detail = {"label": key.name, "prefix": key.prefix}
    report(_action("key.issue", user, actor, now, **detail))
    return IssuedKey(key, secret)


@transaction.atomic
def revoke_api_key(*, key: APIKey, actor: Actor, now: datetime) -> None:
    """Make a key worthless from the next request on."""
    live = APIKey.objects.filter(id=key.id, revoked_at__isnull=True)
    if live.update(revoked_at=now):
        detail = {"label": key.name, "prefix": key.prefix}
        report(_action("key.revoke", key.user, actor, now, **detail))


def _action(
    name: str, user: User, actor: Actor, now: datetime, **detail: object
) -> Action:
    detail = {"user": user.username, **detail}
    return Action(name=name, actor=actor, at=now, detail=detail)
