"""The Django app `tables`."""

from django.apps import AppConfig
from django.core import checks

from apps.pages import errors, navigation


class TablesConfig(AppConfig):
    """The catalogue of tables and what is indexed of them."""

    name = "apps.tables"

    def ready(self) -> None:
        """Put the catalogue in the rail; say to jobs and checks what is of tables."""
        from apps.jobs import kinds, results, visibility  # noqa: PLC0415 (models load before ready)
        from apps.tables.error_frame import table_frame  # noqa: PLC0415 (as above)
        from apps.tables.job_kinds import LOOKS, WORDS  # noqa: PLC0415 (as above)
        from apps.tables.job_results import PAGES  # noqa: PLC0415 (as above)
        from apps.tables.models import Table  # noqa: PLC0415 (as above)
        from apps.tables.root_checks import check_roots  # noqa: PLC0415 (as above)
        from apps.tables.subjects import (  # noqa: PLC0415 (as above)
            subject_links,
            subjects_named,
        )

        checks.register(check_roots)
        navigation.register(
            navigation.NavEntry(
                label="Catalog",
                icon="database",
                url_name="tables:table-list",
                order=10,
                prefixes=("/tables", "/t/", "/search"),
            )
        )
        visibility.register(
            visibility.Subjects(
                visible_ids=lambda user: Table.objects.visible_to(user).values("id"),
                links=subject_links,
                named=subjects_named,
            )
        )
        errors.register_frame(table_frame)
        results.register(PAGES)
        kinds.register(WORDS, looks=LOOKS)
        visibility.reserve(
            *("tables.check_location", "tables.scan_root", "tables.load_samples"),
            *("tables.write_checkpoint", "tables.clean_up_log"),
        )
