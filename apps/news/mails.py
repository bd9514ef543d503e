"""Mails of plain text, through the relay of the settings."""

from collections.abc import Mapping

from django.conf import settings

from apps.pages.errors import PageError
from deltaweb.environment.outages import MAIL, outages


class MailRefusedError(PageError, code="mail-refused"):
    """The relay of the settings is missing, or does not take a mail."""

    reason: str
    status = 502
    message = "The mail relay did not accept the mail: {reason:.300}."
    hint = "Check DELTAWEB_SMTP_HOST."


def mail_is_set_up() -> bool:
    """Return whether the server can send mail."""
    return bool(settings.EMAIL_HOST)


def send_text(
    address: str, subject: str, text: str, *, headers: Mapping[str, str] | None = None
) -> None:
    """Send a mail from the provider.

    Args:
        headers: Further headers, such as `List-Unsubscribe`.

    Raises:
        MailRefusedError: If no relay is set, or it does not take the mail.
    """
    if not mail_is_set_up():
        raise MailRefusedError(reason="no relay is set")
    from smtplib import SMTPResponseException  # noqa: PLC0415 (most commands send none)

    from django.core.mail import EmailMessage  # noqa: PLC0415 (as above)

    own = settings.PROVIDER_CONTACT  # or the address of a page
    sender = own if "@" in own and " " not in own else None
    message = EmailMessage(
        subject, text, sender, [address], headers=dict(headers or {})
    )
    try:
        message.send()
    except (OSError, ValueError) as error:  # of SMTP; of an address or a header
        if not isinstance(error, ValueError | SMTPResponseException):
            outages.began(MAIL, str(error))
        raise MailRefusedError(reason=str(error)) from error
    outages.ended(MAIL)
