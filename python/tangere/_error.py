"""The error of wrong input."""

from __future__ import annotations


class InputError(ValueError):
    """Wrong input: `field` names the quantity, `reason` says what is wrong with it, with the value and what is allowed."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str]]:
        return InputError, (self.field, self.reason)
