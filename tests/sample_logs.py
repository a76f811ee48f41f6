"""The logs under samples/ with the diagnosis each must get, and the check of one against the other.

`expect` in NAME.yaml, regexes are case-insensitive:

    verdict             the last boot's, one of these
    root_cause          all must be found in the root cause (id, title, cause, evidence)
    any_root_cause      at least one must
    fix / any_fix       all / at least one must be found in its remedies
    not_root_cause      none may be found in its id or title
    not_fix             none may be found in its remedies
    mention             all must be found anywhere in the last boot (findings, facts)
    no_findings_above   no finding of a higher severity in the last boot
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "samples"
_SEVERITIES = ("info", "warning", "error", "fatal")


def sample_logs() -> list[Path]:
    """Every sample log, in a fixed order."""
    return sorted(SAMPLES.rglob("*.log"))


def name_of(log: Path) -> str:
    """The sample's path below samples/ without its ending, as test ids and golden files use it."""
    return log.relative_to(SAMPLES).with_suffix("").as_posix()


def side_file(log: Path) -> dict[str, Any]:
    """The yaml beside a log."""
    loaded = yaml.safe_load(log.with_suffix(".yaml").read_text(encoding="utf-8"))
    return loaded if isinstance(loaded, dict) else {}


def complaints(expect: dict[str, Any], report: dict[str, Any]) -> list[str]:
    """What of an expectation does not hold in a JSON report."""
    boot = (report["boots"] or [{"findings": [], "facts": {}}])[-1]
    findings = boot["findings"]
    root = next((finding for finding in findings if finding["role"] == "root_cause"), None)
    texts = {
        "root_cause": _text({key: root[key] for key in ("id", "title", "cause", "evidence")}) if root else "",
        "name": _text([root["id"], root["title"]]) if root else "",
        "fix": _text(root["remedies"]) if root else "",
        "boot": _text([findings, boot["facts"]]),
    }
    wrong = []
    if "verdict" in expect and report["verdict"] not in _list(expect["verdict"]):
        wrong.append(f"verdict {report['verdict']}, not {expect['verdict']}")
    for key, where in (("root_cause", "root_cause"), ("fix", "fix"), ("mention", "boot")):
        wrong += [
            f"{key}: no /{p}/ ({root and root['id']})" for p in _list(expect.get(key)) if not _in(p, texts[where])
        ]
    for key, where in (("any_root_cause", "root_cause"), ("any_fix", "fix")):
        patterns = _list(expect.get(key))
        if patterns and not any(_in(pattern, texts[where]) for pattern in patterns):
            wrong.append(f"{key}: none of {patterns} ({root and root['id']})")
    for key, where in (("not_root_cause", "name"), ("not_fix", "fix")):
        wrong += [f"{key}: /{p}/ is there" for p in _list(expect.get(key)) if _in(p, texts[where])]
    if "no_findings_above" in expect:
        limit = _SEVERITIES.index(expect["no_findings_above"])
        wrong += [
            f"false alarm {f['id']} ({f['severity']})" for f in findings if _SEVERITIES.index(f["severity"]) > limit
        ]
    return wrong


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _in(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.I | re.S) is not None
