"""The summary for a ticket or a wiki page: readable as plain text, log text inert."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from logdoctor.fleet import report_parts as parts
from logdoctor.fleet.summary import FleetSummary
from logdoctor.fleet.together import Start
from logdoctor.report.escaping import clip, code_span, fenced, markdown_text
from logdoctor.report.options import RenderOptions

_SHOWN = 50


def render(summary: FleetSummary, options: RenderOptions) -> str:
    """Return the summary as Markdown."""
    return "\n".join(_lines(summary)) + "\n"


def _lines(summary: FleetSummary) -> Iterator[str]:
    head, *rest = parts.headline(summary)
    yield f"# {head}: {markdown_text('; '.join(rest))}"
    if parts.news(summary):
        yield f"\n{parts.news(summary)}."
    for start in summary.starts[-_SHOWN:]:
        yield from _start(start)
    if summary.causes:
        yield "\n## Root causes\n"
        yield from _table(summary)
    for cause in summary.causes[:_SHOWN]:
        change = f", {parts.change(cause)}" if cause.before is not None else ""
        yield f"\n### {code_span(cause.id)}: {parts.logs(cause.group.count)}{change}\n"
        yield f"{markdown_text(cause.title)}\n"
        yield from _facets(parts.cause_facets(cause))
    if summary.unknown:
        yield "\n## Unknown failures\n\nNot in the database. A draft matches; a person has to say why."
    for unknown in summary.unknown[:_SHOWN]:
        change = f", {parts.change(unknown)}" if unknown.before is not None else ""
        yield f"\n### {parts.logs(unknown.group.count)}{change}: {code_span(clip(unknown.template, 160))}\n"
        yield from _facets(parts.unknown_facets(unknown))
        yield f"\n<details><summary>Draft signature</summary>\n\n{fenced(unknown.draft.rstrip(), 'yaml')}\n\n</details>"
    if summary.gone:
        yield f"\n## Gone since the baseline\n\n{markdown_text(parts.counts(summary.gone, shown=_SHOWN))}"
    if summary.not_read:
        yield f"\n## Not read: {parts.logs(summary.not_read)}\n"
        yield from (f"- {code_span(one.source)}: {markdown_text(one.error)}" for one in summary.troubles)
    yield f"\nlogdoctor {summary.tool_version}, signature database {summary.database_version}"


def _table(summary: FleetSummary) -> Iterator[str]:
    compared = summary.baseline_logs is not None
    yield "| logs | " + ("before | " if compared else "") + "severity | cause | nodes |"
    yield "| ---: | " + ("---: | " if compared else "") + "--- | --- | ---: |"
    for cause in summary.causes:
        before = f"{'new' if cause.new else parts.number(cause.before or 0)} | " if compared else ""
        different = cause.group.different
        nodes = different["nodes"] or different["hosts"] or different["pods"] or different["directories"] or ""
        count = parts.number(cause.group.count)
        yield f"| {count} | {before}{cause.severity} | {code_span(cause.id)} | {nodes} |"


def _facets(facets: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield from (f"- {label}: {markdown_text(text)}" for label, text in facets)


def _start(start: Start) -> Iterator[str]:
    yield f"\n## {parts.start_title(start).capitalize()}\n"
    for text in (parts.began_text(start), parts.missing_text(start)):
        if text:
            yield f"{markdown_text(text)}\n"
    yield "| | where | ranks | verdict | cause | time |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for member in start.members:
        mark = "began here" if member is start.began else ""
        cells = (_cell(cell) for cell in parts.member_texts(member))
        yield f"| {mark} | {' | '.join(cells)} |"


def _cell(text: str) -> str:
    # A bar would end the cell even inside a code span.
    return markdown_text(text.replace("|", "/"))
