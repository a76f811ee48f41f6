"""Follow a log that is still being written: progress while it starts, the report once the verdict is settled.

sources ─ bytes as they come ─▶ watch ─ looks ─▶ progress, new problems, and the last report
"""

from __future__ import annotations

from logdoctor.follow.sources import FileSource, StreamSource, open_source
from logdoctor.follow.watch import Ending, Pace, Watch

__all__ = ["Ending", "FileSource", "Pace", "StreamSource", "Watch", "open_source"]
