"""The Django app `tables`."""

from django.apps import AppConfig

from apps.pages.navigation import NavEntry, register


class TablesConfig(AppConfig):
    """The catalogue of tables and what is indexed of them."""

    name = "apps.tables"

    def ready(self) -> None:
        """Put the catalogue in the rail."""
        register(
            NavEntry(
                label="Catalog",
                icon="database",
                url_name="tables:table-list",
                order=10,
                prefixes=("/tables", "/t/", "/search"),
            )
        )
