"""Mails to the contacts of recipients, through the relay of the settings."""

from django.conf import settings
from django.core.mail import send_mail

from apps.sharing.errors import MailRefusedError


def send_text(address: str, subject: str, text: str) -> None:
    """Send a mail from the provider to a contact.

    Raises:
        MailRefusedError: If no relay is set, or it does not take the mail.
    """
    if not settings.EMAIL_HOST:
        raise MailRefusedError(reason="no relay is set")
    own = settings.PROVIDER_CONTACT  # or the address of a page
    sender = own if "@" in own and " " not in own else None
    try:
        send_mail(subject, text, sender, [address])
    except OSError as error:  # those of SMTP are, too
        raise MailRefusedError(reason=str(error)) from error
