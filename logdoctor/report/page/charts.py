"""The drawings of the HTML page: the phases of the start, the memory of the device, the boots of a loop.

Bars are SVG, sized in percent, so that they follow the width of the page; words and numbers stand in HTML beside them
and keep their size. Nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from logdoctor.model import BootDiagnosis, Budget, Diagnosis, PhaseSpan
from logdoctor.report.escaping import one_line
from logdoctor.report.headline import DEAD, boot_groups
from logdoctor.report.page.tags import Html, joined, listed, tag
from logdoctor.report.services import service_of
from logdoctor.report.values import clock, duration
from logdoctor.report.words import Words

_SHADES = 6
_SLIVER = 0.6
"""Percent of the width below which a bar cannot be seen."""
_BOOTS_SHOWN = 500


def timeline(boot: BootDiagnosis, words: Words) -> Html:
    """Return a table of the phases: each with its stretch of the whole time, its duration and its lines."""
    total = sum(_amount(span.seconds) for span in boot.timeline)
    rows, begin = [], 0.0
    for position, span in enumerate(boot.timeline):
        died = boot.verdict in DEAD and position == len(boot.timeline) - 1
        size = _amount(span.seconds)
        rows.append(_phase(span, (100 * begin / total, 100 * size / total) if total else None, died, words))
        begin += size
    heads = (words("html.phase"), words("html.share"), words("html.duration"), words("html.lines"))
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in heads)))
    return tag("table", head, tag("tbody", *rows), class_="timeline") if rows else Html()


def _phase(span: PhaseSpan, place: tuple[float, float] | None, died: bool, words: Words) -> Html:
    name = words.get("short." + span.phase, one_line(span.phase))
    bar = [tag("rect", class_="track", width="100%", height="100%")]
    if place is not None and (place[1] or died):
        x, width = place[0], max(place[1], _SLIVER)
        bar.append(tag("rect", class_="time", x=_percent(min(x, 100 - width)), width=_percent(width), height="100%"))
    mark = tag("strong", f" {words('html.died')}") if died else ""
    return tag(
        "tr",
        tag("th", name, mark, scope="row"),
        tag("td", tag("svg", *bar, class_="bar", aria_hidden="true")),
        tag("td", _time(span.seconds), class_="number"),
        tag("td", f"{span.first_line}-{span.last_line}", class_="number"),
        class_="died" if died else None,
    )


def budget(budget: Budget, words: Words) -> Html:
    """Return the memory as one bar of parts with a mark at the share that the server may use, and its legend."""
    sizes = [_amount(part.gib) for part in budget.parts]
    total, used = _amount(budget.total_gib), sum(sizes)
    scale = max(total, used)
    if not scale:
        return Html()
    rects, rows, begin = [tag("rect", class_="track", width="100%", height="100%")], [], 0.0
    for number, (part, size) in enumerate(zip(budget.parts, sizes, strict=True)):
        shade, share = f"part{number % _SHADES}", 100 * size / scale
        name = one_line(part.name)
        rects.append(tag("rect", class_=shade, x=_percent(begin), width=_percent(share), height="100%"))
        rows.append(
            _legend(name, f"{part.gib:.1f} GiB", share, shade, words("line", line=part.line) if part.line else "")
        )
        begin += share
    if total > used:
        rows.append(_legend(words("html.free"), f"{total - used:.1f} GiB", 100 * (total - used) / scale, "track", ""))
    limit = total * _amount(budget.utilization)
    if 0 < limit < scale:
        at = _percent(100 * limit / scale)
        rects.append(tag("line", class_="limit", x1=at, x2=at, y1="0", y2="100%"))
    said = words("html.share_of", total=f"{total:.1f}", utilization=f"{budget.utilization:g}", limit=f"{limit:.1f}")
    return joined(
        (
            tag("p", said),
            tag("svg", *rects, class_="budget", role="img", aria_label=words("html.budget_bar")),
            tag("table", tag("tbody", *rows), class_="legend"),
            tag("p", one_line(budget.note)) if budget.note.strip() else "",
        )
    )


def _legend(name: str, size: str, share: float, shade: str, line: str) -> Html:
    swatch = tag("svg", tag("rect", class_=shade, width="100%", height="100%"), class_="swatch", aria_hidden="true")
    numbers = (tag("td", size, class_="number"), tag("td", f"{share:.0f}%", class_="number"), tag("td", line))
    return tag("tr", tag("th", swatch, name, scope="row"), *numbers)


def boots_strip(diagnosis: Diagnosis, words: Words) -> Html:
    """Return every boot as a cell of a strip, and in words how they went; nothing for a single boot."""
    if len(diagnosis.boots) < 2:
        return Html()
    left = len(diagnosis.boots) - _BOOTS_SHOWN
    cells = list(_cells(diagnosis, words))[-_BOOTS_SHOWN:]
    cut = tag("p", words("html.boots_before", count=left)) if left > 0 else ""
    return joined((cut, tag("ol", *cells, class_="boots"), listed("ul", boot_groups(diagnosis, words)[-20:])))


def _cells(diagnosis: Diagnosis, words: Words) -> Iterator[Html]:
    for position, boot in enumerate(diagnosis.boots):
        root = boot.root_cause
        service = service_of(boot, diagnosis)
        begins = position == 0 or diagnosis.boots[position - 1].service != boot.service
        told = [service, words(f"verdict.{boot.verdict.value}").lower(), one_line(root.id) if root else ""]
        title = ", ".join(part for part in (*told, f"{words('html.lines')} {boot.lines[0]}-{boot.lines[1]}") if part)
        yield tag(
            "li",
            tag("strong", f"{service} ") if service and begins else "",
            str(boot.index),
            tag("span", f" {title}", class_="aside"),
            class_=f"cell {boot.verdict.value}",
            title=title,
            aria_current="true" if position == diagnosis.leading else None,
        )


def _time(seconds: float | None) -> str:
    if seconds is None or not 0 <= seconds < 1e9:
        return ""
    return clock(seconds) if seconds >= 0.95 else duration(seconds)


def _percent(value: float) -> str:
    return f"{value:.2f}%"


def _amount(value: float | None) -> float:
    """Return a size or duration to draw: 0 for what is unknown, negative or beyond all measure."""
    return value if value is not None and 0 < value < 1e9 else 0.0
