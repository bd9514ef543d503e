"""The wiring of the Django project."""

from typing import Any

from django.apps import AppConfig
from django.core import checks

from deltaweb.environment.checks import SETTINGS, check_home


class DeltawebConfig(AppConfig):
    """Binds Celery to Django, so that jobs find their broker in every process."""

    name = "deltaweb"
    verbose_name = "deltaweb"

    def ready(self) -> None:
        """Say where the Celery application is; most commands never load it."""
        checks.register(check_home, SETTINGS)
        from deltaweb.web.jobs.broker import waking  # noqa: PLC0415 (models load before ready)

        waking.register(_celery_application)


def _celery_application() -> Any:  # noqa: ANN401 (Celery has no types)
    from deltaweb.celery import app  # noqa: PLC0415 (as above)

    return app
