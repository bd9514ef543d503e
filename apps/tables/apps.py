"""The Django app `tables`."""

from django.apps import AppConfig
from django.core import checks

from apps.news.topics import topics
from apps.pages import errors
from apps.pages.frame import navigation
from deltaweb.environment.checks import SETTINGS


class TablesConfig(AppConfig):
    """The catalogue of tables and what is indexed of them."""

    name = "apps.tables"

    def ready(self) -> None:
        """Put the catalogue in the rail; say to those below what is of tables."""
        from apps.jobs import kinds, visibility  # noqa: PLC0415 (models load before ready)
        from apps.tables.extension import tabs  # noqa: PLC0415 (as above)
        from apps.tables.head.error_frame import table_frame  # noqa: PLC0415 (as above)
        from apps.tables.models import Table  # noqa: PLC0415 (as above)
        from apps.tables.models.news import TOPICS  # noqa: PLC0415 (as above)
        from apps.tables.models.subjects import (  # noqa: PLC0415 (as above)
            subject_links,
            subjects_named,
        )
        from apps.tables.storage.root_checks import check_roots  # noqa: PLC0415 (as above)

        checks.register(check_roots, SETTINGS)
        navigation.entries.register(
            navigation.NavEntry(
                label="Catalog",
                icon="database",
                url_name="tables:table-list",
                order=10,
                prefixes=("/tables", "/t/", "/search"),
            )
        )
        tabs.tabs.register(
            tabs.Tab(
                label="Maintenance",
                url_name="tables:table-upkeep",
                order=85,
                also=(
                    "tables:table-vacuum",
                    "tables:table-optimize",
                    "tables:table-restore",
                    "tables:table-checkpoint",
                    "tables:table-cleanup",
                ),
                visible=lambda user: getattr(user, "is_editor", False),
            )
        )
        visibility.subjects_of_jobs.register(
            visibility.Subjects(
                visible_ids=lambda user: Table.objects.visible_to(user).values("id"),
                links=subject_links,
                named=subjects_named,
            )
        )
        errors.frames.register(table_frame)
        topics.register(*TOPICS)
        kinds.load_from(
            "apps.tables.catalogue.adding.work",
            "apps.tables.catalogue.check_location",
            "apps.tables.catalogue.samples",
            "apps.tables.catalogue.scan_root",
            "apps.tables.index.refresh",
            "apps.tables.operations",
            "apps.tables.operations.definition",
            "apps.tables.operations.rows",
            "apps.tables.work",
        )
