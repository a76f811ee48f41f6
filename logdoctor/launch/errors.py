"""What can go wrong with a launch, as one sentence for the user.

LaunchError
├── NotEditable      the launch was read, but a change has no safe place in it
└── ContainerError   docker or podman could not tell about a container
"""

from __future__ import annotations


class LaunchError(ValueError):
    """The text is no launch that can be read; the message is for the user."""


class NotEditable(LaunchError):
    """A change cannot be written at the place where it belongs."""


class ContainerError(LaunchError):
    """docker or podman could not be asked, or does not know the container."""
