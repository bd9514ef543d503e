"""`deltaweb recipient ...`: who reads what is shared."""

from apps.pages.changes.command import ChangesCommand
from apps.sharing.management.recipient_looks import RecipientLooks
from apps.sharing.models import Recipient, Share


class Command(RecipientLooks, ChangesCommand):
    """What is read of recipients; the rest are changes."""

    noun = "recipient"

    names_of = {
        "recipient-not-found": lambda: Recipient.objects.values_list("name", flat=True),
        "share-not-found": lambda: Share.objects.values_list("name", flat=True),
    }
    help = (
        "Recipients: create, list, show, see, usage, doctor, rehearse, limit, hold, "
        "reminders, grant, ungrant, add-client, link, rotate, revoke, delete."
    )
