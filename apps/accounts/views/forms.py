"""The shape of what people send about accounts; no database."""

from django import forms

from apps.accounts.models import User


class SignInForm(forms.Form):
    """Name and password."""

    name = forms.CharField(max_length=150, strip=True)
    password = forms.CharField(max_length=1000, strip=False)


class PasswordForm(forms.Form):
    """A new password, and the current one where there is one."""

    current = forms.CharField(max_length=1000, strip=False, required=False)
    new = forms.CharField(max_length=1000, strip=False)
    again = forms.CharField(max_length=1000, strip=False)
    revoke_keys = forms.BooleanField(required=False)

    def __init__(self, *args: object, user: User, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # passed on as it came
        self.user = user

    def clean_current(self) -> str:
        """Ask who is there before the lock is changed."""
        current = str(self.cleaned_data["current"])
        if self.user.has_usable_password() and not self.user.check_password(current):
            message = "That is not your current password."
            raise forms.ValidationError(message)
        return current

    def clean(self) -> dict[str, object]:
        """Take a password only when it was typed twice alike."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("new") != cleaned.get("again"):
            self.add_error("again", "The two new passwords differ.")
        return cleaned
