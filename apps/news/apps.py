"""The Django app `news`."""

from django.apps import AppConfig


class NewsConfig(AppConfig):
    """What has happened, told to pages that wait."""

    name = "deltaweb.web.news"
