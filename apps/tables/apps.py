"""The Django app `tables`."""

from django.apps import AppConfig
from django.core import checks

from deltaweb.environment.checks import SETTINGS
from deltaweb.web.news.topics import topics
from deltaweb.web.pages import errors
from deltaweb.web.pages.frame import navigation


class TablesConfig(AppConfig):
    """The catalogue of tables and what is indexed of them."""

    name = "deltaweb.web.tables"

    def ready(self) -> None:
        """Put the catalogue in the rail; say to those below what is of tables."""
        from deltaweb.web.jobs import kinds, visibility  # noqa: PLC0415 (models load before ready)
        from deltaweb.web.tables.catalogue.lakes.vanished import (  # noqa: PLC0415 (as above)
            MARK,
            vanished_badges,
        )
        from deltaweb.web.tables.extension import (  # noqa: PLC0415 (as above)
            badges,
            marks,
            tabs,
        )
        from deltaweb.web.tables.head.error_frame import table_frame  # noqa: PLC0415 (as above)
        from deltaweb.web.tables.models import Table  # noqa: PLC0415 (as above)
        from deltaweb.web.tables.models.news import TOPICS  # noqa: PLC0415 (as above)
        from deltaweb.web.tables.models.subjects import (  # noqa: PLC0415 (as above)
            subject_links,
            subjects_named,
        )
        from deltaweb.web.tables.storage.root_checks import check_roots  # noqa: PLC0415 (as above)

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
                url_name="tables:table-maintenance",
                order=85,
                also=(
                    "tables:table-vacuum",
                    "tables:table-optimize",
                    "tables:table-restore",
                    "tables:table-checkpoint",
                    "tables:table-cleanup",
                ),
                is_for_owners=True,
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
        badges.providers.register(vanished_badges)
        marks.marks.register(MARK)
        errors.frames.register(table_frame)
        topics.register(*TOPICS)
        kinds.load_from(
            "deltaweb.web.tables.catalogue.adding.work",
            "deltaweb.web.tables.catalogue.check_location",
            "deltaweb.web.tables.catalogue.samples",
            "deltaweb.web.tables.index.refresh",
            "deltaweb.web.tables.catalogue.lakes.scan_job",
            "deltaweb.web.tables.operations",
            "deltaweb.web.tables.work",
        )
