"""What people can do, as the search offers it: an app registers actions of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from apps.pages.frame import AnyUser
from apps.pages.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What an action can be done to.

    Attributes:
        name: Its name, as it follows the action: `sales.orders`.
        args: What the address of the action's page takes.
    """

    name: str
    args: Sequence[object]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAction:
    """A page where something is done, such as `Vacuum`.

    Attributes:
        label: Its name; that of a target follows, or takes the place of `{}`.
        synonyms: Other words that people look for.
        order: Its place among actions that match as well.
        targets: Returns what a user may do it to, by a part of a name, the best first.
            None for a page that is about no single thing.
        visible: Who may do it.
    """

    label: str
    synonyms: str = ""
    url_name: str
    order: int = 100
    targets: Callable[[AnyUser, str], Sequence[Target]] | None = None
    visible: Callable[[AnyUser], bool] = lambda user: user.is_authenticated

    def named(self, target: str) -> str:
        """Return its name with that of a target."""
        frame = self.label if "{}" in self.label else f"{self.label} {{}}"
        return frame.format(target)


actions: Registry[SearchAction] = Registry(key=lambda one: one.url_name)


def actions_for(user: AnyUser) -> list[SearchAction]:
    """Return the actions that `user` may do, in order."""
    return sorted(
        (one for one in actions if one.visible(user)), key=lambda one: one.order
    )
