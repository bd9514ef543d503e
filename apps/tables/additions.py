"""What the catalogue adds to the apps below, and to the heads of its own tables."""

from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from importlib import import_module
from uuid import UUID

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error

from apps.accounts.groups.resource import grants_of_groups
from apps.accounts.models import User
from apps.jobs import kinds, visibility
from apps.news.topics import topics
from apps.notices.events.visibility import SubjectsOfEvents, subjects_of_events
from apps.notices.following import subjects as followed_subjects
from apps.notices.following.concerned import Concerned, concerned
from apps.operate import loading
from apps.pages import errors, frame
from apps.pages.changes.change import changes
from apps.tables import access, health
from apps.tables.extension import clock, health_rules, indexed, marks, tabs
from apps.tables.extension.marks import Badge, Mark
from apps.tables.extension.search_actions import SearchAction
from apps.tables.extension.search_actions import actions as search_actions
from apps.tables.extension.search_kinds import Hit, SearchKind
from apps.tables.extension.search_kinds import kinds as search_kinds
from apps.tables.head.error_frame import table_frame
from apps.tables.models import Table
from apps.tables.models.news import TOPICS
from apps.tables.models.rights import EDIT, VIEW
from apps.tables.models.subjects import (
    about_tables_with,
    subject_links,
    subjects_named,
)
from apps.tables.storage.locations import parse_root
from deltaweb.delta.errors import LocationInvalidError
from deltaweb.environment.checks import SETTINGS

# === Tables that their lake no longer has ===

BADGE = Badge(
    label="vanished",
    icon="database-off",
    title="The newest scan of its lake did not find it",
)


def vanished_badges(
    _: frame.AnyUser, table_ids: Collection[UUID]
) -> Mapping[UUID, Badge]:
    """Return the badge of those of some tables that are gone."""
    gone = Table.objects.filter(id__in=table_ids, vanished_at__isnull=False)
    return dict.fromkeys(gone.values_list("id", flat=True), BADGE)


def _is_user(user: frame.AnyUser) -> bool:
    return bool(user.is_authenticated)


def _is_editor(user: frame.AnyUser) -> bool:
    return getattr(user, "is_editor", False)


def _is_admin(user: frame.AnyUser) -> bool:
    return getattr(user, "is_admin", False)


def visible_table_ids(user: User, ids: Collection[str]) -> Collection[str]:
    """Return those of some ids whose tables a user may see."""
    seen = Table.objects.visible_to(user).filter(id__in=ids)
    return [str(one) for one in seen.values_list("id", flat=True)]


def viewers_of_tables(
    users: Collection[User], ids: Collection[str]
) -> Mapping[str, AbstractSet[int]]:
    """Return the viewers of tables; the module is loaded by the first event."""
    people = import_module("apps.tables.permissions.people")
    found: Mapping[str, AbstractSet[int]] = people.viewers_of_tables(users, ids)
    return found


def found_by(module: str, name: str) -> Callable[[frame.AnyUser, str], Sequence[Hit]]:
    """Return what finds a kind; its module is loaded by the first search."""

    def find(user: frame.AnyUser, text: str) -> Sequence[Hit]:
        found = import_module(f"apps.tables.catalogue.search.{module}")
        hits: Sequence[Hit] = getattr(found, name)(user, text)
        return hits

    return find


MARK = Mark(
    key="vanished",
    tables=lambda: Table.objects.filter(vanished_at__isnull=False).values_list(
        "id", flat=True
    ),
    visible=lambda _: True,
)


# === Allowed roots that allow nothing ===


def check_roots(
    app_configs: Sequence[AppConfig] | None,
    **_: object,
) -> list[CheckMessage]:
    """Name each URL among the allowed roots that is no bucket of an object store."""
    del app_configs
    found: list[CheckMessage] = []
    for root in settings.ALLOWED_ROOTS or []:
        try:
            parse_root(root)
        except LocationInvalidError as error:
            said = f"DELTAWEB_ALLOWED_ROOTS: {error.message}"
            found.append(Error(said, hint=error.hint, id="tables.E001"))
    return found


# === What is added ===

checks.register(check_roots, SETTINGS)
frame.entries.register(
    frame.NavEntry(
        label="Catalog",
        icon="database",
        url_name="tables:table-list",
        order=10,
        prefixes=("/tables", "/t/", "/n/", "/requests", "/search"),
    )
)
frame.entries.register(
    frame.NavEntry(
        label="Health",
        icon="shield",
        url_name="tables:finding-list",
        order=15,
        prefixes=("/health",),
    )
)
health_rules.rules_of_apps.register(
    health_rules.HealthRule(
        name="repeat-fails",
        title="A schedule fails",
        about="The table is not maintained, so reads and storage cost more each day.",
        advice="Read the last error, remove its cause, and run the operation by hand.",
    )
)
frame.numbers.register(
    lambda user, now: health.listing.findings_number(user, now)  # noqa: PLW0108 (loads it)
)
clock.dues.register(
    lambda now: health.examining.request_due_examination(now=now),
    lambda now: health.examining.follow_repeats(now=now),
    lambda now: health.lateness.report_late(now),  # noqa: PLW0108 (loads it)
)
indexed.followers.register(
    lambda table, now: health.examining.examine_new_index(table, now=now)
)
tabs.tabs.register(
    tabs.Tab(
        label="Maintenance",
        url_name="tables:table-maintenance",
        order=85,
        also=(
            "tables:table-vacuum",
            "tables:table-optimize",
            "tables:table-restore",
            "tables:table-undo",
            "tables:table-checkpoint",
            "tables:table-cleanup",
        ),
        picks=("tables:table-restore", "tables:table-undo"),
        is_for_owners=True,
        right=EDIT,
    )
)
tabs.tabs.register(
    tabs.Tab(
        label="Access",
        url_name="tables:table-access",
        order=95,
        count=lambda user, table: access.counts.open_requests(user, table),  # noqa: PLW0108 (loads it)
        counted="open requests",
    )
)
visibility.subjects_of_jobs.register(
    visibility.Subjects(
        seen_by=lambda user: about_tables_with(user, VIEW),
        viewers=viewers_of_tables,
        editable_by=lambda user: about_tables_with(user, EDIT),
        links=subject_links,
        named=subjects_named,
    )
)
subjects_of_events.register(
    SubjectsOfEvents(
        kind="table", visible_ids=visible_table_ids, viewers=viewers_of_tables
    )
)
followed_subjects.load_from("apps.tables.head.followed")
subjects_of_events.register(
    SubjectsOfEvents(
        kind="request",
        visible_ids=lambda user, ids: access.counts.visible_requests(user, ids),  # noqa: PLW0108 (loads it)
        url=lambda key: access.counts.url_of_request(key),  # noqa: PLW0108 (loads it)
    )
)
grants_of_groups.register(
    lambda group, now: access.counts.grants_of_group(group, now)  # noqa: PLW0108 (loads it)
)
concerned.register(
    Concerned(
        kinds=("access.requested",),
        people=lambda events, now: access.concerned.deciders(events, now),  # noqa: PLW0108 (loads it)
    ),
    Concerned(
        kinds=("access.decided",),
        people=lambda events, now: access.concerned.requesters(events, now),  # noqa: PLW0108 (loads it)
    ),
)
frame.numbers.register(
    lambda user, now: access.counts.requests_number(user, now)  # noqa: PLW0108 (loads it)
)
changes.load_from(
    "access",
    "apps.tables.access.requesting",
    "apps.tables.access.deciding",
    "apps.tables.access.granting",
)
search_kinds.register(
    *(
        SearchKind(
            key=key,
            label=label,
            icon=icon,
            order=order,
            find=found_by(module, name),
            visible=visible,
        )
        for key, label, icon, order, module, name, visible in (
            ("action", "Actions", "bolt", -20, "actions", "found_actions", _is_user),
            (
                "version",
                "Versions",
                "git-commit",
                -10,
                "versions",
                "found_versions",
                _is_user,
            ),
            (
                "listed",
                "Access on request",
                "lock",
                25,
                "listed",
                "found_listed",
                _is_user,
            ),
            ("writer", "Writers", "user", 30, "people", "found_writers", _is_user),
            ("person", "People", "users", 40, "people", "found_accounts", _is_admin),
            ("help", "Help pages", "help", 50, "sections", "found_help", _is_user),
        )
    )
)
search_actions.register(
    *(
        SearchAction(
            label=label,
            synonyms=synonyms,
            url_name=f"tables:{page}",
            visible=_is_editor,
        )
        for label, synonyms, page in (
            ("Register a table", "add new", "table-register"),
            ("Scan a folder or bucket", "lake browse s3", "lake-new"),
            ("Create a table", "new empty", "table-new-create"),
            ("Import a file into a new table", "upload csv", "table-new-import"),
            ("Convert a folder of Parquet files", "", "table-new-convert"),
        )
    )
)
marks.badges.register(vanished_badges)
marks.marks.register(MARK)
errors.frames.register(table_frame)
loading.modules.register(
    "apps.tables.extension.metrics",
    "apps.tables.extension.revived",
    "apps.tables.extension.setup_checks",
    "apps.tables.catalogue.lakes.setup_checks",
)
topics.register(*TOPICS)
changes.load_from("namespace", "apps.tables.access.namespaces")
changes.load_from(
    "health", "apps.tables.health.changes", "apps.tables.health.thresholds"
)
changes.load_from(
    "lake", "apps.tables.catalogue.lakes.changes", "apps.tables.catalogue.lakes.keys"
)
changes.load_from("storage", "apps.tables.storage.changes")
changes.load_from(
    "table", "apps.tables.catalogue.changes", "apps.tables.health.repeats.changes"
)
changes.load_from("pin", "apps.tables.catalogue.organizing.pins")
changes.load_from("new-table", "apps.tables.catalogue.registering")
kinds.load_from(
    "apps.tables.catalogue.adding.work",
    "apps.tables.catalogue.checks",
    "apps.tables.catalogue.adding.samples",
    "apps.tables.index.received_checks",
    "apps.tables.index.refresh",
    "apps.tables.catalogue.lakes.scan_job",
    "apps.tables.health.examining",
    "apps.tables.operations",
    "apps.tables.work",
)
frame.explain(
    "tables",
    {
        "how-to/find-a-table/": "table-list table-tree search table-settings",
        "five-minutes/": "table-register table-new-create",
        "how-to/browse-a-bucket/": "lake-new lake-list lake-detail",
        "how-to/request-access/": (
            "table-access namespace-access request-list listed-list request-table"
            " request-namespace"
        ),
        "how-to/convert-parquet/": "table-new-convert",
        "how-to/import-a-csv-with-bad-rows/": "table-new-import table-import",
        "how-to/what-would-a-vacuum-delete/": "table-maintenance table-vacuum",
        "how-to/what-health-tells-you/": "finding-list rule-list",
        "how-to/compact/": "table-optimize table-checkpoint table-cleanup",
        "how-to/version-before-a-bad-write/": "table-restore",
        "how-to/undo-a-commit/": "table-undo",
        "how-to/rename-and-drop-columns/": "table-columns table-comments",
        "how-to/add-a-check/": "table-constraints",
        "how-to/widen-a-column/": "table-protocol table-properties",
        "guide/write/": "table-delete-rows table-update-rows",
    },
)
