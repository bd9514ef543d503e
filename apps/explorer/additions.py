"""What the pages of a table add to its head: their tabs."""

from apps.tables.extension.tabs import HeadButton, Tab, buttons, tabs

_PLACES = (
    ("Overview", "table-overview", ()),
    ("Data", "row-list", ("explorer:row-detail",)),
    (
        "Schema",
        "schema-detail",
        ("explorer:column-detail", "explorer:column-history"),
    ),
    ("History", "commit-list", ("explorer:commit-detail",)),
    ("Changes", "change-list", ()),
    ("Compare", "compare-latest", ("explorer:compare-detail",)),
    (
        "Files",
        "file-list",
        (
            "explorer:partition-list",
            "explorer:file-detail",
            "explorer:parquet-detail",
            "explorer:skipping-detail",
        ),
    ),
    ("Readers", "table-readers", ()),
)
tabs.register(
    *(
        Tab(label=label, url_name=f"explorer:{page}", order=order, also=also)
        for order, (label, page, also) in zip(range(10, 90, 10), _PLACES, strict=True)
    )
)
buttons.register(
    HeadButton(
        label="Use this table",
        icon="terminal-2",
        url_name="explorer:table-use",
        order=10,
        keeps=("col", "f"),
        is_primary=False,
        is_drawer=True,
    )
)
