"""The Django app `sharing`."""

from deltaweb.web.pages import registry


class SharingConfig(registry.AddingApp):
    """Shares, recipients, and the Delta Sharing protocol."""

    name = "deltaweb.web.sharing"
