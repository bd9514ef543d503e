"""The Django app `tables`."""

from django.apps import AppConfig


class TablesConfig(AppConfig):
    """The catalogue of tables and what is indexed of them."""

    name = "apps.tables"
