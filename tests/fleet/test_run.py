"""What a run of the fleet refuses before it looks at a log."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from logdoctor.fleet.errors import FleetError
from logdoctor.fleet.run import FleetRequest, run_fleet


def test_the_output_does_not_overwrite_the_baseline(tmp_path: Path) -> None:
    earlier = tmp_path / "earlier.jsonl"
    earlier.write_text("{}\n", encoding="utf-8")
    link = tmp_path / "link.jsonl"
    link.symlink_to(earlier)
    for output in (earlier, link):
        request = FleetRequest((str(tmp_path),), output, baseline=earlier)
        with pytest.raises(FleetError, match="overwrite the --baseline"):
            run_fleet(request, io.BytesIO(), lambda data: None)
    assert earlier.read_text(encoding="utf-8") == "{}\n"
