import json

import pytest
from pytest_django.fixtures import Settings

from apps.tables.storage.errors import StorageSealedError
from apps.tables.storage.sealing import seal, seal_again, unseal


class TestSealing:
    OPTIONS = {"key": "hunter2", "secret": "env:LAKE_SECRET"}

    def test_what_is_sealed_opens_and_does_not_show(self) -> None:
        sealed = seal(self.OPTIONS)

        assert unseal(sealed, storage="lake") == self.OPTIONS
        assert "hunter2" not in sealed
        assert sealed != seal(self.OPTIONS)

    def test_a_former_secret_key_still_opens(self, settings: Settings) -> None:
        sealed = seal(self.OPTIONS)
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
        settings.SECRET_KEY = "another"

        assert unseal(sealed, storage="lake") == self.OPTIONS
        again = seal_again(sealed, storage="lake")
        settings.SECRET_KEY_FALLBACKS = []
        assert unseal(again, storage="lake") == self.OPTIONS
        with pytest.raises(StorageSealedError):
            unseal(sealed, storage="lake")

    @pytest.mark.parametrize("change", [(4, None), (0, -4), (0, 0)])
    def test_what_is_damaged_is_a_sentence(self, change: tuple[int, int | None]):
        sealed = seal(self.OPTIONS)[slice(*change)]

        for use in (unseal, seal_again):
            with pytest.raises(StorageSealedError, match="storage lake") as caught:
                use(sealed, storage="lake")
            assert caught.value.code == "storage-sealed"

    def test_a_value_that_looks_like_json_stays_a_text_until_it_is_used(self) -> None:
        options = {"token": json.dumps({"a": 1})}

        assert unseal(seal(options), storage="lake") == options
