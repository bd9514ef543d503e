"""What the pages over tables add: tabs, a search action and their help."""

from apps.pages.frame import NavEntry, TourStep, entries, explain, tour
from apps.tables.extension.search_actions import SearchAction, actions
from apps.tables.extension.tabs import HeadButton, Tab, buttons, tabs

_PLACES = (
    ("Overview", "table-overview", ()),
    (
        "Data",
        "row-list",
        (
            "explorer:row-detail",
            "explorer:row-by-key",
            "explorer:row-list-csv",
            "explorer:row-file-parquet",
            "explorer:row-file-xlsx",
        ),
    ),
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
entries.register(
    NavEntry(
        label="What changed",
        icon="git-commit",
        url_name="explorer:what-changed",
        order=30,
        prefixes=("/what-changed/",),
    )
)
actions.register(
    SearchAction(
        label="What changed",
        synonyms="yesterday recent commits of all tables",
        url_name="explorer:what-changed",
    )
)
explain(
    "explorer",
    {
        "tour/": "dashboard",
        "how-to/find-and-download-rows/": "row-list",
        "how-to/look-at-rows/": "row-detail row-by-key",
        "tour/#what-is-in-this-table": "table-overview",
        "how-to/read-a-schema/": "schema-detail column-history",
        "how-to/profile-columns/": "column-detail",
        "how-to/who-changed-a-table/": "commit-list commit-detail",
        "how-to/what-changed/": "what-changed",
        "how-to/compare-two-versions/": (
            "change-list compare-latest compare-detail compare-named"
        ),
        "how-to/why-is-my-table-slow/": (
            "file-list file-detail parquet-detail partition-list place-detail"
        ),
        "how-to/what-a-filter-reads/": "skipping-detail",
        "how-to/a-client-cannot-read/": "table-readers",
        "how-to/read-an-old-version-in-pandas/": "table-use",
    },
)
tour.register(
    TourStep("what-is-in-this-table", "What is in this table?", "t/samples/orders/"),
    TourStep(
        "what-happened-to-it", "What happened to it?", "t/samples/customers/history"
    ),
    TourStep(
        "what-was-different-last-week",
        "What was different last week?",
        "t/samples/customers/compare/40...59",
    ),
    TourStep(
        "why-is-it-slow-or-large",
        "Why is it slow, or large?",
        "t/samples/orders/files",
    ),
    TourStep(
        "who-can-read-it", "Who can read it?", "t/samples/device_readings/readers"
    ),
)
