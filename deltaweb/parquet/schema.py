"""The schema of a file as a tree of nodes, each with what it is and why it may not be.

Source: Parquet logical types; parquet.thrift, "SchemaElement".
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from deltaweb.parquet.annotations import (
    Annotation,
    effective_annotation,
    invalid_reason,
    sort_order,
)
from deltaweb.parquet.errors import SchemaCorruptError
from deltaweb.parquet.metadata import SchemaElement

MAX_DEPTH: Final = 100

_Verdict: TypeAlias = tuple[Annotation | None, str | None]
"""What a leaf is, and why it may not be that."""


class Node(NamedTuple):
    """A column, a group of columns, or the root.

    Attributes:
        path: The names from the root, which has none.
        annotation: What it is, by either annotation; None where it has none.
        invalid: Why the annotation does not fit; None where it does.
        children: The nodes below it; None for a leaf.
        leaf: Its position among the leaf columns; None for a group.
    """

    element: SchemaElement
    path: tuple[str, ...]
    annotation: Annotation | None
    invalid: str | None
    children: "tuple[Node, ...] | None"
    leaf: int | None

    @property
    def name(self) -> str:
        return self.element.name

    @property
    def kind(self) -> str | None:
        return None if self.annotation is None else self.annotation.kind

    @property
    def is_repeated(self) -> bool:
        return self.element.repetition == "repeated"

    @property
    def is_required(self) -> bool:
        """Whether it is required, as a node without a repetition is."""
        return self.element.repetition in {"required", None}

    @property
    def sort_order(self) -> str:
        return sort_order(self.annotation, self.element.physical_type)

    def walk(self) -> Iterator["Node"]:
        """Yield it and all nodes below it, depth first."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children or ()))

    def leaves(self) -> Iterator["Node"]:
        """Yield the leaf columns in the order of the column chunks."""
        return (node for node in self.walk() if node.children is None)


def build_schema(elements: Sequence[SchemaElement]) -> Node:
    """Return the root of the tree that a flat schema describes."""
    if not elements:
        raise SchemaCorruptError(reason="it has no elements")
    builder = _Builder(elements)
    root = builder.root()
    if builder.position != len(elements):
        left = len(elements) - builder.position
        raise SchemaCorruptError(reason=f"{left:,} elements are not in any group")
    return root


def flat_leaves(root: Node) -> frozenset[int]:
    """Return the leaf columns that are in no repeated group: one value in each row."""
    flat, stack = [], [root]
    while stack:
        for child in stack.pop().children or ():
            if child.is_repeated:
                continue
            if child.leaf is not None:
                flat.append(child.leaf)
            stack.append(child)
    return frozenset(flat)


class _Builder:
    def __init__(self, elements: Sequence[SchemaElement]) -> None:
        self.elements = elements
        self.position = 0
        self.leaves = 0
        self.verdicts: dict[object, _Verdict] = {}

    def root(self) -> Node:
        self.position = 1
        return self._group(self.elements[0], (), parent=None, depth=0)

    def _fields(
        self, above: tuple[str, ...], parent: Annotation | None, count: int, depth: int
    ) -> Iterator[Node]:
        for _ in range(count):
            if self.position >= len(self.elements):
                reason = "a group has fewer fields than it says"
                raise SchemaCorruptError(reason=reason)
            if depth > MAX_DEPTH:
                reason = f"it is nested more than {MAX_DEPTH} levels deep"
                raise SchemaCorruptError(reason=reason)
            element = self.elements[self.position]
            self.position += 1
            path = (*above, element.name)
            if element.physical_type is None:
                yield self._group(element, path, parent, depth)
            else:
                verdict = self._verdict(element, path, parent)
                yield Node(element, path, *verdict, None, self.leaves)
                self.leaves += 1

    def _group(
        self,
        element: SchemaElement,
        path: tuple[str, ...],
        parent: Annotation | None,
        depth: int,
    ) -> Node:
        annotation = effective_annotation(element, is_in_map=_is_map(parent))
        count = element.num_children or 0
        if count < 0 or count > len(self.elements) - self.position:
            raise SchemaCorruptError(
                reason=f"{'.'.join(path) or 'the root'} says that it has {count:,} "
                f"fields, but only {len(self.elements) - self.position:,} elements are "
                "left"
            )
        children = tuple(self._fields(path, annotation, count, depth + 1))
        reason = None if annotation is None else _group_reason(annotation, children)
        return Node(element, path, annotation, reason, children, None)

    def _verdict(
        self, element: SchemaElement, path: tuple[str, ...], parent: Annotation | None
    ) -> _Verdict:
        """Return what a leaf is, which is worked out once for equal ones."""
        # The elements are kept, and with them what their LogicalTypes are.
        key = element[2:7], id(element.logical_type), _is_map(parent)
        known = self.verdicts.get(key)
        if known is None:
            known = self.verdicts[key] = _leaf_verdict(element, path, parent)
        return known


def _is_map(parent: Annotation | None) -> bool:
    return parent is not None and parent.kind == "MAP"


def _leaf_verdict(
    element: SchemaElement, path: tuple[str, ...], parent: Annotation | None
) -> _Verdict:
    length = element.type_length
    if element.physical_type == "FIXED_LEN_BYTE_ARRAY" and (
        length is None or length < 0
    ):
        column = ".".join(path)
        raise SchemaCorruptError(
            reason=f"{column} does not say how many bytes its values have"
        )
    annotation = effective_annotation(element, is_in_map=_is_map(parent))
    if annotation is None:
        return None, None
    return annotation, invalid_reason(annotation, element.physical_type, length)


def _group_reason(annotation: Annotation, children: Sequence[Node]) -> str | None:
    """Return why an annotation does not fit a group; None where it does.

    Shapes of LIST and MAP that cannot be read are no matter of the annotation: see
    `deltaweb.parquet.nesting`.
    """
    if annotation.kind in {"LIST", "MAP", "MAP_KEY_VALUE"}:
        return None
    if annotation.kind == "VARIANT":
        return _variant_reason({child.name: child for child in children})
    if annotation.kind in {"UNRECOGNIZED", "UNRECOGNIZED_CONVERTED"}:
        return None
    return f"{annotation.text} cannot annotate a group"


def _variant_reason(fields: dict[str, Node]) -> str | None:
    """Source: Parquet logical types, "VARIANT"."""
    metadata = fields.get("metadata")
    if metadata is None:
        return "VARIANT group has no metadata field"
    if metadata.element.physical_type != "BYTE_ARRAY":
        return "VARIANT metadata must be binary"
    if not metadata.is_required:
        return "VARIANT metadata must be required"
    value = fields.get("value")
    if value is None and "typed_value" not in fields:
        return "VARIANT group has no value field"
    if value is not None and value.element.physical_type != "BYTE_ARRAY":
        return "VARIANT value must be binary"
    return None
