"""`deltaweb demo`: the sample tables, in a home of their own."""

from django.urls import reverse
from django.utils import timezone

from deltaweb.management import first_start
from deltaweb.management.start import StartCommand


class Command(StartCommand):
    """Serve the samples, and open a browser."""

    help = "Serve the sample tables from a separate home folder, and open a browser."

    def handle(self, **_: object) -> None:
        self.prepare()
        first_start.register_samples(timezone.now(), is_asked=True)
        self.serve(page=reverse("explorer:dashboard"))
