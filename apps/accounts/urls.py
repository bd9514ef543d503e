"""The URLs of accounts."""

from django.urls import path

from apps.accounts.changes.invitations import page as invitations
from apps.accounts.changes.invitations.resource import INVITATIONS
from apps.accounts.groups import page as groups
from apps.accounts.groups.resource import GROUPS
from apps.accounts.selectors import KEYS, USERS
from apps.accounts.views import addresses, administration, me, sign_in, sign_on
from apps.pages.changes.html import change_patterns
from apps.pages.urls import action, answer, page

app_name = "accounts"
urlpatterns = [
    path("sign-in/", sign_in.sign_in, name="sign-in"),
    path("sign-in/sso/", sign_on.begin, name="sso"),
    path("sign-in/sso/callback/", sign_on.callback, name="sso-callback"),
    path("sign-in/sso/logout/", sign_on.log_out, name="sso-logout"),
    path("sign-in/<str:token>/", sign_in.use_link, name="use-link"),
    path("sign-out/", sign_in.sign_out, name="sign-out"),
    path("confirm-address/<str:token>/", addresses.confirm, name="confirm-address"),
    *page("me/", me.me, "me"),
    action("me/password", me.change_password, "change-password"),
    *page("me/keys/", me.key_list, "key-list", csv=True, takes=[KEYS.form]),
    *change_patterns(
        "me",
        failed=dict.fromkeys(
            ("create-key", "set-appearance", "set-email", "send-email-link"), me.refused
        ),
        answered={"create-key": me.with_key},
    ),
    *page(
        "admin-area/",
        administration.user_list,
        "user-list",
        csv=True,
        takes=[USERS.form],
    ),
    answer("users.csv", administration.user_list, "users-csv", fmt="csv"),
    *change_patterns(
        "user",
        failed=dict.fromkeys(
            (
                *("add-user", "make-link", "mail-link"),
                *("set-role", "disable-user", "enable-user"),
            ),
            administration.refused,
        )
        | dict.fromkeys(("invite", "withdraw-invitation"), invitations.refused),
        answered={
            "add-user": administration.added,
            "make-link": administration.with_link,
        },
    ),
    *page(
        "admin-area/invitations/",
        invitations.invitation_list,
        "invitation-list",
        csv=True,
        takes=[INVITATIONS.form],
    ),
    *page(
        "admin-area/groups/",
        groups.group_list,
        "group-list",
        csv=True,
        takes=[GROUPS.form],
    ),
    *page(
        "admin-area/groups/<int:group_id>/",
        groups.group_detail_page,
        "group-detail",
    ),
    *change_patterns("group", failed={"add-group": groups.refused}),
]
