"""What accounts add to the pages of all apps: a place in the rail, ends of keys."""

from apps.accounts.keys import expiring_keys
from apps.pages import frame
from apps.pages.changes.change import changes

changes.load_from("user", "apps.accounts.changes.users", "apps.accounts.changes.keys")
changes.load_from("me", "apps.accounts.changes.keys")
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
