"""The URLs of accounts."""

from django.urls import path

from deltaweb.web.accounts.selectors import KEYS, USERS
from deltaweb.web.accounts.views import administration, me, sign_in
from deltaweb.web.pages.urls import page

app_name = "accounts"
urlpatterns = [
    path("sign-in/", sign_in.sign_in, name="sign-in"),
    path("sign-in/<str:token>/", sign_in.use_link, name="use-link"),
    path("sign-out/", sign_in.sign_out, name="sign-out"),
    *page("me/", me.me, "me"),
    path("me/appearance", me.set_appearance, name="set-appearance"),
    path("me/password", me.change_password, name="change-password"),
    *page("me/keys/", me.key_list, "key-list", csv=True, takes=[KEYS.form]),
    path("me/keys", me.create_key, name="create-key"),
    path("me/keys/<uuid:key_id>/revoke", me.revoke_key, name="revoke-key"),
    *page(
        "admin-area/",
        administration.user_list,
        "user-list",
        csv=True,
        takes=[USERS.form],
    ),
    path("users.csv", administration.user_list, {"fmt": "csv"}, name="users-csv"),
    path("admin-area/users", administration.add_user, name="add-user"),
    path(
        "admin-area/users/<int:user_id>/role", administration.set_role, name="set-role"
    ),
    path(
        "admin-area/users/<int:user_id>/disable",
        administration.disable_user,
        name="disable-user",
    ),
    path(
        "admin-area/users/<int:user_id>/enable",
        administration.enable_user,
        name="enable-user",
    ),
    path(
        "admin-area/users/<int:user_id>/link",
        administration.make_link,
        name="make-link",
    ),
]
