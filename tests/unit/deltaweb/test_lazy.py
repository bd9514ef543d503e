"""Modules that are imported when they are first named."""

import sys

import pytest

from deltaweb import delta, writer


def test_a_package_imports_a_module_that_is_named() -> None:
    assert writer.making.new_table.__name__ == "deltaweb.writer.making.new_table"


def test_and_says_of_another_name_that_it_has_none() -> None:
    with pytest.raises(AttributeError, match=r"'deltaweb\.delta' has no attribute"):
        _ = delta.no_such_module  # type: ignore[attr-defined]  # as said
    assert not hasattr(delta, "__wrapped__")


def test_what_a_module_fails_to_import_is_said_as_it_is(tmp_path, monkeypatch):
    package = tmp_path / "lazy_package"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from deltaweb.lazy import modules_on_demand\n"
        "__getattr__ = modules_on_demand(__name__)\n"
    )
    (package / "broken.py").write_text("import not_installed_anywhere\n")
    monkeypatch.syspath_prepend(tmp_path)
    import lazy_package  # type: ignore[import-not-found]  # made above

    with pytest.raises(ModuleNotFoundError, match="not_installed_anywhere"):
        _ = lazy_package.broken
    del sys.modules["lazy_package"]
