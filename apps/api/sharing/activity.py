"""What was asked and changed."""

from deltaweb.web.api.endpoint import RestView, Role
from deltaweb.web.api.pages import list_of, page_endpoint
from deltaweb.web.sharing import urls
from deltaweb.web.sharing.activity.views import ACTIVITY


class Activity(RestView):
    """The record."""

    get = page_endpoint(
        urls.urlpatterns,
        "activity-list",
        list_of(ACTIVITY),
        "List what recipients asked and what people changed, the newest first.",
        role=Role.ADMIN,
    )
