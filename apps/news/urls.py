"""The URLs of news."""

from django.urls import path

from apps.news import views

app_name = "news"
urlpatterns = [path("news", views.news, name="news")]
