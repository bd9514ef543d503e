"""The Django app `tables`."""

from deltaweb.web.pages import registry


class TablesConfig(registry.AddingApp):
    """The catalogue of tables and what is indexed of them."""

    name = "deltaweb.web.tables"
