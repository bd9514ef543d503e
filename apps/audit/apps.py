"""The Django app `audit`."""

from django.apps import AppConfig

from deltaweb.web.pages import actions


class AuditConfig(AppConfig):
    """The append-only record of calls and administration."""

    name = "deltaweb.web.audit"

    def ready(self) -> None:
        """Record what other apps report."""
        from deltaweb.web.audit.services import record_action  # noqa: PLC0415 (models load before ready)

        actions.recorders.register(record_action)
