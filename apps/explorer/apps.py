"""The Django app `explorer`."""

from django.apps import AppConfig


class ExplorerConfig(AppConfig):
    """Read-only pages over one table."""

    name = "apps.explorer"

    def ready(self) -> None:
        """Add the tabs of a table's pages, and say where results of jobs are shown."""
        from apps.explorer.job_results import PAGES  # noqa: PLC0415 (as below)
        from apps.jobs import results  # noqa: PLC0415 (as below)
        from apps.tables.tabs import (  # noqa: PLC0415 (apps must be loaded)
            HeadButton,
            Tab,
            register,
            register_button,
        )

        results.register(PAGES)

        register(Tab(label="Overview", url_name="explorer:table-overview", order=10))
        register(
            Tab(
                label="Data",
                url_name="explorer:row-list",
                order=20,
                also=("explorer:row-detail",),
            )
        )
        register(
            Tab(
                label="Schema",
                url_name="explorer:schema-detail",
                order=30,
                also=("explorer:column-detail",),
            )
        )
        register(
            Tab(
                label="History",
                url_name="explorer:commit-list",
                order=40,
                also=("explorer:commit-detail",),
            )
        )
        register(
            Tab(
                label="Compare",
                url_name="explorer:compare-latest",
                order=50,
                also=("explorer:compare-detail",),
            )
        )
        register(
            Tab(
                label="Files",
                url_name="explorer:file-list",
                order=60,
                also=("explorer:partition-list",),
            )
        )
        register_button(
            HeadButton(
                label="Use this table",
                icon="terminal-2",
                url_name="explorer:table-use",
                order=10,
                keeps=("col", "f"),
                is_primary=False,
                is_drawer=True,
            )
        )
