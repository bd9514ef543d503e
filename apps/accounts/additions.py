"""What accounts add to the pages of all apps: a place in the rail, ends of keys."""

from django.contrib.auth.signals import user_logged_in

from apps.accounts.lifetimes.keys import expiring_keys
from apps.accounts.lifetimes.sessions import mark_begin, stream_end
from apps.accounts.lifetimes.suspension import end_at_sign_in
from apps.news.ends import ends
from apps.operate import loading
from apps.pages import frame
from apps.pages.changes.change import changes

for noun in ("user", "me"):  # in the same order, which is that of the help
    changes.load_from(
        noun,
        "apps.accounts.changes.users",
        "apps.accounts.changes.invitations.changes",
        "apps.accounts.changes.sign_on",
        "apps.accounts.changes.keys",
        "apps.accounts.changes.appearance",
        "apps.accounts.changes.addresses",
    )
changes.load_from("group", "apps.accounts.groups.changes")
user_logged_in.connect(mark_begin, dispatch_uid="session-age")
user_logged_in.connect(end_at_sign_in, dispatch_uid="suspension")
frame.numbers.register(expiring_keys)
ends.register(stream_end)
loading.modules.register(
    "apps.accounts.sign_on.setup_checks", "apps.accounts.lifetimes.revived"
)
frame.entries.register(
    frame.NavEntry(
        label="Admin",
        icon="settings",
        url_name="accounts:user-list",
        order=900,
        prefixes=("/admin-area/",),
        visible=lambda user: getattr(user, "is_admin", False),
        at_bottom=True,
    )
)
frame.explain(
    "accounts",
    {
        "how-to/manage-accounts/": "user-list invitation-list group-list group-detail",
        "how-to/script-by-rest/": "me key-list",
    },
)
