"""The Django app `audit`."""

from django.apps import AppConfig

from apps.pages import actions


class AuditConfig(AppConfig):
    """The append-only record of calls and administration."""

    name = "apps.audit"

    def ready(self) -> None:
        """Record what other apps report."""
        from apps.audit.services import record_action  # noqa: PLC0415 (models load before ready)

        actions.recorders.register(record_action)
