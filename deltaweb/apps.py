"""The wiring of the Django project."""

from django.apps import AppConfig


class DeltawebConfig(AppConfig):
    """Binds Celery to Django, so that tasks find their broker in every process."""

    name = "deltaweb"
    verbose_name = "deltaweb"

    def ready(self) -> None:
        """Load the Celery application once Django's settings stand."""
        from deltaweb import celery  # noqa: F401, PLC0415 (binds the tasks)
