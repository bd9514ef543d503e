"""Messages for the next page, in a cookie that stays below the public URL's path."""

from typing import Any

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage
from django.http import HttpResponseBase


class PrefixedCookieStorage(CookieStorage):
    """Django's cookie, with the path of the session's, for which it has no setting."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 (Django's own)
        super().__init__(*arguments, **named)
        self.cookie_name = settings.MESSAGES_COOKIE_NAME

    def _update_cookie(self, encoded_data: Any, response: HttpResponseBase) -> None:  # noqa: ANN401 (as above)
        super()._update_cookie(encoded_data, response)  # type: ignore[misc]  # not in the stubs
        if self.cookie_name in response.cookies:
            response.cookies[self.cookie_name]["path"] = settings.SESSION_COOKIE_PATH


class PrefixedStorage(FallbackStorage):
    """The cookie while messages fit into it, then the session."""

    storage_classes = (PrefixedCookieStorage, SessionStorage)
