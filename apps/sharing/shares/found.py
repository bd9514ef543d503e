"""Shares and recipients as the search of the whole app finds them."""

from django.db.models import Q, QuerySet

from deltaweb.web.sharing.models import Recipient, Share
from deltaweb.web.tables.extension.search_kinds import Hit


def find_shares(text: str) -> QuerySet[Share]:
    """Return the shares whose name or comment holds a text."""
    return Share.objects.filter(Q(name__icontains=text) | Q(comment__icontains=text))


def find_recipients(text: str) -> QuerySet[Recipient]:
    """Return the recipients whose name, contact or comment holds a text."""
    return Recipient.objects.filter(
        Q(name__icontains=text)
        | Q(contact__icontains=text)
        | Q(comment__icontains=text)
    )


def share_hit(share: Share) -> Hit:
    """Return a share as a list of what was found shows it."""
    return Hit(name=share.name, about=share.comment, url=share.get_absolute_url())


def recipient_hit(recipient: Recipient) -> Hit:
    """Return a recipient as a list of what was found shows it."""
    about = ", ".join(text for text in (recipient.contact, recipient.comment) if text)
    return Hit(name=recipient.name, about=about, url=recipient.get_absolute_url())
