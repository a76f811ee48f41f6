"""The summary for a ticket or a wiki page: readable as plain text, log text inert."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from logdoctor.fleet import report_parts as parts
from logdoctor.fleet.summary import FleetSummary
from logdoctor.fleet.together import Start
from logdoctor.fleet.words import FleetWords
from logdoctor.report.escaping import clip, code_span, fenced, markdown_text
from logdoctor.report.options import RenderOptions

_SHOWN = 50


def render(summary: FleetSummary, options: RenderOptions) -> str:
    """Return the summary as Markdown."""
    return "\n".join(_lines(summary, FleetWords(options.lang))) + "\n"


def _lines(summary: FleetSummary, words: FleetWords) -> Iterator[str]:
    head, *rest = parts.headline(summary, words)
    yield f"# {head}: {markdown_text('; '.join(rest))}"
    if parts.news(summary, words):
        yield f"\n{parts.news(summary, words)}{words('stop')}"
    for start in summary.starts[-_SHOWN:]:
        yield from _start(start, words)
    if summary.causes:
        yield f"\n## {words('title.causes')}\n"
        yield from _table(summary, words)
    for cause in summary.causes[:_SHOWN]:
        change = f", {parts.change(cause, words)}" if cause.before is not None else ""
        yield f"\n### {code_span(cause.id)}: {parts.logs(cause.group.count, words)}{change}\n"
        yield f"{markdown_text(cause.title)}\n"
        yield from _facets(parts.cause_facets(cause, words))
    if summary.unknown:
        yield f"\n## {words('title.unknown')}\n\n{words('unknown_about')}"
    for unknown in summary.unknown[:_SHOWN]:
        change = f", {parts.change(unknown, words)}" if unknown.before is not None else ""
        yield f"\n### {parts.logs(unknown.group.count, words)}{change}: {code_span(clip(unknown.template, 160))}\n"
        yield from _facets(parts.unknown_facets(unknown, words))
        title = words("draft_title")
        yield f"\n<details><summary>{title}</summary>\n\n{fenced(unknown.draft.rstrip(), 'yaml')}\n\n</details>"
    if summary.gone:
        gone = parts.counts(summary.gone, shown=_SHOWN, words=words)
        yield f"\n## {words('title.gone')}\n\n{markdown_text(gone)}"
    if summary.not_read:
        yield f"\n## {words('not_read', logs=parts.logs(summary.not_read, words))}\n"
        yield from (f"- {code_span(one.source)}: {markdown_text(one.error)}" for one in summary.troubles)
    yield f"\n{words.versions(summary.tool_version, summary.database_version)}"


def _table(summary: FleetSummary, words: FleetWords) -> Iterator[str]:
    compared = summary.baseline_logs is not None
    names = ("examples", *(("before",) if compared else ()), "severity", "cause", "nodes")
    yield f"| {' | '.join(map(words, names))} |"
    yield "| ---: | " + ("---: | " if compared else "") + "--- | --- | ---: |"
    for cause in summary.causes:
        before = f"{words('new') if cause.new else parts.number(cause.before or 0)} | " if compared else ""
        different = cause.group.different
        nodes = different["nodes"] or different["hosts"] or different["pods"] or different["directories"] or ""
        count = parts.number(cause.group.count)
        yield f"| {count} | {before}{cause.severity} | {code_span(cause.id)} | {nodes} |"


def _facets(facets: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield from (f"- {label}: {markdown_text(text)}" for label, text in facets)


def _start(start: Start, words: FleetWords) -> Iterator[str]:
    yield f"\n## {parts.start_title(start, words).capitalize()}\n"
    for text in (parts.began_text(start, words), parts.missing_text(start, words)):
        if text:
            yield f"{markdown_text(text)}\n"
    names = ("where", "ranks", "verdict", "cause", "time")
    yield f"| | {' | '.join(map(words, names))} |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for member in start.members:
        mark = words("began_here") if member is start.began else ""
        cells = (_cell(cell) for cell in parts.member_texts(member, words))
        yield f"| {mark} | {' | '.join(cells)} |"


def _cell(text: str) -> str:
    # A bar would end the cell even inside a code span.
    return markdown_text(text.replace("|", "/"))
