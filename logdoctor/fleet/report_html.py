"""The summary as one HTML file: no scripts, nothing loaded from anywhere, readable in light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from logdoctor.fleet import report_parts as parts
from logdoctor.fleet.summary import Cause, FleetSummary, Unknown
from logdoctor.fleet.together import Start
from logdoctor.fleet.words import FleetWords
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
summary,h1{overflow-wrap:anywhere}
@media (prefers-color-scheme:dark){.fatal,.error{color:#ff8a80}.warning{color:#ffb74d}}
@media (max-width:34rem){dl{grid-template-columns:6rem 1fr}body{margin:1rem auto}}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render(summary: FleetSummary, options: RenderOptions) -> str:
    """Return the summary as an HTML document."""
    return "\n".join(_lines(summary, options.lang)) + "\n"


def _lines(summary: FleetSummary, lang: str) -> Iterator[str]:
    words = FleetWords(lang)
    head, *rest = parts.headline(summary, words)
    yield "<!DOCTYPE html>"
    spoken = "zh-Hans" if lang == "zh" else "en"
    yield f'<html lang="{spoken}"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">'
    yield f"<title>logdoctor: {escape(head)}</title><style>{_STYLE}</style></head><body>"
    yield f"<h1>{escape(head)}</h1><p>{'<br>'.join(map(escape, rest))}</p>"
    if parts.news(summary, words):
        yield f"<p>{escape(parts.news(summary, words))}</p>"
    for start in summary.starts:
        yield from _start(start, words)
    if summary.causes:
        yield f"<h2>{words('title.causes')}</h2>"
    for cause in summary.causes:
        yield from _cause(cause, words)
    if summary.unknown:
        yield f"<h2>{words('title.unknown')}</h2><p>{words('unknown_about')}</p>"
    for unknown in summary.unknown:
        yield from _unknown(unknown, words)
    if summary.gone:
        gone = parts.counts(summary.gone, shown=50, words=words)
        yield f"<h2>{words('title.gone')}</h2><p>{escape(gone)}</p>"
    if summary.not_read:
        yield f"<h2>{words('not_read', logs=parts.logs(summary.not_read, words))}</h2><ul>"
        yield from (f"<li><code>{escape(one.source)}</code>: {escape(one.error)}</li>" for one in summary.troubles)
        yield "</ul>"
    versions = words.versions(summary.tool_version, summary.database_version)
    yield f"<footer>{escape(versions)}</footer>"
    yield "</body></html>"


def _cause(cause: Cause, words: FleetWords) -> Iterator[str]:
    severity = escape(cause.severity)
    yield (
        f'<details><summary>{parts.logs(cause.group.count, words)} <span class="{severity}">{severity}</span> '
        f"<code>{escape(cause.id)}</code> {_change(cause, words)} {escape(cause.title)}</summary>"
    )
    yield from _facets(parts.cause_facets(cause, words))
    yield "</details>"


def _unknown(unknown: Unknown, words: FleetWords) -> Iterator[str]:
    yield (
        f"<details><summary>{parts.logs(unknown.group.count, words)} {_change(unknown, words)} "
        f"<code>{escape(unknown.template)}</code></summary>"
    )
    yield from _facets(parts.unknown_facets(unknown, words))
    yield f"<pre>{escape(unknown.draft)}</pre></details>"


def _change(item: Cause | Unknown, words: FleetWords) -> str:
    text = parts.change(item, words)
    return f'<span class="{"new" if item.new else "was"}">({escape(text)})</span>' if text else ""


def _facets(facets: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield "<dl>"
    yield from (f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in facets)
    yield "</dl>"


def _start(start: Start, words: FleetWords) -> Iterator[str]:
    yield f"<h2>{escape(parts.start_title(start, words).capitalize())}</h2>"
    for text in (parts.began_text(start, words), parts.missing_text(start, words)):
        if text:
            yield f"<p>{escape(text)}</p>"
    names = ("where", "ranks", "verdict", "cause", "time")
    yield f"<table><tr>{''.join(f'<th>{words(name)}' for name in names)}</tr>"
    for member in start.members:
        mark = ' class="began"' if member is start.began else ""
        cells = "".join(f'<td class="t">{escape(cell)}' for cell in parts.member_texts(member, words))
        yield f"<tr{mark}>{cells}</tr>"
    yield "</table>"
