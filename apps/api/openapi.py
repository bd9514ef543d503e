"""The description of the endpoints in OpenAPI, made of what each says of itself."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, get_script_prefix
from django.views.decorators.http import require_safe
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter
from rest_framework.serializers import FileField, Serializer

from apps.accounts.models import Scope, User
from apps.accounts.permissions import public
from apps.api.calls import MULTIPART
from apps.api.models import MAX_KEY_LENGTH
from apps.api.parameters import description_of
from apps.api.shapes import answer_of, serializer_of
from apps.pages.changes.parameters import helps_of
from apps.pages.errors import Problem
from apps.pages.responses import json_response

JSON: Final = ["application/json"]
REFUSALS: Final = (400, 401, 403, 404, 409, 410, 413, 415, 422, 429, 503)
ONCE: Final = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "pattern": f"^[ -~]{{1,{MAX_KEY_LENGTH}}}$"},
    OpenApiParameter.HEADER,
    description="A text of your choice: a call sent again with it is done once.",
)
CALLERS: Final = {
    User.Role.VIEWER: (
        "For all roles. On a table or a namespace, the rights of the user decide."
    ),
    User.Role.EDITOR: (
        "For editors and administrators. On a table or a namespace, the rights of the "
        "user decide, too."
    ),
    User.Role.ADMIN: "For administrators.",
}
"""Who may call an endpoint, by the role that it needs."""
REPEATED: Final = frozenset({"col", "f", "op", "partition"})


class FileSerializer(Serializer):  # type: ignore[type-arg]  # describes, and reads nothing
    """A file."""

    file = FileField()


class ViewSchema(AutoSchema):
    """Describes a view by what its endpoints say."""

    @property
    def _declared(self) -> Any:  # noqa: ANN401 (an `Endpoint`, which stands above)
        return getattr(self.view, self.method.lower()).endpoint

    def get_operation_id(self) -> str:
        """Name it by its method and its view: `get_table_list`."""
        words = re.sub(r"(?<!^)(?=[A-Z])", "_", type(self.view).__name__).lower()
        return f"{self.method.lower()}_{words}"

    def get_summary(self) -> str:
        """Return the first sentence of its docstring."""
        return self._parts[0]

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular has it
        """Return the rest of it, and who may call it."""
        usual = Scope.READ if self.method == "GET" else Scope.WRITE
        scope = (self._declared.scope or usual).value
        who = f"{CALLERS[self._declared.role]} A key needs the scope `{scope}`."
        return f"{self._parts[1]}\n\n{who}".strip()

    @property
    def _parts(self) -> tuple[str, str]:
        text = getattr(self.view, self.method.lower()).__doc__ or ""
        summary, _, rest = text.partition("\n\n")
        lines = [line.strip() for line in rest.partition("Raises:")[0].splitlines()]
        return " ".join(summary.split()).rstrip("."), "\n".join(lines).strip()

    def get_override_parameters(self) -> list[Any]:
        """Return the parameters of the address, and the header of calls done once."""
        once = [ONCE] if self.method == "POST" else []
        return [*parameters_of(self._declared.takes, self.path), *once]

    def get_request_serializer(self) -> Any:  # noqa: ANN401 (as the library has it)
        """Return what the body is."""
        if self._declared.file:
            return FileSerializer
        body = self._declared.body
        return None if body is None else serializer_of(body)

    def get_response_serializers(self) -> Any:  # noqa: ANN401 (as above)
        """Return every answer by its status."""
        answers = self._declared.answers.items()
        refusals = dict.fromkeys(REFUSALS, answer_of(Problem))
        return refusals | {status: kind and answer_of(kind) for status, kind in answers}

    def _map_basic_serializer(self, serializer: Any, direction: str) -> dict[str, Any]:  # noqa: ANN401 (as above)
        """Describe a dataclass by its docstring, and its fields by theirs."""
        found: dict[str, Any] = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        if isinstance(serializer, FileSerializer):
            return found
        kind = serializer.dataclass_definition.dataclass_type
        about = (kind.__doc__ or "").partition("Attributes:")[0]
        found["description"] = " ".join(about.split())
        known = found.get("properties", {})
        for name, text in {**helps_of(kind), **_texts_of(kind)}.items():
            if name in known:
                known[name] = {**known[name], "description": text}
        return found

    def map_renderers(self, attribute: str) -> list[Any]:
        """Return what answers are of."""
        return JSON if attribute == "media_type" else []

    def map_parsers(self) -> list[Any]:
        """Return what bodies are of."""
        return [MULTIPART] if self._declared.file else JSON


def _texts_of(kind: type) -> dict[str, str]:
    """Return what docstrings say of the fields of a dataclass, inherited ones too."""
    parts = getattr(kind, "__parts__", reversed(kind.__mro__))
    docs = ((part.__doc__ or "").partition("Attributes:")[2] for part in parts)
    return {name: text for doc in docs for name, text in _lines_of(doc)}


def _lines_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield each name in the part of a docstring about attributes, and its words."""
    for entry in re.split(r"\n +(?=[a-z]\w*(?:, [a-z]\w*)*: )", text):
        names, _, words = entry.partition(": ")
        for name in names.split(","):
            yield name.strip(), " ".join(words.split())


def parameters_of(takes: Any, path: str) -> Iterator[OpenApiParameter]:  # noqa: ANN401 (`Takes`)
    """Yield the parameters of an address as OpenAPI has them."""
    for part in takes:
        fields: Mapping[str, forms.Field | None] = (
            dict.fromkeys(part.split()) if isinstance(part, str) else part.base_fields
        )
        for name, field in fields.items():
            kind: dict[str, Any] = _kind_of(field)
            if name in REPEATED:
                kind = {"type": "array", "items": kind}
            yield OpenApiParameter(
                name,
                kind,
                description=description_of(name, path),
                required=bool(field and field.required),
            )


def _kind_of(field: forms.Field | None) -> dict[str, Any]:
    if isinstance(field, forms.IntegerField):
        return {
            "type": "integer",
            **({} if field.min_value is None else {"minimum": field.min_value}),
            **({} if field.max_value is None else {"maximum": field.max_value}),
        }
    if isinstance(field, forms.ChoiceField):
        choices: Any = field.choices
        words = [str(value) for value, _ in choices]
        return {"type": "string", **({"enum": words} if words else {})}
    if isinstance(field, forms.BooleanField):
        return {"type": "boolean"}
    if isinstance(field, forms.UUIDField):
        return {"type": "string", "format": "uuid"}
    longest = getattr(field, "max_length", None)
    return {"type": "string", **({"maxLength": longest} if longest else {})}


def describe(patterns: Sequence[URLPattern]) -> dict[str, Any]:
    """Return the description of the endpoints of URL patterns."""
    from drf_spectacular.generators import SchemaGenerator  # noqa: PLC0415 (asked seldom)

    generator = SchemaGenerator(patterns=[*patterns])  # type: ignore[no-untyped-call]
    found: dict[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return found


def description_view(
    described: Callable[[], dict[str, Any]],
) -> Callable[..., HttpResponse]:
    """Return the view that answers with the description; it is no secret."""

    @public
    @require_safe
    def openapi(request: HttpRequest) -> HttpResponse:
        del request
        server = {"url": get_script_prefix().rstrip("/") or "/"}
        return json_response(described() | {"servers": [server]})

    return openapi


@public
@require_safe
def reference(request: HttpRequest) -> HttpResponse:
    """Show all endpoints by Swagger UI, which also calls them; it is no secret."""
    layout = "base.html" if request.user.is_authenticated else "pages/public.html"
    return render(request, "api/reference.html", {"layout": layout, "is_help": True})
