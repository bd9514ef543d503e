"""The pages of sharing, and the protocol."""

from django.urls import include, path

from apps.pages.changes.html import change_patterns
from apps.pages.urls import action, answer, page
from apps.sharing.activity import views as activity
from apps.sharing.drafts import views as drafts
from apps.sharing.drafts.pages import StepForm
from apps.sharing.issuing import activation_page
from apps.sharing.recipients import views as recipients
from apps.sharing.recipients.changes import token_pages as tokens
from apps.sharing.recipients.doctor import views as doctor
from apps.sharing.recipients.listing import RECIPIENTS
from apps.sharing.recipients.rehearsals import views as rehearsals
from apps.sharing.shares import settings_views, table_sharing
from apps.sharing.shares import views as shares
from apps.sharing.shares.forms import ListForm
from apps.sharing.shares.listing import SHARES
from apps.sharing.shares.parts import page as part
from apps.sharing.shares.received import views as received
from apps.tables.access import pages as access_pages

app_name = "sharing"

SHARE = "shares/<str:name>/"
RECIPIENT = "recipients/<str:name>/"
TOKEN = f"{RECIPIENT}tokens/<uuid:token_id>/"

urlpatterns = [
    # Shares
    *page("shares/", shares.share_list, "share-list", csv=True, takes=[SHARES.form]),
    *page(
        "shares/new", drafts.share_new, "share-new", takes=[StepForm, "as"], posts=True
    ),
    answer("shares/table-options", shares.table_options, "table-options"),
    *page(
        SHARE, shares.share_detail, "share-detail", takes=[ListForm, "edit add lang"]
    ),
    *page(part.ROUTE, part.share_part, "share-part", takes=["as"], posts=True),
    *page(f"{SHARE}settings", settings_views.share_settings, "share-settings"),
    *change_patterns(
        "share",
        failed={
            "share-update": settings_views.settings_again,
            "share-delete": settings_views.deletion_again,
        },
    ),
    *change_patterns(
        "share-request", shown={"request-share": access_pages.request_page}
    ),
    *change_patterns(
        "shared-table",
        failed={
            "shared-table-add": shares.add_again,
            "shared-table-update": shares.edit_again,
            "table-share": table_sharing.add_again,
            "table-share-update": table_sharing.edit_again,
            "table-share-rule": table_sharing.rule_again,
        },
        before={"shared-table-add": part.part_of_new},
    ),
    *change_patterns("schema"),
    *change_patterns("grant", failed={"grant-add": shares.grant_again}),
    *page(
        "t/<str:namespace>/<str:name>/sharing",
        table_sharing.table_sharing,
        "table-sharing",
        takes=["v", "edit rule"],
    ),
    # What others share with us
    *page("received/", received.received_list, "received-list"),
    action("received/add", received.received_add, "received-add"),
    *change_patterns("received"),
    # Recipients and their tokens
    *page(
        "recipients/",
        recipients.recipient_list,
        "recipient-list",
        csv=True,
        takes=[RECIPIENTS.form],
    ),
    answer("reminders.atom", recipients.reminder_feed, "reminder-feed"),
    *page(RECIPIENT, recipients.recipient_detail, "recipient-detail"),
    *change_patterns(
        "recipient",
        shown={
            "recipient-settings": recipients.recipient_settings,
            "recipient-grants": recipients.recipient_grants,
            "recipient-rehearsals": rehearsals.recipient_rehearsals,
            "recipient-new": tokens.recipient_new,
            "token-new": tokens.token_new,
            "token-rotate": tokens.token_rotate,
            "client-new": tokens.client_new,
            "token-retire": tokens.token_retire,
            "token-revoke": tokens.token_revoke,
        },
        answered={
            "recipient-new": tokens.issued,
            "token-new": tokens.issued,
            "token-rotate": tokens.issued,
            "client-new": tokens.issued,
            "token-link": tokens.link_issued,
            "token-profile": tokens.profile_issued,
        },
        failed={
            "recipient-limits": recipients.limits_failed,
            "recipient-delete": recipients.delete_failed,
        },
    ),
    *page(f"{RECIPIENT}usage", recipients.recipient_usage, "recipient-usage", csv=True),
    *page(
        f"{RECIPIENT}seen",
        recipients.recipient_seen,
        "recipient-seen",
        takes=["share pageToken"],
    ),
    *page(
        f"{RECIPIENT}doctor", doctor.recipient_doctor, "recipient-doctor", posts=True
    ),
    *page(f"{TOKEN}client", tokens.client_profile, "client-profile"),
    path("activate/<str:nonce>", activation_page.activation, name="activate"),
    # What was done, and the protocols
    *page(
        "activity/",
        activity.activity_list,
        "activity-list",
        csv=True,
        takes=[activity.ACTIVITY.form],
    ),
    path("delta-sharing/", include("apps.sharing.api.urls")),
    path("iceberg/", include("apps.sharing.api.iceberg.urls")),
]
