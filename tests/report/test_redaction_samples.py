"""The recorded logs: their secrets never survive, and their ordinary lines stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from logdoctor.report.redaction import Redactor

SAMPLES = Path(__file__).parents[2] / "samples"
LOGS = sorted(SAMPLES.rglob("*.log"))
pytestmark = pytest.mark.skipif(not LOGS, reason="no samples in this checkout")
SECRET_KINDS = {"host", "ip", "private-ip", "prompt", "token-ids"}


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").split("\n")


def test_listed_secrets_never_survive() -> None:
    found = 0
    for path in LOGS:
        beside = path.with_suffix(".yaml")
        listed = (
            (yaml.safe_load(beside.read_text(encoding="utf-8")) or {}).get("secrets", []) if beside.exists() else []
        )
        redactor = Redactor()
        text = "\n".join(redactor.text(line) for line in lines(path))
        for secret in listed:
            found += 1
            assert secret not in text, path
    assert found


def test_ordinary_lines_stay() -> None:
    """At most one line in a hundred changes where hosts are kept: those with keys, prompts and users."""
    total = changed = 0
    for path in LOGS:
        for line in lines(path):
            total += 1
            changed += Redactor(keep_hosts=True).text(line) != line
    assert total > 1000
    assert changed <= total / 100


def test_hosts_change_lines_that_hold_hosts_only() -> None:
    """Without --keep-hosts the other changed lines are those with an address or a host of the recording."""
    for path in LOGS:
        for line in lines(path):
            kinds = set()
            redactor = Redactor()
            if redactor.text(line) != line:
                kinds = set(redactor.counts)
            if kinds & {"host", "ip", "private-ip"}:
                assert any(mark in line for mark in ("172.17.0.", "172.18.0.", "192.0.2.", "gpu-host", "spark1")), line


def test_neighbouring_lines_change_nothing() -> None:
    """Seven lines together are redacted as each alone: no line break is taken for a wrapped secret."""
    for path in LOGS[::4]:
        text = lines(path)
        for start in range(0, len(text), 7):
            group = [line.replace("\r", "") for line in text[start : start + 7]]
            together = Redactor(keep_hosts=True).text("\n".join(group)).split("\n")
            assert together == [Redactor(keep_hosts=True).text(line) for line in group]
