"""What ends a run over many logs before it has begun."""

from __future__ import annotations


class FleetError(Exception):
    """The fleet cannot be diagnosed as asked; the message is the one line for the user."""
