"""The Django app `pages`."""

from django.apps import AppConfig


class PagesConfig(AppConfig):
    """What every page shares: formats, paging, errors, template tags."""

    name = "deltaweb.web.pages"
