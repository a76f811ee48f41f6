"""What each format says of a diagnosis, read back out of its text the way a program would."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from html.parser import HTMLParser
from xml.etree import ElementTree

from logdoctor.model import Diagnosis, Role
from logdoctor.report import exit_status
from logdoctor.report.grouping import group


@dataclass(frozen=True, slots=True)
class Told:
    """What a report says; None where its format has no place for it."""

    verdict: str | None = None
    status: int | None = None
    ids: tuple[str, ...] | None = None
    """Of all findings, sorted."""
    main: tuple[str, ...] | None = None
    """Ids of the findings that are told in full, in order; for forms that cut the rest."""
    roots: tuple[str, ...] | None = None
    """Fingerprints of the root causes, sorted."""
    prints: tuple[str, ...] | None = None
    """Fingerprints of all findings, sorted."""
    main_prints: tuple[str, ...] | None = None


def expected(diagnosis: Diagnosis) -> Told:
    """Return what every format has to say, in full."""
    boot = diagnosis.boot
    findings = boot.findings if boot else ()
    main = group(boot).main if boot else ()
    return Told(
        diagnosis.verdict.value,
        exit_status(diagnosis),
        tuple(sorted(f.id for f in findings)),
        tuple(f.id for f in main),
        tuple(sorted(f.fingerprint for f in findings if f.role is Role.ROOT_CAUSE)),
        tuple(sorted(f.fingerprint for f in findings)),
        tuple(sorted(f.fingerprint for f in main)),
    )


def _terminal(text: str) -> Told:
    main = re.findall(r"^(?:ROOT CAUSE|CAUSE \d+ OF \d+|UNKNOWN FAILURE|FOUND)  \w+  (\S+)", text, re.MULTILINE)
    return Told(_first_word(text), main=tuple(main))


def _text(text: str) -> Told:
    where = r"(?: line \d+| in the launch| by the probe| as given)?"
    ids = re.findall(rf"^(?:FATAL|ERROR|WARNING|INFO) (\S+?){where}: ", text, re.MULTILINE)
    return Told(_first_word(text), ids=tuple(sorted(ids)))


def _first_word(text: str) -> str:
    return text.split(maxsplit=1)[0].rstrip(";").lower()


def _markdown(text: str) -> Told:
    plain = re.sub(r"^(`{3,})[^`\n]*\n.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    main = re.findall(r"^\*\*[\w ]+\*\* `(\S+)` \(", plain, re.MULTILINE)
    others = re.findall(r"^- (?:fatal|error|warning|info) `([^`\s]+)`", plain, re.MULTILINE)
    prints = re.findall(r"fingerprint `([0-9a-f]{8})`", plain.rpartition("signature database")[2])
    word = text.removeprefix("## ").split(maxsplit=1)[0].rstrip(":").lower()
    return Told(word, ids=tuple(sorted(main + others)), main=tuple(main), main_prints=tuple(sorted(prints)))


def _json(text: str) -> Told:
    document = json.loads(text)
    leading = (document["boots_summary"] or {}).get("leading")
    boot = next((boot for boot in document["boots"][::-1] if boot["index"] == leading), {"findings": []})
    findings = boot["findings"]
    return Told(
        document["verdict"],
        ids=tuple(sorted(f["id"] for f in findings)),
        roots=tuple(sorted(f["fingerprint"] for f in findings if f["role"] == "root_cause")),
        prints=tuple(sorted(f["fingerprint"] for f in findings)),
    )


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.articles: list[dict[str, str | None]] = []
        self.findings: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "article":
            self.articles.append(given)
        if "data-finding" in given:
            self.findings.append({"tag": tag, **given})


def _html(text: str) -> Told:
    page = _Page()
    page.feed(text)
    (article,) = page.articles
    return Told(
        article["data-verdict"],
        int(article["data-exit-status"] or -1),
        tuple(sorted(str(f["data-finding"]) for f in page.findings)),
        tuple(str(f["data-finding"]) for f in page.findings if f["tag"] == "section"),
        tuple(sorted(str(f["data-fingerprint"]) for f in page.findings if f["data-role"] == "root_cause")),
        tuple(sorted(str(f["data-fingerprint"]) for f in page.findings)),
    )


def _sarif(text: str) -> Told:
    (run,) = json.loads(text)["runs"]
    related = [one for result in run["results"] for one in result.get("relatedLocations", ())]
    consequences = [one["properties"] for one in related if "properties" in one]
    mark = "logdoctor/v1"
    return Told(
        run["properties"]["verdict"],
        run["invocations"][0]["exitCode"],
        tuple(sorted([r["ruleId"] for r in run["results"]] + [c["id"] for c in consequences])),
        roots=tuple(
            sorted(r["partialFingerprints"][mark] for r in run["results"] if r["properties"]["role"] == "root_cause")
        ),
        prints=tuple(
            sorted([r["partialFingerprints"][mark] for r in run["results"]] + [c["fingerprint"] for c in consequences])
        ),
    )


def _junit(text: str) -> Told:
    (case,) = ElementTree.fromstring(text.encode()).iter("testcase")
    said = {one.get("name"): one.get("value") for one in case.iter("property")}
    output = _text(case.findtext("system-out") or "")
    assert output.verdict == said["verdict"]
    by_outcome = 1 if case.find("failure") is not None else 3 if case.find("skipped") is not None else 0
    assert str(by_outcome) == said["exit_status"]
    return Told(said["verdict"], by_outcome, output.ids)


def _gitlab(text: str) -> Told:
    entries = json.loads(text)
    ids = tuple(sorted(entry["check_name"] for entry in entries))
    return Told(ids=ids, prints=tuple(sorted(entry["fingerprint"] for entry in entries)))


ANNOTATION = re.compile(
    r"::(?:error|warning|notice) file=[^,:\n]*(?:,line=\d+)?,title=(?P<id>[^,:%\s]+)%3A [^,:\n]*::(?P<message>.*)"
)


def _github(text: str) -> Told:
    found = [match for line in text.splitlines() if (match := ANNOTATION.fullmatch(line))]
    prints = [match["message"].rpartition("fingerprint ")[2] for match in found]
    verdict = text.removeprefix("logdoctor: ").split(maxsplit=1)[0].rstrip(";").lower()
    return Told(verdict, ids=tuple(sorted(match["id"] for match in found)), prints=tuple(sorted(prints)))


def _jira(text: str) -> Told:
    plain = re.sub(r"^\{(code|noformat)(?::bash)?\}\n.*?^\{\1\}$", "", text, flags=re.MULTILINE | re.DOTALL)
    main = re.findall(r"^\*[\w ]+\* \{\{(\S+)\}\} \(", plain, re.MULTILINE)
    others = re.findall(r"^\* (?:fatal|error|warning|info) \{\{(\S+)\}\}", plain, re.MULTILINE)
    verdict = text.removeprefix("h2. ").split(maxsplit=1)[0].rstrip(":").lower()
    prints = re.findall(r"fingerprint ([0-9a-f]{8})", plain.rpartition("signature database")[2])
    return Told(
        verdict, ids=tuple(sorted(main + others)), main=tuple(main), main_prints=tuple(sorted(prints[: len(main)]))
    )


def _prometheus(text: str) -> Told:
    ids = re.findall(r'^logdoctor_finding\{.*,id="([^"]+)",severity="\w+",role="\w+"\} 1$', text, re.MULTILINE)
    (verdict,) = re.findall(r'^logdoctor_verdict\{.*,verdict="(\w+)"\} 1$', text, re.MULTILINE)
    (status,) = re.findall(r"^logdoctor_exit_status\{.*\} (\d)$", text, re.MULTILINE)
    roots = re.findall(r'^logdoctor_root_cause_info\{.*,fingerprint="(\w+)"\} 1$', text, re.MULTILINE)
    return Told(verdict, int(status), tuple(sorted(ids)), roots=tuple(sorted(roots)))


def _termination(text: str) -> Told:
    word, _, rest = text.partition(" ")
    cause = re.match(r"([a-z0-9-]+(?: or [a-z0-9-]+)*):", rest)
    printed = re.search(r"; fingerprint \w{8}(?:; |$)", text, re.MULTILINE)
    return Told(word.rstrip(";\n").lower(), main=tuple(cause[1].split(" or ")) if cause and printed else None)


def _jsonl(text: str) -> Told:
    record = json.loads(text)
    return Told(record["verdict"], record["exit_status"], tuple(sorted(record["findings"])))


def _issue(text: str) -> Told:
    section = text.partition("### What logdoctor found\n")[2]
    rows = re.findall(r"^- \w+ `(\S+)` \([\w ]+, fingerprint `(\w{8})`\)", section, re.MULTILINE)
    verdict = re.search(r"^- state at the end of the log: `?(\w+)", text, re.MULTILINE)
    return Told(
        verdict[1].lower() if verdict else "",
        ids=tuple(sorted(id for id, _ in rows)),
        prints=tuple(sorted(mark for _, mark in rows)),
    )


READERS: dict[str, Callable[[str], Told]] = {
    "terminal": _terminal,
    "text": _text,
    "markdown": _markdown,
    "json": _json,
    "html": _html,
    "sarif": _sarif,
    "junit": _junit,
    "gitlab": _gitlab,
    "github": _github,
    "jira": _jira,
    "prometheus": _prometheus,
    "termination": _termination,
    "jsonl": _jsonl,
    "issue": _issue,
}
