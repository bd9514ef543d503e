"""What the page of received shares may be asked: shape only."""

from typing import Any

from django import forms

from deltaweb.storage.received.profile import MAX_PROFILE_BYTES


class ProfileForm(forms.Form):
    """A profile of somebody else: a file, or its text."""

    name = forms.CharField(
        max_length=100, error_messages={"required": "Name the provider."}
    )
    file = forms.FileField(required=False, max_length=200)
    text = forms.CharField(required=False, max_length=MAX_PROFILE_BYTES)
    replace = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        """Take the file's text where there is a file."""
        values = super().clean() or {}
        file = values.get("file")
        if file is not None:
            if file.size > MAX_PROFILE_BYTES:
                self.add_error("file", "A profile is a small file; this is too large.")
            else:
                values["text"] = file.read()
        elif not values.get("text") and "text" not in self.errors:
            self.add_error("file", "Choose the .share file, or paste its text.")
        return values
