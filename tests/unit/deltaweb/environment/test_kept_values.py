"""Values are kept while they fit, the latest used ones first."""

from deltaweb.environment.kept_values import KeptValues


def test_a_value_is_found_again_and_none_is_a_value() -> None:
    kept: KeptValues[str, int | None] = KeptValues(100)
    kept.keep("a", 1, 10)
    kept.keep("b", None, 10)

    assert kept.find("a") == (1,)
    assert kept.find("b") == (None,)
    assert kept.find("c") is None


def test_what_was_not_asked_for_the_longest_goes_first() -> None:
    kept: KeptValues[str, int] = KeptValues(25)
    kept.keep("a", 1, 10)
    kept.keep("b", 2, 10)
    kept.find("a")
    kept.keep("c", 3, 10)

    assert [kept.find(key) for key in "abc"] == [(1,), None, (3,)]


def test_a_value_that_is_too_large_is_kept_alone() -> None:
    kept: KeptValues[str, int] = KeptValues(25)
    kept.keep("a", 1, 10)
    kept.keep("b", 2, 1000)

    assert [kept.find(key) for key in "ab"] == [None, (2,)]
