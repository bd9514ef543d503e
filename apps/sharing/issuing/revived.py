"""Tokens, grants and shares that a restored backup brings back."""

from datetime import datetime
from functools import partial

from apps.operate.restored.revivals import (
    AuditLine,
    Revival,
    Withdrawal,
    revivals,
    text_of,
    withdrawals,
)
from apps.operate.switches.state import SHARING
from apps.sharing.models import (
    Grant,
    Recipient,
    RecipientToken,
    RecipientTokenQuerySet,
    Share,
    SharedSchema,
    SharedTable,
)
from deltaweb.words import counted


def _tokens(before: datetime, now: datetime) -> RecipientTokenQuerySet:
    """The tokens that open something, also those of stand-ins."""
    return RecipientToken.all_tokens.unended(now).filter(created_at__lte=before)


def _look_at_tokens(before: datetime, now: datetime) -> tuple[int, str]:
    tokens = _tokens(before, now)
    count = tokens.count()
    recipients = tokens.values("recipient").distinct().count()
    grants = Grant.objects.filter(recipient__tokens__in=tokens)
    shares = grants.values("share").distinct().count()
    return count, (
        f"{counted(count, 'token')} of {counted(recipients, 'recipient')} can be used"
        f" to read {counted(shares, 'share')}, also those that were revoked after the"
        " backup."
    )


def _revoke_tokens(before: datetime, now: datetime) -> int:
    return _tokens(before, now).update(revoked_at=now)


def _named(noun: str, line: AuditLine) -> str:
    """Return what a line names, such as `Grant: share partners, recipient acme`."""
    found = {
        "table": ".".join(
            filter(None, (text_of(line, "schema"), text_of(line, "table")))
        ),
        "share": text_of(line, "share"),
        "recipient": text_of(line, "recipient"),
    }
    names = ", ".join(f"{kind} {name}" for kind, name in found.items() if name)
    return f"{noun}: {names}"


def _token_is_back(line: AuditLine, now: datetime) -> bool:
    prefix = text_of(line, "token_prefix")
    return RecipientToken.all_tokens.unended(now).filter(prefix=prefix).exists()


def _recipient_is_back(line: AuditLine, now: datetime) -> bool:
    tokens = RecipientToken.all_tokens.unended(now)
    return tokens.filter(recipient__name=text_of(line, "recipient")).exists()


def _grant_is_back(line: AuditLine, _: datetime) -> bool:
    return Grant.objects.filter(
        share__name=text_of(line, "share"), recipient__name=text_of(line, "recipient")
    ).exists()


def _share_is_back(line: AuditLine, _: datetime) -> bool:
    return Share.objects.filter(name=text_of(line, "share")).exists()


def _table_is_back(line: AuditLine, _: datetime) -> bool:
    return SharedTable.objects.filter(
        share__name=text_of(line, "share"),
        schema=text_of(line, "schema"),
        name=text_of(line, "table"),
    ).exists()


def _schema_is_back(line: AuditLine, _: datetime) -> bool:
    return SharedSchema.objects.filter(share__name=text_of(line, "share")).exists()


def _terms_are_back(line: AuditLine, _: datetime) -> bool:
    return Recipient.objects.filter(name=text_of(line, "recipient")).exists()


revivals.register(
    Revival(
        name="tokens",
        switch=SHARING,
        look=_look_at_tokens,
        revoke=_revoke_tokens,
        is_usual=True,
    )
)
withdrawals.register(
    *(
        Withdrawal(
            action=action,
            says=lambda line: (
                f"Token {text_of(line, 'token_prefix')}… of"
                f" {text_of(line, 'recipient')}"
            ),
            is_back=_token_is_back,
        )
        for action in ("token.revoke", "token.retire")
    ),
    *(
        Withdrawal(action=action, says=partial(_named, noun), is_back=is_back)
        for action, noun, is_back in (
            ("grant.remove", "Grant", _grant_is_back),
            ("recipient.delete", "Tokens", _recipient_is_back),
            ("recipient.set_networks", "Allowed networks", _terms_are_back),
            ("recipient.close_browser", "Reading in the browser", _terms_are_back),
            ("share.delete", "Share", _share_is_back),
            ("share.switch_off", "Share that was turned off", _share_is_back),
            ("share.close_browser", "Reading in the browser", _share_is_back),
            ("share.remove_table", "Shared table", _table_is_back),
            ("share.remove_schema", "Shared namespace", _schema_is_back),
            ("share.close_history", "Shared history", _table_is_back),
            ("share.close_directory", "Shared folder", _table_is_back),
            ("share.filter_table", "Former rows", _table_is_back),
            ("share.choose_columns", "Former columns", _table_is_back),
            ("share.narrow_table", "Former rows and columns", _table_is_back),
        )
    ),
)
