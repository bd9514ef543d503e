"""A field of a compared schema says what its metadata means, and shows no Python."""

from django.template.loader import render_to_string

from deltaweb.delta.changes.schema import FieldState


def test_metadata_is_in_words_where_they_are_known() -> None:
    metadata = {
        "delta.typeChanges": [{"fromType": "short", "toType": "long"}],
        "CURRENT_DEFAULT": "42",
        "of.ours": {"owner": "etl"},
    }
    field = FieldState("bigint", nullable=True, comment=None, metadata=metadata)

    shown = render_to_string("explorer/compare/_field.html", {"field": field})

    assert "widened smallint to bigint" in shown
    assert "default 42" in shown
    assert "of.ours {&quot;owner&quot;: &quot;etl&quot;}" in shown
    assert "&#x27;" not in shown
