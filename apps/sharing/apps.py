"""The Django app `sharing`."""

from django.apps import AppConfig

from apps.pages import navigation


class SharingConfig(AppConfig):
    """Shares, recipients, and the Delta Sharing protocol."""

    name = "apps.sharing"

    def ready(self) -> None:
        """Guard tables that are shared, and put sharing into administrators' rail."""
        from apps.sharing.selectors.shares import (  # noqa: PLC0415 (models load before ready)
            shares_in_words,
        )
        from apps.sharing.selectors.table_sharing import (  # noqa: PLC0415 (as above)
            shared_badges,
        )
        from apps.tables import badges, guards, tabs  # noqa: PLC0415 (as above)

        guards.register(shares_in_words)
        badges.register(shared_badges)
        tabs.register(
            tabs.Tab(
                label="Sharing",
                url_name="sharing:table-sharing",
                order=90,
                visible=lambda user: getattr(user, "is_editor", False),
            )
        )
        tabs.register_button(
            tabs.HeadButton(
                label="Share…",
                icon="share-3",
                url_name="sharing:table-sharing",
                anchor="#share",
                visible=lambda user: getattr(user, "is_admin", False),
            )
        )
        for position, (label, icon, view, prefix) in enumerate(
            [
                ("Shares", "share-3", "share-list", "/shares/"),
                ("Recipients", "users", "recipient-list", "/recipients/"),
                ("Activity", "activity", "activity-list", "/activity/"),
            ]
        ):
            navigation.register(
                navigation.NavEntry(
                    label=label,
                    icon=icon,
                    url_name=f"sharing:{view}",
                    order=20 + position,
                    prefixes=(prefix,),
                    visible=lambda user: getattr(user, "is_admin", False),
                )
            )
