"""`deltaweb recipient ...`: who reads what is shared."""

from apps.pages.changes.command import ChangesCommand
from apps.sharing.management.recipient_looks import RecipientLooks
from apps.sharing.models import Recipient, Share
from deltaweb.environment.command_lines import COMMANDS


class Command(RecipientLooks, ChangesCommand):
    """What is read of recipients; the rest are changes."""

    noun = "recipient"

    names_of = {
        "recipient-not-found": lambda: Recipient.objects.values_list("name", flat=True),
        "share-not-found": lambda: Share.objects.values_list("name", flat=True),
    }
    help = COMMANDS["recipient"]
