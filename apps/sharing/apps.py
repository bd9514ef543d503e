"""The Django app `sharing`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.apps import AppConfig

from deltaweb.web.pages.frame import front_page, navigation

if TYPE_CHECKING:  # Django's models are not ready when this module loads.
    from collections.abc import Iterable
    from datetime import datetime

    from deltaweb.web.pages.frame.navigation import AnyUser
    from deltaweb.web.tables.extension.guards import HeldVersions
    from deltaweb.web.tables.models import Table


class SharingConfig(AppConfig):
    """Shares, recipients, and the Delta Sharing protocol."""

    name = "deltaweb.web.sharing"

    def ready(self) -> None:
        """Guard tables that are shared, and put sharing where people look for it."""
        _add_to_workers()
        _ask_for_its_scope()
        _add_to_tables()
        _add_to_search()
        _add_to_first_page()
        _add_to_rail()


def _is_admin(user: AnyUser) -> bool:
    return getattr(user, "is_admin", False)


def _is_editor(user: AnyUser) -> bool:
    return getattr(user, "is_editor", False)


def _ask_for_its_scope() -> None:
    from deltaweb.web.accounts.keys import AppScope, app_scopes  # noqa: PLC0415 (as above)
    from deltaweb.web.accounts.models import Scope  # noqa: PLC0415 (models load before ready)

    app_scopes.register(AppScope("sharing", Scope.SHARE))


def _add_to_workers() -> None:
    from deltaweb.web.jobs import kinds  # noqa: PLC0415 (as above)
    from deltaweb.web.tables.extension.clock import dues  # noqa: PLC0415 (as above)

    kinds.load_from(
        "deltaweb.web.sharing.access.grants.preparing",
        "deltaweb.web.sharing.answers.answer_query",
        "deltaweb.web.sharing.recipients.doctor.doctor",
        "deltaweb.web.sharing.recipients.rehearsals.nightly",
        "deltaweb.web.sharing.recipients.telling",
    )
    dues.register(_prepare_due, _rehearse_due, _remind_due)


def _prepare_due(now: datetime) -> None:
    from deltaweb.web.sharing.access.grants import (  # noqa: PLC0415 (reads rows)
        preparing,
    )

    preparing.request_due_preparations(now=now)


def _rehearse_due(now: datetime) -> None:
    from deltaweb.web.sharing.recipients.rehearsals import (  # noqa: PLC0415 (as above)
        nightly,
    )

    nightly.request_due_rehearsals(now=now)


def _remind_due(now: datetime) -> None:
    from deltaweb.web.sharing.recipients import telling  # noqa: PLC0415 (as above)

    telling.request_due_reminders(now=now)


def _add_to_tables() -> None:
    from deltaweb.web.sharing.shares.elsewhere import (  # noqa: PLC0415 (as above)
        name_in_a_share,
        received_badges,
        shared_badges,
        shared_table_ids,
        shares_in_words,
    )
    from deltaweb.web.tables.extension import badges, guards, marks, share_names, tabs  # noqa: PLC0415

    guards.finders.register(_holds_of_recipients)
    guards.guards.register(shares_in_words)
    badges.providers.register(shared_badges, received_badges)
    marks.marks.register(
        marks.Mark(key="shared", tables=shared_table_ids, visible=_is_editor)
    )
    share_names.finders.register(name_in_a_share)
    tabs.tabs.register(
        tabs.Tab(
            label="Sharing",
            url_name="sharing:table-sharing",
            order=90,
            is_for_owners=True,
            visible=_is_editor,
        )
    )
    tabs.buttons.register(
        tabs.HeadButton(
            label="Share…",
            icon="share-3",
            url_name="sharing:table-sharing",
            anchor="#share",
            is_for_owners=True,
            visible=_is_admin,
        )
    )


def _holds_of_recipients(table: Table, now: datetime) -> Iterable[HeldVersions]:
    from deltaweb.web.sharing.recipients.last_reads import (  # noqa: PLC0415 (of vacuums alone)
        holds_of_recipients,
    )

    return holds_of_recipients(table, now)


def _add_to_search() -> None:
    from deltaweb.web.sharing.shares import elsewhere  # noqa: PLC0415 (as above)
    from deltaweb.web.tables.extension import search_kinds  # noqa: PLC0415 (as above)

    search_kinds.kinds.register(
        search_kinds.SearchKind(
            key="share",
            label="Shares",
            icon="share-3",
            order=10,
            find=elsewhere.find_shares,
            hit=elsewhere.share_hit,
            visible=_is_admin,
        ),
        search_kinds.SearchKind(
            key="recipient",
            label="Recipients",
            icon="users",
            order=20,
            find=elsewhere.find_recipients,
            hit=elsewhere.recipient_hit,
            visible=_is_admin,
        ),
    )


def _expiring_tokens(user: AnyUser, now: datetime) -> front_page.KeyNumber | None:
    from deltaweb.web.sharing.recipients.key_numbers import (  # noqa: PLC0415 (the first page alone)
        expiring_tokens,
    )

    return expiring_tokens(user, now)


def _add_to_first_page() -> None:
    front_page.numbers.register(_expiring_tokens)
    front_page.steps.register(
        front_page.FirstStep(
            title="And share",
            text="Put tables into a share and hand each recipient a link of their own.",
            button="New share",
            icon="share-3",
            url_name="sharing:share-new",
            visible=_is_admin,
        )
    )


def _add_to_rail() -> None:
    places = [
        ("Shares", "share-3", "share-list", "/shares/", "/received/"),
        ("Recipients", "users", "recipient-list", "/recipients/"),
        ("Activity", "activity", "activity-list", "/activity/"),
    ]
    for position, (label, icon, view, *prefixes) in enumerate(places):
        navigation.entries.register(
            navigation.NavEntry(
                label=label,
                icon=icon,
                url_name=f"sharing:{view}",
                order=20 + position,
                prefixes=tuple(prefixes),
                visible=_is_admin,
            )
        )
