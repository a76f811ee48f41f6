"""What tests let happen in a worker before a log is read; workers import it by name."""

from __future__ import annotations

import os
import signal
import time


def die(name: str) -> None:
    """End the process at once, as the kernel does when memory runs out, for a log called deadly."""
    if "deadly" in name:
        os._exit(9)
    if "killed" in name:
        os.kill(os.getpid(), signal.SIGKILL)


def dawdle(name: str) -> None:
    """Take a moment for every log."""
    time.sleep(0.2)


def fail(name: str) -> None:
    """Show a fault of the tool, with a text that must not get out."""
    if "faulty" in name:
        raise KeyError("hf_" + "secretsecretsecretsecretsecretsecret"[:34])
    if "hungry" in name:
        raise MemoryError
