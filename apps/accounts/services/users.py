"""Accounts themselves: made, changed, shut out."""

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F

from apps.accounts import errors
from apps.accounts.lifetimes.local_accounts import check_password
from apps.accounts.models import SignInLink, User
from apps.accounts.services.api_keys import revoke_api_key
from apps.accounts.services.records import account_action
from apps.accounts.zones import check_pages_zone
from apps.news.publishing import publish
from apps.news.topics import of_user
from apps.pages.actions import FieldChange, Stamp, report, report_changes
from apps.pages.request.changes import UNCHANGED, Unchanged, value_of

FIRST_ADMIN = "admin"


def create_user(
    *, name: str, role: str, password: str | None = None, stamp: Stamp
) -> User:
    """Make an account; without a password its user signs in by links."""
    user = User(username=name, role=checked_role(role))
    try:
        user.clean_fields(exclude=["password"])
        if password is not None:
            validate_password(password, user)
    except ValidationError as error:
        raise errors.UserInvalidError(reason=" ".join(error.messages)) from error
    if User.objects.named(name).exists():
        raise errors.UserNameTakenError(name=name)
    user.set_password(password)  # None makes it unusable; hashed before any lock
    role_words = user.get_role_display()
    try:
        with transaction.atomic():
            user.save(force_insert=True)
            report(account_action("user.create", user, stamp, role=role_words))
    except IntegrityError as error:
        raise errors.UserNameTakenError(name=name) from error
    return user


def checked_role(role: str) -> User.Role:
    """Return the role of that name in any capitals."""
    try:
        return User.Role(role.upper())
    except ValueError as error:
        names = ", ".join(label for _, label in User.Role.choices)
        message = f"{role!r} is not a role. Choose one of: {names}."
        raise errors.UserInvalidError(reason=message) from error


@transaction.atomic
def set_role(*, user: User, role: str, stamp: Stamp) -> User:
    """Change what a user may do, from the user's next request on."""
    new_role = checked_role(role)
    if new_role != User.Role.ADMIN:
        check_not_last_admin(user)
    change = FieldChange("user.set_role", user.get_role_display(), new_role.label)
    User.objects.filter(id=user.id).update(role=new_role)
    user.refresh_from_db()
    publish(of_user(user.id))
    report_changes(account_action("", user, stamp), [change])
    return user


@transaction.atomic
def disable_user(*, user: User, stamp: Stamp) -> User:
    """Shut a user out from the next request on: sessions, links and API keys.

    Sessions and links are gone for good; keys rest until the account is enabled.
    """
    check_not_last_admin(user)
    User.objects.filter(id=user.id).update(
        is_active=False, session_generation=F("session_generation") + 1
    )
    SignInLink.objects.filter(user=user, used_at__isnull=True).delete()
    user.refresh_from_db()
    publish(of_user(user.id))
    report(account_action("user.disable", user, stamp))
    return user


@transaction.atomic
def enable_user(*, user: User, stamp: Stamp) -> User:
    """Let a disabled user sign in again."""
    User.objects.filter(id=user.id).update(is_active=True)
    user.refresh_from_db()
    report(account_action("user.enable", user, stamp))
    return user


def check_not_last_admin(user: User) -> None:
    """Refuse to take the last administrator away.

    The rows are locked, so two administrators cannot demote each other at once.
    """
    found = User.objects.active_admins()
    if settings.HAS_SIGN_ON and user.signed_on_at is None:
        # One who needs no provider, for the day when it is down.
        found = found.filter(signed_on_at__isnull=True)
    admins = list(found.select_for_update())
    if [admin.id for admin in admins] == [user.id]:
        raise errors.LastAdminError(name=user.username)


def change_password(
    *, user: User, password: str, revoke_keys: bool = False, stamp: Stamp
) -> User:
    """Set a password; every other session and unused sign-in link of the user ends.

    Args:
        revoke_keys: Whether the user's API keys end as well.
    """
    check_password(user)
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise errors.UserInvalidError(reason=" ".join(error.messages)) from error
    user.set_password(password)  # hashed before any lock
    with transaction.atomic():
        user.save(update_fields=["password"])
        SignInLink.objects.filter(user=user, used_at__isnull=True).delete()
        publish(of_user(user.id))
        report(account_action("user.set_password", user, stamp))
        if revoke_keys:
            for key in user.api_keys.filter(revoked_at__isnull=True):
                revoke_api_key(key=key, stamp=stamp)
    return user


@transaction.atomic
def set_appearance(
    *,
    user: User,
    theme: str | Unchanged = UNCHANGED,
    time_zone: str | Unchanged = UNCHANGED,
    stamp: Stamp,
) -> User:
    """Keep how pages look for a user."""
    theme = value_of(theme, user.theme, removed=user.theme).upper()
    time_zone = value_of(time_zone, user.time_zone, removed=user.time_zone)
    if theme not in User.Theme.values:
        raise errors.UserInvalidError(reason=f"{theme!r} is not a theme.")
    check_pages_zone(time_zone)
    new_theme = User.Theme(theme)
    changes = (
        FieldChange("user.set_theme", user.get_theme_display(), new_theme.label),
        FieldChange("user.set_time_zone", user.time_zone, time_zone),
    )
    if report_changes(account_action("", user, stamp), changes):
        user.theme = new_theme
        user.time_zone = time_zone
        user.save(update_fields=["theme", "time_zone"])
    return user


def first_admin(*, stamp: Stamp) -> User:
    """Return the oldest active local administrator; without one, make one."""
    usual = User.objects.active_admins()
    if settings.HAS_SIGN_ON:
        usual = usual.filter(signed_on_at__isnull=True)
    if admin := usual.first():
        return admin
    name = FIRST_ADMIN
    number = 2
    while User.objects.named(name).exists():
        name, number = f"{FIRST_ADMIN}{number}", number + 1
    return create_user(name=name, role=User.Role.ADMIN, stamp=stamp)
