"""Checks that a report is well-formed in its own format, whatever text is in it; each raises what it finds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

from jsonschema import Draft4Validator, Draft202012Validator

from logdoctor.report.schema import schema

from .reading_back import ANNOTATION

SCHEMAS = Path(__file__).parent / "schemas"
SARIF = Draft4Validator(json.loads((SCHEMAS / "sarif-2.1.0.json").read_text()))
REPORT = Draft202012Validator(schema())
RECORD = Draft202012Validator(json.loads(files("logdoctor.fleet").joinpath("record.schema.json").read_text("utf-8")))

_SAMPLE = re.compile(r'(logdoctor_\w+)\{([a-z]+="(?:[^"\\\n]|\\[\\"n])*"(?:,[a-z]+="(?:[^"\\\n]|\\[\\"n])*")*)\} \d+')
_WIKI = re.compile(r"(?<!\\)[*_?~^+{}\[\]|!#@&<>\\]")
_HTML_TAGS = {
    "html", "head", "meta", "title", "style", "body", "main", "article", "header", "h1", "h2", "h3", "p", "span",
    "section", "div", "ol", "ul", "li", "strong", "em", "pre", "code", "button", "details", "summary", "table",
    "thead", "tbody", "tr", "th", "td", "svg", "rect", "line", "ins", "del", "footer", "script",
}  # fmt: skip
_HTML_ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "type", "hidden", "scope", "width", "height", "x",
    "x1", "x2", "y1", "y2", "role", "title", "aria-hidden", "aria-label", "aria-current", "aria-live", "data-done",
    "data-verdict", "data-exit-status", "data-finding", "data-fingerprint", "data-severity", "data-role",
}  # fmt: skip
_UNCLOSED = {"meta", "rect", "line"}


def check_sarif(text: str) -> None:
    """The published schema, and the rules that it does not state."""
    document = json.loads(text)
    SARIF.validate(document)
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place["region"]["startLine"] >= 1
        assert re.fullmatch(r"[\w./~%-]+", place["artifactLocation"]["uri"], re.ASCII)
        assert not place["artifactLocation"]["uri"].startswith("/")
        assert len(result.get("relatedLocations", ())) < 100
        for message in (result["message"], *(one["message"] for one in result.get("relatedLocations", ()))):
            assert not re.search(r"(?<!\{)\{\d+\}(?!\})|\]\(", message["text"])


def check_junit(text: str) -> None:
    """XML that parses, with counts that are right."""
    root = ElementTree.fromstring(text.encode())
    cases = list(root.iter("testcase"))
    assert root.get("tests") == str(len(cases))
    assert root.get("failures") == str(len(list(root.iter("failure"))))
    assert root.get("skipped") == str(len(list(root.iter("skipped"))))
    assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases)
    assert {one.tag for one in root.iter()} <= {
        "testsuites", "testsuite", "testcase", "properties", "property", "failure", "skipped", "system-out",
    }  # fmt: skip


def check_gitlab(text: str) -> None:
    """An array of entries with nothing but the documented keys, each fingerprint once."""
    entries = json.loads(text)
    for entry in entries:
        assert set(entry) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert entry["location"]["lines"]["begin"] >= 1
        assert all(isinstance(entry[key], str) and entry[key] for key in ("description", "check_name", "fingerprint"))
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)


def check_github(text: str) -> None:
    """Every line that the runner would obey is a whole annotation of ours."""
    assert text.startswith("logdoctor: ")
    for line in text.splitlines():
        assert ANNOTATION.fullmatch(line) or not line.lstrip().startswith("::"), line


def check_jira(text: str) -> None:
    """Blocks are closed by their own end; outside of them nothing acts but the report's own markup."""
    assert len(text) <= 32_767
    block = ""
    for line in text.splitlines():
        if block:
            block = "" if line == f"{{{block}}}" else block
            assert not block or not re.search(r"\{(?:code|noformat)", line, re.IGNORECASE)
        elif opened := re.fullmatch(r"\{(code|noformat)(?::bash)?\}", line):
            block = opened[1]
        else:
            own = re.sub(r"\{\{([a-z0-9-]+)\}\}|^\*[\w ]+\*|^\* |^h[23]\. |&#\d+;", "", line)
            assert not _WIKI.search(re.sub(r"\\[*_?~^+{}\[\]|!#@()DPp:;-]", "", own)), line
    assert not block


def check_prometheus(text: str) -> None:
    """Samples of metrics that are introduced once, none twice, and no time stamp."""
    seen: set[str] = set()
    current = ""
    for line in text.splitlines():
        if line.startswith("# HELP "):
            current = line.split()[2]
            assert current not in seen
            seen.add(current)
        elif line.startswith("#"):
            assert line == f"# TYPE {current} gauge"
        else:
            sample = _SAMPLE.fullmatch(line)
            assert sample and sample[1] == current, line
            assert line not in seen
            seen.add(line)


def check_termination(text: str) -> None:
    """One line, short enough for a pod of a dozen containers."""
    assert 0 < len(text.encode()) <= 1_024
    assert text.count("\n") == 1
    assert text.endswith("\n")


def check_jsonl(text: str) -> None:
    """One record on one line below 64 KiB."""
    assert text.count("\n") == 1
    assert len(text.encode()) < 64 * 1024
    RECORD.validate(json.loads(text))


class _Checker(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _HTML_TAGS, tag
        assert {name for name, _ in attrs} <= _HTML_ATTRIBUTES, attrs
        if tag not in _UNCLOSED:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)


def check_html(text: str) -> None:
    """The page's own elements and attributes only, all closed; nothing that loads, links or runs."""
    checker = _Checker()
    checker.feed(text)
    checker.close()
    assert checker.open == []
    assert text.count("<script>") == text.count("<style>") == text.count("<meta http-equiv") == 1


def check_json(text: str) -> None:
    """The published schema."""
    REPORT.validate(json.loads(text))


CHECKS: dict[str, Callable[[str], None]] = {
    "json": check_json,
    "html": check_html,
    "sarif": check_sarif,
    "junit": check_junit,
    "gitlab": check_gitlab,
    "github": check_github,
    "jira": check_jira,
    "prometheus": check_prometheus,
    "termination": check_termination,
    "jsonl": check_jsonl,
}
