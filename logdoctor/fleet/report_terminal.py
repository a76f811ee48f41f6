"""The summary for a terminal or a pipe: plain lines, colour only for severities and for what is new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from logdoctor.fleet import report_parts as parts
from logdoctor.fleet.summary import Cause, FleetSummary, Unknown
from logdoctor.fleet.together import Start
from logdoctor.fleet.words import FleetWords
from logdoctor.report.escaping import clip, defuse_commands, one_line, to_ascii
from logdoctor.report.options import RenderOptions
from logdoctor.report.wrapping import cell_width, pad, wrapped

_LABEL = 12
_SHOWN = 20
_TROUBLES = 10
_COLORS = {"fatal": "31", "error": "31", "warning": "33", "info": "36", "new": "1;35", "head": "1"}


def render(summary: FleetSummary, options: RenderOptions) -> str:
    """Return the summary as text."""
    text = "\n".join(_Text(options).lines(summary)) + "\n"
    text = defuse_commands(text)
    return to_ascii(text) if options.ascii else text


class _Text:
    def __init__(self, options: RenderOptions) -> None:
        self._width = max(options.width, 40)
        self._color = options.color
        self._words = FleetWords(options.lang)
        self._dot = "-" if options.ascii else "·"

    def lines(self, summary: FleetSummary) -> Iterator[str]:
        yield from self._prose(f" {self._dot} ".join(parts.headline(summary, self._words)), "")
        yield from self._prose(parts.news(summary, self._words), "")
        yield from self._starts(summary.starts)
        yield from self._section("head.causes", len(summary.causes))
        for cause in summary.causes[:_SHOWN]:
            yield from self._cause(cause)
        yield from self._more(len(summary.causes), "causes")
        yield from self._section("head.unknown", len(summary.unknown))
        for unknown in summary.unknown[:_SHOWN]:
            yield from self._unknown(unknown)
        yield from self._more(len(summary.unknown), "unknown")
        if summary.gone:
            yield from self._section("head.gone", len(summary.gone))
            yield from self._prose(parts.counts(summary.gone, shown=_SHOWN, words=self._words), "  ")
        yield from self._section("head.not_read", summary.not_read)
        for trouble in summary.troubles[:_TROUBLES]:
            yield from self._prose(f"{trouble.source}: {trouble.error}", "  ", "    ")
        if summary.not_read > _TROUBLES:
            yield self._words("more_lines", count=parts.number(summary.not_read - _TROUBLES))
        yield ""
        yield self._words.versions(summary.tool_version, summary.database_version)

    def _section(self, title: str, count: int) -> Iterator[str]:
        if count:
            yield ""
            yield self._paint(f"{self._words(title)} ({parts.number(count)})", "head")

    def _more(self, count: int, what: str) -> Iterator[str]:
        if count > _SHOWN:
            yield self._words("more_of", count=parts.number(count - _SHOWN), what=self._words(what))

    def _cause(self, cause: Cause) -> Iterator[str]:
        severity = self._paint(cause.severity, cause.severity)
        yield self._head(cause.group.count, f"{severity} {cause.id}", parts.change(cause, self._words), cause.new)
        yield from self._prose(cause.title, "      ")
        yield from self._facets(parts.cause_facets(cause, self._words))

    def _unknown(self, unknown: Unknown) -> Iterator[str]:
        template = clip(one_line(unknown.template), self._width * 2)
        yield self._head(unknown.group.count, "unknown-failure", parts.change(unknown, self._words), unknown.new)
        yield from self._prose(template, "      ")
        yield from self._facets(parts.unknown_facets(unknown, self._words))
        named, match = parts.draft_lines(unknown.draft)
        yield from self._facets([(self._words("draft"), f"{named}  {match}")])
        yield from self._facets([(self._words("to_add"), self._words("to_add.how"))])

    def _head(self, count: int, what: str, change: str, new: bool) -> str:
        mark = self._paint(change.upper(), "new") if change and new else change
        return "  ".join(part for part in (f"{parts.number(count):>6}", what, mark) if part)

    def _facets(self, facets: Iterable[tuple[str, str]]) -> Iterator[str]:
        for label, text in facets:
            lead = f"      {pad(label, _LABEL)}"
            yield from self._prose(text, lead, " " * cell_width(lead))

    def _starts(self, starts: tuple[Start, ...]) -> Iterator[str]:
        if not starts:
            return
        yield from self._section("head.starts", len(starts))
        for start in starts[-_SHOWN:]:
            yield f"  {parts.start_title(start, self._words)}"
            if parts.began_text(start, self._words):
                yield from self._prose(parts.began_text(start, self._words), "    ", "      ")
            if parts.missing_text(start, self._words):
                yield from self._prose(parts.missing_text(start, self._words), "    ", "      ")
            yield from self._members(start)

    def _members(self, start: Start) -> Iterator[str]:
        rows = [tuple(parts.member_texts(member, self._words)) for member in start.members]
        widths = [min(max(len(row[column]) for row in rows), 40) for column in range(5)]
        for member, row in zip(start.members, rows, strict=True):
            mark = ">" if member is start.began else " "
            cells = "  ".join(f"{clip(cell, 40):<{width}}" for cell, width in zip(row, widths, strict=True))
            yield f"    {mark} {cells}".rstrip()

    def _prose(self, text: str, lead: str, hang: str | None = None) -> Iterator[str]:
        yield from wrapped(one_line(text), self._width, lead, lead if hang is None else hang)

    def _paint(self, text: str, name: str) -> str:
        code = _COLORS.get(name)
        return f"\x1b[{code}m{text}\x1b[0m" if self._color and code else text
