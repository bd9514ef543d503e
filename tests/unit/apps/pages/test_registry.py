from apps.pages.registry import Registry


class TestRegistry:
    def test_keeps_the_order_of_what_is_registered(self) -> None:
        words: Registry[str] = Registry()

        words.register("b", "a")

        assert list(words) == ["b", "a"]

    def test_replaces_what_has_the_same_key_in_its_place(self) -> None:
        words: Registry[str] = Registry(key=len)

        words.register("one", "four", "two")

        assert list(words) == ["two", "four"]

    def test_a_thing_without_a_key_is_there_once(self) -> None:
        words: Registry[str] = Registry()

        words.register("a")
        words.register("a")

        assert list(words) == ["a"]

    def test_what_is_removed_is_gone_and_may_be_removed_again(self) -> None:
        words: Registry[str] = Registry()
        words.register("a", "b")

        words.remove("a")
        words.remove("a")

        assert list(words) == ["b"]
