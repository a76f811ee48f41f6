"""The report as one HTML file to attach to a ticket: light and dark, on paper, on a telephone, without a network.

Nothing is loaded from anywhere: the policy in the head allows the file's own style and script by their hashes and
nothing else. Everything is readable without the script, which only serves the buttons that copy.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files

from logdoctor.model import Diagnosis
from logdoctor.report.escaping import one_line
from logdoctor.report.grouping import Groups, group, is_undecided, notes, prose_summary, redaction_text
from logdoctor.report.headline import boot_views, boots_left_out, headline, subject, verdict_word
from logdoctor.report.options import RenderOptions
from logdoctor.report.page.charts import boots_strip, budget, timeline
from logdoctor.report.page.sections import Sections
from logdoctor.report.page.tags import Html, listed, tag
from logdoctor.report.status import exit_status
from logdoctor.report.values import source_file
from logdoctor.report.words import Words

_BOOTS_TOLD = 20
# GitHub's runner obeys `::name` at the start of a line and `##[name]` anywhere in one; as entities they only show.
_COMMAND = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)


def render(diagnosis: Diagnosis, options: RenderOptions) -> str:
    """Return the report on the leading boot, or on each boot, as a whole page."""
    words = Words(options.lang)
    views = boot_views(diagnosis, options.all_boots, _BOOTS_TOLD)
    left_out = boots_left_out(diagnosis, views, words)
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src 'sha256-{_hash(style)}'; script-src 'sha256-{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"logdoctor: {'; '.join(headline(diagnosis, words))}"),
        tag("style", Html(style)),
    )
    body = tag(
        "body",
        tag("main", *(_boot(view, options, words) for view in views), tag("p", left_out) if left_out else ""),
        _footer(diagnosis, words),
        tag("script", Html(script)),
    )
    page = f"<!DOCTYPE html>\n{tag('html', head, body, lang=options.lang)}\n"
    page = _COMMAND.sub(r"\1&#58;", page).replace("##[", "&#35;#[")
    return page.encode("ascii", "xmlcharrefreplace").decode("ascii") if options.ascii else page


def _boot(view: Diagnosis, options: RenderOptions, words: Words) -> Html:
    boot = view.boot
    groups = group(boot) if boot else Groups()
    sections = Sections(words)
    content: list[str] = [_header(view, groups, words), *sections.causes(groups)]
    if view.launch is not None:
        content.append(sections.launch(view.launch))
    if boot is not None:
        drawings = (
            ("html.timeline", timeline(boot, words)),
            ("memory", budget(boot.budget, words) if boot.budget else Html()),
            ("boots", boots_strip(view, words)),
        )
        content += [tag("section", tag("h2", words(name).capitalize()), chart) for name, chart in drawings if chart]
        content += [sections.others(groups), sections.facts(boot)]
    remarks = listed("ul", notes(view))
    content.append(tag("section", tag("h2", words("html.notes")), remarks) if remarks else "")
    status = str(exit_status(view, options.fail_on))
    return tag("article", *content, data_verdict=view.verdict.value, data_exit_status=status)


def _header(view: Diagnosis, groups: Groups, words: Words) -> Html:
    first, *more = headline(view, words)
    word = verdict_word(view, words)
    chip = tag("span", word, class_=f"verdict {view.verdict.value}")
    boot = view.boot
    lines = ["; ".join(more), "; ".join(subject(boot, words)) if boot else "", prose_summary(view)]
    if view.boot is None:
        lines.append(f"{words('give_all')} {words('give_all_command')}")
    root = groups.main[0] if groups.main and not is_undecided(groups) else None
    told = [tag("p", one_line(root.title), class_="lead")] if root is not None else []
    told += [tag("p", line) for line in lines if line]
    return tag("header", tag("h1", chip, first.removeprefix(word)), *told, tag("p", source_file(view), class_="source"))


def _footer(diagnosis: Diagnosis, words: Words) -> Html:
    boot = diagnosis.boot
    prints = [f.fingerprint for f in (group(boot).main if boot else ()) if f.fingerprint]
    parts = [redaction_text(diagnosis, words)]
    parts.append(words("versions", tool=diagnosis.tool_version, database=diagnosis.database_version))
    parts += [words("fingerprint", fingerprint=mark) for mark in prints]
    return tag("footer", *(tag("p", part) for part in parts if part))


def _asset(name: str) -> str:
    return files("logdoctor.report.page").joinpath(name).read_text(encoding="ascii")


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode("ascii")
