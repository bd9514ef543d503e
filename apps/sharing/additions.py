"""What sharing adds to the apps below: to tables, search, first page, rail and workers.

Every command loads this module. What few of them need is loaded when it is named, by
the faces of its packages.
"""

from collections.abc import Collection
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from apps.accounts.models import Scope
from apps.accounts.permissions import app_scopes
from apps.jobs import kinds
from apps.notices.following import subjects as followed_subjects
from apps.operate import loading
from apps.pages import frame
from apps.pages.actions import recorders
from apps.pages.changes.change import changes
from apps.pages.frame import AnyUser
from apps.sharing import access, activity, clients, health, recipients
from apps.sharing.access import grants
from apps.sharing.health.words import WORDS as RULE_WORDS
from apps.sharing.models import Recipient, Share, SharedTable
from apps.tables.extension import guards, marks, requestables, tabs
from apps.tables.extension.clock import dues
from apps.tables.extension.health_rules import daily, rules_of_apps
from apps.tables.extension.indexed import adds_facts
from apps.tables.extension.marks import Badge
from apps.tables.extension.search_actions import SearchAction, Target
from apps.tables.extension.search_actions import actions as search_actions
from apps.tables.extension.search_kinds import Hit, SearchKind
from apps.tables.extension.search_kinds import kinds as search_kinds
from apps.tables.models import Table
from apps.tables.models.rights import SHARE
from deltaweb.storage.location import RECEIVED
from deltaweb.words import counted

MAX_TARGETS = 5  # that an action of the search is offered for


def _is_admin(user: AnyUser) -> bool:
    return getattr(user, "is_admin", False)


def _is_editor(user: AnyUser) -> bool:
    return getattr(user, "is_editor", False)


# === Tables ===


def shared_badges(user: AnyUser, table_ids: Collection[UUID]) -> dict[UUID, Badge]:
    """Return a badge for each table that is in a share; viewers do not see them."""
    if not getattr(user, "is_editor", False):
        return {}
    counts = (
        SharedTable.objects.filter(table__in=table_ids)
        .order_by()
        .values_list("table")
        .annotate(shares=Count("share", distinct=True))
    )
    return {
        table_id: Badge(
            label="shared",
            icon="share-3",
            title=f"in {counted(shares, 'share')}",
        )
        for table_id, shares in counts
    }


def received_badges(_: AnyUser, table_ids: Collection[UUID]) -> dict[UUID, Badge]:
    """Return a badge for each table that is somebody else's."""
    found = Table.objects.filter(id__in=table_ids, location__startswith=RECEIVED)
    return {
        table_id: Badge(
            label=f"received from {location.removeprefix(RECEIVED).partition('/')[0]}",
            icon="share-3",
            title="It belongs to its provider: you can read it but not change it",
        )
        for table_id, location in found.values_list("id", "location")
    }


def shared_table_ids() -> QuerySet[SharedTable, UUID]:
    """Return the ids of the tables that are in a share."""
    return SharedTable.objects.order_by().values_list("table_id", flat=True)


def name_in_a_share(user: AnyUser, table_id: UUID) -> str:
    """Return what recipients call a table with its history; viewers do not see it."""
    if not getattr(user, "is_editor", False):
        return ""
    shared = SharedTable.objects.with_their_history().filter(table=table_id)
    names = (
        clients.snippets.TableName(share=share, schema=schema, name=name)
        for share, schema, name in shared.order_by(
            "share__name", "schema", "name"
        ).values_list("share__name", "schema", "name")
    )
    return next((name.full_name for name in names if name.is_addressable), "")


def shares_in_words(table: Table) -> list[str]:
    """Return the shares that hold a table, each as "the share sales"."""
    shares = Share.objects.filter(shared_tables__table=table).distinct()
    return [f"the share {share.name}" for share in shares]


# === The search ===


def find_shares(_: AnyUser, text: str) -> QuerySet[Share]:
    """Return the shares whose name or comment holds a text."""
    return Share.objects.filter(Q(name__icontains=text) | Q(comment__icontains=text))


def find_recipients(_: AnyUser, text: str) -> QuerySet[Recipient]:
    """Return the recipients whose name, contact or comment holds a text."""
    return Recipient.objects.filter(
        Q(name__icontains=text)
        | Q(contact__icontains=text)
        | Q(comment__icontains=text)
    )


def share_hit(share: Share) -> Hit:
    """Return a share as a list of what was found shows it."""
    return Hit(name=share.name, about=share.comment, url=share.get_absolute_url())


def recipient_hit(recipient: Recipient) -> Hit:
    """Return a recipient as a list of what was found shows it."""
    return Hit(
        name=recipient.name, about=recipient.about, url=recipient.get_absolute_url()
    )


def recipient_targets(user: AnyUser, text: str) -> list[Target]:
    """Return the recipients whose name holds a text."""
    del user
    named = Recipient.objects.filter(name__icontains=text).order_by("name")
    names = named.values_list("name", flat=True)[:MAX_TARGETS]
    return [Target(name=name, args=(name,)) for name in names]


# === What is added ===

loading.modules.register("apps.sharing.issuing.revived")
app_scopes.register(("sharing", Scope.SHARE))
changes.load_from(
    "recipient",
    "apps.sharing.recipients.changes.settings",
    "apps.sharing.activity.views",
    "apps.sharing.recipients.holds",
    "apps.sharing.recipients.changes.care",
    "apps.sharing.recipients.changes.grants",
    "apps.sharing.recipients.changes.new_tokens",
    "apps.sharing.recipients.changes.tokens",
    "apps.sharing.portal.switches",
    "apps.sharing.shares.tables.plain",
)
changes.load_from(
    "share",
    "apps.sharing.shares.schemas",
    "apps.sharing.shares.table_sharing",
    "apps.sharing.shares.changes",
    "apps.sharing.clients.field_ids",
    "apps.sharing.shares.tables.changes",
    "apps.sharing.shares.tables.rules",
    "apps.sharing.portal.switches",
    "apps.sharing.shares.tables.plain",
)
changes.load_from("grant", "apps.sharing.shares.grants")
changes.load_from("received", "apps.sharing.shares.received.changes")
changes.load_from("share-request", "apps.sharing.access.requests")
requestables.kinds.register(
    requestables.RequestableKind(
        name="share",
        listed=lambda user, text: access.requests.listed_shares(user, text),  # noqa: PLW0108 (loads it)
        named=lambda user, name: access.requests.listed_share(user, name),  # noqa: PLW0108 (as above)
        by_keys=lambda keys: access.requests.shares_of_keys(keys),  # noqa: PLW0108 (as above)
    )
)
changes.load_from("schema", "apps.sharing.shares.schemas")
changes.load_from(
    "shared-table",
    "apps.sharing.shares.tables.changes",
    "apps.sharing.shares.tables.rules",
)
kinds.load_from(
    "apps.sharing.access.grants.preparing",
    "apps.sharing.access.grants.seen_rows",
    "apps.sharing.answers.answer_query",
    "apps.sharing.portal.mail_sign_in",
    "apps.sharing.portal.reading",
    "apps.sharing.recipients.doctor.doctor",
    "apps.sharing.recipients.rehearsals.nightly",
    "apps.sharing.recipients.telling",
)
recorders.register(
    lambda action: health.examining.follow_action(action)  # noqa: PLW0108 (loads it)
)
daily.register(
    lambda now: health.examining.examine_sharing(now)  # noqa: PLW0108 (as above)
)
grants.emptied.register(
    lambda now: health.examining.examine_quietly(now)  # noqa: PLW0108 (as above)
)
rules_of_apps.register(*RULE_WORDS)
dues.register(
    lambda now: grants.preparing.request_due_preparations(now=now),
    lambda now: recipients.rehearsals.nightly.request_due_rehearsals(now=now),
    lambda now: recipients.telling.request_due_reminders(now=now),
    lambda now: activity.notices.report_budgets(now),  # noqa: PLW0108 (as above)
)
adds_facts.register(
    lambda facts, table, now: health.table_use.with_use(facts, table, now)  # noqa: PLW0108 (as above)
)
guards.finders.register(
    lambda table, now: recipients.last_reads.holds_of_recipients(table, now)  # noqa: PLW0108 (loads it)
)
guards.guards.register(shares_in_words)
marks.badges.register(shared_badges, received_badges)
marks.marks.register(
    marks.Mark(key="shared", tables=shared_table_ids, visible=_is_editor)
)
marks.share_names.register(name_in_a_share)
tabs.tabs.register(
    tabs.Tab(
        label="Sharing",
        url_name="sharing:table-sharing",
        order=90,
        is_for_owners=True,
        visible=_is_editor,
        or_right=SHARE,
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
followed_subjects.load_from("apps.sharing.activity.followed")
search_kinds.register(
    SearchKind(
        key="share",
        label="Shares",
        icon="share-3",
        order=10,
        find=find_shares,
        hit=share_hit,
        visible=_is_admin,
    ),
    SearchKind(
        key="recipient",
        label="Recipients",
        icon="users",
        order=20,
        find=find_recipients,
        hit=recipient_hit,
        visible=_is_admin,
    ),
)
search_actions.register(
    SearchAction(
        label="New share",
        synonyms="create make",
        url_name="sharing:share-new",
        visible=_is_admin,
    ),
    SearchAction(
        label="New recipient",
        synonyms="create make",
        url_name="sharing:recipient-new",
        visible=_is_admin,
    ),
    SearchAction(
        label="Rotate the token of",
        synonyms="tokens recipient",
        url_name="sharing:token-rotate",
        targets=recipient_targets,
        visible=_is_admin,
    ),
    SearchAction(
        label="Issue a token for",
        synonyms="new tokens recipient activation link",
        url_name="sharing:token-new",
        targets=recipient_targets,
        visible=_is_admin,
    ),
)
frame.numbers.register(
    lambda user, now: recipients.token_states.expiring_tokens(user, now)  # noqa: PLW0108 (as above)
)
frame.steps.register(
    frame.FirstStep(
        title="Share",
        text="Put tables into a share, and send each recipient a link.",
        button="New share",
        icon="share-3",
        url_name="sharing:share-new",
        visible=_is_admin,
    )
)
frame.entries.register(
    *(
        frame.NavEntry(
            label=label,
            icon=icon,
            url_name=f"sharing:{view}",
            order=20 + position,
            prefixes=tuple(prefixes),
            visible=_is_admin,
        )
        for position, (label, icon, view, *prefixes) in enumerate(
            (
                ("Shares", "share-3", "share-list", "/shares/", "/received/"),
                ("Recipients", "users", "recipient-list", "/recipients/"),
                ("Activity", "activity", "activity-list", "/activity/"),
            )
        )
    )
)
frame.explain(
    "sharing",
    {
        "guide/share/": "share-list share-detail share-settings table-sharing",
        "how-to/request-access/": "request-share",
        "how-to/share-with-a-company/": "share-new recipient-new",
        "guide/share-a-part/": "share-part",
        "how-to/receive-a-share/": "received-list",
        "how-to/rotate-a-token/": (
            "token-new token-rotate token-retire token-revoke recipient-detail"
        ),
        "how-to/examine-a-connection/": "recipient-list recipient-doctor",
        "how-to/share-in-the-browser/": "recipient-settings",
        "how-to/rehearse-what-a-recipient-reads/": (
            "recipient-rehearsals recipient-seen recipient-grants"
        ),
        "how-to/what-a-share-costs/": "recipient-usage",
        "how-to/oauth/": "client-new client-profile",
        "how-to/who-read-what/": "activity-list",
    },
)
