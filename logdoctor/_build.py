"""What a wheel is built with: the signature database, checked, in its compact form beside the YAML.

A run then neither parses YAML nor writes a cache. The compact form is named by the content it was made from, so an
edited file simply is not the one it belongs to.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompactDatabase(BuildHookInterface[Any]):
    """Adds `logdoctor/signatures/compact-KEY.json` to the wheel; a broken signature file stops the build."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the compact form, unless the install is editable: then the checkout's own files are read."""
        if self.target_name != "wheel" or version == "editable":
            return
        sys.path.insert(0, self.root)
        from logdoctor.database.loading import compact_shipped, shipped_directory, source_key

        made = Path(tempfile.mkdtemp()) / "compact.json"
        made.write_bytes(compact_shipped())
        name = f"compact-{source_key(shipped_directory())}.json"
        build_data.setdefault("force_include", {})[str(made)] = f"logdoctor/signatures/{name}"
