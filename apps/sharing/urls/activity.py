"""The pages of activity."""

from apps.pages.urls import page
from apps.sharing.views import activity

urlpatterns = [
    *page("activity/", activity.activity_list, "activity-list", csv=True),
]
