"""What accounts add to the pages of all apps: a place in the rail, ends of keys."""

from apps.accounts.keys import expiring_keys
from apps.pages import frame
from apps.pages.changes.change import changes

for noun in ("user", "me"):  # in the same order, which is that of the help
    changes.load_from(
        noun,
        "apps.accounts.changes.users",
        "apps.accounts.changes.keys",
        "apps.accounts.changes.appearance",
    )
changes.load_from("group", "apps.accounts.groups.changes")
frame.numbers.register(expiring_keys)
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
        "how-to/manage-accounts/": "user-list group-list group-detail",
        "how-to/script-by-rest/": "me key-list",
    },
)
