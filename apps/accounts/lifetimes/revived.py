"""Accounts and API keys that a restored backup brings back."""

from datetime import datetime

from apps.accounts.models import APIKey, APIKeyQuerySet, Membership, User
from apps.operate.restored.revivals import (
    AuditLine,
    Revival,
    Withdrawal,
    revivals,
    text_of,
    withdrawals,
)
from apps.operate.switches.state import SIGN_IN
from deltaweb.words import counted


def _accounts(_: datetime, __: datetime) -> tuple[int, str]:
    active = User.objects.filter(is_active=True)
    count, admins = active.count(), active.filter(role=User.Role.ADMIN).count()
    return count, (
        f"{counted(count, 'account')} can sign in, also those that were disabled after"
        f" the backup. {counted(admins, 'administrator')} can sign in now."
    )


def _keys(before: datetime, now: datetime) -> APIKeyQuerySet:
    return APIKey.objects.live(now).filter(created_at__lte=before)


def _look_at_keys(before: datetime, now: datetime) -> tuple[int, str]:
    count = _keys(before, now).count()
    return count, (
        f"{counted(count, 'API key')} of before the restore can be used, also those"
        " that were revoked after the backup."
    )


def _revoke_keys(before: datetime, now: datetime) -> int:
    return _keys(before, now).update(revoked_at=now)


def _user(line: AuditLine) -> str:
    return text_of(line, "user")


def _key_is_back(line: AuditLine, now: datetime) -> bool:
    prefix = text_of(line, "prefix")
    return APIKey.objects.live(now).filter(prefix=prefix).exists()


def _role_is_back(line: AuditLine, _: datetime) -> bool:
    user = User.objects.filter(username=_user(line), is_active=True).first()
    return user is not None and user.get_role_display() == text_of(line, "old")


def _member_is_back(line: AuditLine, _: datetime) -> bool:
    group = text_of(line, "group")
    members = Membership.objects.filter(group__name=group, user__username=_user(line))
    return members.exists()


revivals.register(
    Revival(name="accounts", switch=SIGN_IN, look=_accounts),
    Revival(
        name="api-keys",
        switch=SIGN_IN,
        look=_look_at_keys,
        revoke=_revoke_keys,
        is_usual=True,
    ),
)
withdrawals.register(
    Withdrawal(
        action="key.revoke",
        says=lambda line: f"API key {text_of(line, 'prefix')}… of {_user(line)}",
        is_back=_key_is_back,
    ),
    Withdrawal(
        action="user.disable",
        says=lambda line: f"Account {_user(line)}",
        is_back=lambda line, _: User.objects.filter(
            username=_user(line), is_active=True
        ).exists(),
    ),
    Withdrawal(
        action="user.set_role",
        says=lambda line: f"Role {text_of(line, 'old')} of {_user(line)}",
        is_back=_role_is_back,
    ),
    Withdrawal(
        action="group.remove_member",
        says=lambda line: f"Membership of {_user(line)} in {text_of(line, 'group')}",
        is_back=_member_is_back,
    ),
)
