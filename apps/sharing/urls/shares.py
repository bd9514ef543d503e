"""The pages of shares."""

from apps.pages.urls import page
from apps.sharing.views import shares

urlpatterns = [
    *page("shares/", shares.share_list, "share-list", csv=True),
]
