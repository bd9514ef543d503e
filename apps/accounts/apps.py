"""The Django app `accounts`."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Users, roles, sign-in links and API keys."""

    name = "apps.accounts"
