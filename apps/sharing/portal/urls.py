"""The addresses of the page of a recipient."""

from django.urls import path

from apps.sharing.portal import (
    changes_page,
    downloads,
    mail_sign_in,
    offer,
    rotation,
    sign_in,
    table_page,
)

app_name = "portal"
TABLE = "t/<str:share>/<str:schema>/<str:table>"

urlpatterns = [
    path("", offer.tables, name="tables"),
    path("sign-in", sign_in.sign_in, name="sign-in"),
    path("sign-in/by-mail", mail_sign_in.ask, name="mail"),
    path("sign-in/<str:secret>", mail_sign_in.follow, name="mail-link"),
    path("sign-out", sign_in.sign_out, name="sign-out"),
    path("rotate", rotation.ask, name="rotate"),
    path("rotate/now", rotation.rotate_now, name="rotate-now"),
    path(TABLE, table_page.rows, name="table"),
    path(f"{TABLE}/changes", changes_page.changes, name="changes"),
    path(f"{TABLE}/download", downloads.download, name="download"),
    path(f"{TABLE}/file", downloads.waiting, name="waiting"),
]
