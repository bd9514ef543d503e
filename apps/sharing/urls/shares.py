"""The pages of shares, and the tab of a table's pages."""

from django.urls import path

from apps.pages.urls import page
from apps.sharing.views import share_settings, shares, table_sharing, wizard

urlpatterns = [
    *page("shares/", shares.share_list, "share-list", csv=True),
    *page("shares/new", wizard.share_new, "share-new"),
    path("shares/table-options", shares.table_options, name="table-options"),
    *page("shares/<str:name>/", shares.share_detail, "share-detail"),
    *page(
        "shares/<str:name>/settings", share_settings.share_settings, "share-settings"
    ),
    path("shares/<str:name>/update", share_settings.share_update, name="share-update"),
    path("shares/<str:name>/delete", share_settings.share_delete, name="share-delete"),
    path(
        "shares/<str:name>/tables/add", shares.shared_table_add, name="shared-table-add"
    ),
    path(
        "shares/<str:name>/tables/<uuid:table_id>/update",
        shares.shared_table_update,
        name="shared-table-update",
    ),
    path(
        "shares/<str:name>/tables/<uuid:table_id>/remove",
        shares.shared_table_remove,
        name="shared-table-remove",
    ),
    path("shares/<str:name>/recipients/add", shares.grant_add, name="grant-add"),
    path(
        "shares/<str:name>/recipients/remove", shares.grant_remove, name="grant-remove"
    ),
    *page(
        "t/<str:namespace>/<str:name>/sharing",
        table_sharing.table_sharing,
        "table-sharing",
    ),
]
