"""The Django app `accounts`."""

from django.apps import AppConfig

from deltaweb.web.pages.frame import navigation


class AccountsConfig(AppConfig):
    """Users, roles, sign-in links and API keys."""

    name = "deltaweb.web.accounts"

    def ready(self) -> None:
        """Put the administration into the rail of administrators."""
        navigation.entries.register(
            navigation.NavEntry(
                label="Admin",
                icon="settings",
                url_name="accounts:user-list",
                order=900,
                prefixes=("/admin-area/",),
                visible=lambda user: getattr(user, "is_admin", False),
                at_bottom=True,
            )
        )
