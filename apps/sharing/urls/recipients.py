"""The pages of recipients."""

from apps.pages.urls import page
from apps.sharing.views import recipients

urlpatterns = [
    *page("recipients/", recipients.recipient_list, "recipient-list", csv=True),
]
