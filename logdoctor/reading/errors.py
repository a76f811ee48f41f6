"""What can go wrong with an input: one class, one sentence."""

from __future__ import annotations


class InputError(OSError):
    """An input cannot be read; `str()` of it is one sentence for the user."""
