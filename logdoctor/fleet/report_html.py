"""The summary as one HTML file: no scripts, nothing loaded from anywhere, readable in light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from logdoctor.fleet import report_parts as parts
from logdoctor.fleet.summary import Cause, FleetSummary, Unknown
from logdoctor.fleet.together import Start
from logdoctor.report.options import RenderOptions

_STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem}h2{font-size:1.15rem;margin-top:2rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid #8884}
th.n,td.n{text-align:right;font-variant-numeric:tabular-nums}td.t{overflow-wrap:anywhere}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}pre{overflow:auto;padding:.6rem;border:1px solid #8884}
dl{display:grid;grid-template-columns:8rem 1fr;gap:.1rem .6rem;margin:.3rem 0}
dt{opacity:.7}dd{margin:0;overflow-wrap:anywhere}
.fatal,.error{color:#c22}.warning{color:#a60}.new{font-weight:bold}tr.began{font-weight:bold}
details{margin:.6rem 0}summary{cursor:pointer}footer{margin-top:2rem;opacity:.7}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render(summary: FleetSummary, options: RenderOptions) -> str:
    """Return the summary as an HTML document."""
    return "\n".join(_lines(summary)) + "\n"


def _lines(summary: FleetSummary) -> Iterator[str]:
    head, *rest = parts.headline(summary)
    yield "<!DOCTYPE html>"
    yield f'<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">'
    yield f"<title>logdoctor: {escape(head)}</title><style>{_STYLE}</style></head><body>"
    yield f"<h1>{escape(head)}</h1><p>{'<br>'.join(map(escape, rest))}</p>"
    if parts.news(summary):
        yield f"<p>{escape(parts.news(summary))}</p>"
    for start in summary.starts:
        yield from _start(start)
    if summary.causes:
        yield "<h2>Root causes</h2>"
    for cause in summary.causes:
        yield from _cause(cause)
    if summary.unknown:
        yield "<h2>Unknown failures</h2><p>Not in the database. A draft matches; a person has to say why.</p>"
    for unknown in summary.unknown:
        yield from _unknown(unknown)
    if summary.gone:
        yield f"<h2>Gone since the baseline</h2><p>{escape(parts.counts(summary.gone, shown=50))}</p>"
    if summary.not_read:
        yield f"<h2>Not read: {escape(parts.logs(summary.not_read))}</h2><ul>"
        yield from (f"<li><code>{escape(one.source)}</code>: {escape(one.error)}</li>" for one in summary.troubles)
        yield "</ul>"
    versions = f"logdoctor {summary.tool_version}, signature database {summary.database_version}"
    yield f"<footer>{escape(versions)}</footer>"
    yield "</body></html>"


def _cause(cause: Cause) -> Iterator[str]:
    severity = escape(cause.severity)
    yield (
        f'<details><summary>{parts.logs(cause.group.count)} <span class="{severity}">{severity}</span> '
        f"<code>{escape(cause.id)}</code> {_change(cause)} {escape(cause.title)}</summary>"
    )
    yield from _facets(parts.cause_facets(cause))
    yield "</details>"


def _unknown(unknown: Unknown) -> Iterator[str]:
    yield (
        f"<details><summary>{parts.logs(unknown.group.count)} {_change(unknown)} "
        f"<code>{escape(unknown.template)}</code></summary>"
    )
    yield from _facets(parts.unknown_facets(unknown))
    yield f"<pre>{escape(unknown.draft)}</pre></details>"


def _change(item: Cause | Unknown) -> str:
    text = parts.change(item)
    return f'<span class="{"new" if item.new else "was"}">({escape(text)})</span>' if text else ""


def _facets(facets: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield "<dl>"
    yield from (f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in facets)
    yield "</dl>"


def _start(start: Start) -> Iterator[str]:
    yield f"<h2>{escape(parts.start_title(start).capitalize())}</h2>"
    for text in (parts.began_text(start), parts.missing_text(start)):
        if text:
            yield f"<p>{escape(text)}</p>"
    yield "<table><tr><th>where<th>ranks<th>verdict<th>cause<th>time</tr>"
    for member in start.members:
        mark = ' class="began"' if member is start.began else ""
        cells = "".join(f'<td class="t">{escape(cell)}' for cell in parts.member_texts(member))
        yield f"<tr{mark}>{cells}</tr>"
    yield "</table>"
