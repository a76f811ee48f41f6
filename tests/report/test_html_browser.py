"""The HTML page in a real browser: no errors, no requests, reachable by keyboard, no sideways scrolling.

Needs Debian's Chromium and Node.js with a WebSocket; without them the test is skipped.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from logdoctor.report import render

from .cases import CASES, LAUNCHED, RESTART_LOOP

CHROMIUM = Path("/usr/bin/chromium")
DRIVER = Path(__file__).parent / "browser.mjs"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists() or not shutil.which("node"), reason="needs Chromium and Node.js"),
]


def look(file: Path, folder: Path) -> dict[str, Any]:
    """Open the page at every size and scheme and return what the browser saw."""
    done = subprocess.run(
        ["node", "--experimental-websocket", str(DRIVER), str(CHROMIUM), file.as_uri(), str(folder)],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", ["loop", "hostile", "ready", "no-boot"])
def test_the_page_in_a_browser(name: str, tmp_path: Path) -> None:
    made = replace(RESTART_LOOP, launch=LAUNCHED.launch) if name == "loop" else CASES[name]
    file = tmp_path / "report.html"
    file.write_text(render(made, "html"))
    seen = look(file, tmp_path)
    assert seen["problems"] == []
    assert seen["requests"] == [file.as_uri()]
    for view in seen["views"]:
        assert view["scroll"] <= view["width"], view
    assert len({view["background"] for view in seen["views"]}) == 2
    # Every button and every fold is reached with the Tab key, in the order of the page.
    assert seen["reached"] == seen["controls"]
    if name == "loop":
        assert seen["controls"].count("BUTTON") >= 4
        assert seen["copied"] == "--moe-backend marlin"
    assert seen["pdf"] > 10_000
