"""The Django app `accounts`."""

from django.apps import AppConfig

from deltaweb.web.pages.frame import front_page, navigation


class AccountsConfig(AppConfig):
    """Users, roles, sign-in links and API keys."""

    name = "deltaweb.web.accounts"

    def ready(self) -> None:
        """Put the administration into the rail, and ends of keys on the first page."""
        from deltaweb.web.accounts.keys import expiring_keys  # noqa: PLC0415 (models load before ready)

        front_page.numbers.register(expiring_keys)
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
