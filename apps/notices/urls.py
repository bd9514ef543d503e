"""The URLs of notifications."""

from apps.notices.views import following, received, webhooks
from apps.pages.changes.html import change_patterns
from apps.pages.urls import answer, page

app_name = "notices"
urlpatterns = [
    *page(
        "notifications/",
        received.received,
        "received",
        csv=True,
        takes=[received.NOTICES.form],
    ),
    answer("notifications/bell", received.bell, "bell"),
    answer("notifications/bell/count", received.bell_count, "bell-count"),
    answer("notifications/<int:notice_id>/open", received.open_notice, "open"),
    *page(
        "notifications/following/",
        following.following,
        "following",
        takes=[following.FollowingForm],
    ),
    answer(
        "notifications/following/<int:follow_id>/count", following.count, "follow-count"
    ),
    *page(
        "notifications/webhooks/",
        webhooks.webhook_list,
        "webhooks",
        takes=[webhooks.WebhooksForm],
    ),
    *change_patterns(
        "follow",
        failed=dict.fromkeys(("follow-begin", "follow-change"), following.refused),
        answered={"follow-begin": following.began},
    ),
    *change_patterns(
        "webhook",
        failed=dict.fromkeys(("webhook-add", "webhook-change"), webhooks.refused),
        answered=dict.fromkeys(
            ("webhook-add", "webhook-new-secret"), webhooks.with_secret
        ),
    ),
]
