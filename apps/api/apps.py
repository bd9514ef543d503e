"""The Django app `api`."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """The REST API."""

    name = "deltaweb.web.api"
