"""A sheet of a terminal that is written top to bottom: rows beside a heading, wrapped prose, lines that stay whole."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from logdoctor.report.grouping import shorten
from logdoctor.report.options import RenderOptions
from logdoctor.report.words import Words, glyphs
from logdoctor.report.wrapping import breaks, has_wide

PROSE_COLUMNS = 110
"""Longer lines of prose are hard to read, however wide the terminal is."""
ROWS_SHOWN = 8
"""Items of a list that are told; of the others their number."""


class Sheet:
    """The lines of a report being written."""

    def __init__(self, options: RenderOptions) -> None:
        self._width = max(20, options.width)
        self._words = Words(options.lang)
        self._marks = glyphs(options.ascii)
        self._out = io.StringIO()
        # An empty environment: the caller has decided about colour and width, and the output may not depend on more.
        self._console = Console(
            file=self._out,
            width=self._width,
            force_terminal=options.color,
            color_system="standard" if options.color else None,
            markup=False,
            highlight=False,
            emoji=False,
            legacy_windows=False,
            _environ={},
        )

    def _blank(self) -> None:
        if not self._out.getvalue().endswith("\n\n"):
            self._raw("")

    def _heading(self, text: str) -> None:
        self._blank()
        self._print(Text(text, style="bold"))

    def _rows(self, head: str, lines: Sequence[str], *, blank: bool = False) -> None:
        """Write lines of prose or drawing beside a heading."""
        if blank and lines:
            self._blank()
        indent = cell_len(head) + 2
        for position, line in enumerate(lines):
            start = Text.assemble((head, "bold"), "  ") if position == 0 else Text(" " * indent)
            self._wrapped(start + Text(line), hang=indent)

    def _list(self, head: str, items: Sequence[str]) -> None:
        """Write a list beside a heading: the first items, the rest as a count."""
        if items:
            self._rows(head, [shorten(items, ROWS_SHOWN, self._words)])

    def _wrapped(self, text: Text, *, indent: int = 0, hang: int = 0, limit: int = PROSE_COLUMNS) -> None:
        """Write prose, wrapped at a readable width, later lines `hang` columns further in."""
        columns = max(10, min(self._width, limit) - indent)
        first, *rest = self._lines(text, columns) or [Text()]
        self._print(Text(" " * indent) + first)
        if rest:
            remaining = text[len(first) :]
            remaining = remaining[len(remaining.plain) - len(remaining.plain.lstrip()) :]
            hang = hang if columns - hang >= 20 else min(hang, 4)
            lead = " " * (indent + hang)
            for line in self._lines(remaining, max(10, columns - hang)):
                self._print(Text(lead) + line)

    def _lines(self, text: Text, columns: int) -> Sequence[Text]:
        # Rich ends lines at blanks only, of which Chinese has few.
        wide = has_wide(text.plain)
        return [*(text.divide(breaks(text.plain, columns)) if wide else text.wrap(self._console, columns))]

    def _cut(self, lead: str, text: str, limit: int) -> None:
        """Write one line of the log on at most `limit` lines of the terminal, then cut with the cut shown."""
        indent = 4 + (cell_len(lead) if self._width - cell_len(lead) > 30 else 0)
        columns = max(10, self._width - indent)
        lines = Text(text).wrap(self._console, columns)
        shown = [line.plain for line in lines[:limit]]
        if len(lines) > len(shown):
            last = Text(shown[-1])
            last.truncate(columns - len(self._marks.ellipsis), overflow="crop")
            shown[-1] = last.plain.rstrip() + self._marks.ellipsis
        if indent == 4 and lead:
            self._wrapped(Text(lead.rstrip()), indent=4)
        for position, line in enumerate(shown or [""]):
            self._raw(f"    {lead}{line}" if position == 0 and indent > 4 else " " * indent + line)

    def _raw(self, text: str, style: str = "") -> None:
        """Write one line as it is, however long: what one pastes may not be broken."""
        self._print(Text(text, style))

    def _print(self, text: Text) -> None:
        text.rstrip()
        self._console.print(text, soft_wrap=True)


def pad(text: str, cells: int) -> str:
    """Return the text filled up with blanks to a width in cells."""
    return text + " " * (cells - cell_len(text))
