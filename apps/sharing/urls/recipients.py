"""The pages of recipients and their tokens, and the activation page."""

from django.urls import path

from apps.pages.urls import page
from apps.sharing.views import activation, recipients, tokens

ONE = "recipients/<str:name>/"
TOKEN = f"{ONE}tokens/<uuid:token_id>/"

urlpatterns = [
    *page("recipients/", recipients.recipient_list, "recipient-list", csv=True),
    *page("recipients/new", recipients.recipient_new, "recipient-new"),
    *page(ONE, recipients.recipient_detail, "recipient-detail"),
    *page(f"{ONE}grants", recipients.recipient_grants, "recipient-grants"),
    *page(f"{ONE}settings", recipients.recipient_settings, "recipient-settings"),
    path(f"{ONE}delete", recipients.recipient_delete, name="recipient-delete"),
    *page(f"{ONE}tokens/new", tokens.token_new, "token-new"),
    *page(f"{ONE}tokens/rotate", tokens.token_rotate, "token-rotate"),
    path(f"{TOKEN}link", tokens.token_link, name="token-link"),
    path(f"{TOKEN}profile", tokens.token_profile, name="token-profile"),
    *page(f"{TOKEN}revoke", tokens.token_revoke, "token-revoke"),
    *page(f"{TOKEN}retire", tokens.token_retire, "token-retire"),
    path("activate/<str:nonce>", activation.activation, name="activate"),
]
