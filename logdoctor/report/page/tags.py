"""Elements of HTML: whatever is given as text is escaped; only this module turns text into markup."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_EMPTY = {"meta": "", "rect": "/", "line": "/"}
"""Elements without content, and how their tag ends: within SVG one without the stroke would hold what follows it."""


class Html(str):
    """Markup of ours, as against text."""

    __slots__ = ()


def text(value: str) -> Html:
    """Return text as markup that shows it."""
    return value if isinstance(value, Html) else Html(escape(value, quote=True))


def joined(parts: Iterable[str], between: str = "") -> Html:
    """Join markup and text."""
    return Html(text(between).join(map(text, parts)))


def tag(name: str, /, *content: str, **attributes: str | bool | None) -> Html:
    """Return an element; attributes that are empty, false or None are left out.

    `class_` stands for `class`, and underscores for hyphens: `data_id` is `data-id`.
    """
    said = ""
    for key, value in attributes.items():
        if value:
            written = key.rstrip("_").replace("_", "-")
            said += f" {written}" if value is True else f' {written}="{escape(str(value), quote=True)}"'
    if name in _EMPTY:
        return Html(f"<{name}{said}{_EMPTY[name]}>")
    return Html(f"<{name}{said}>{joined(content)}</{name}>")


def listed(name: str, items: Iterable[str], **attributes: str | bool | None) -> Html:
    """Return a list with an entry per item, nothing when there is none."""
    entries = [tag("li", item) for item in items]
    return tag(name, *entries, **attributes) if entries else Html()


def folded(summary: str, *content: str, **attributes: str | bool | None) -> Html:
    """Return content that is shown when asked for."""
    return tag("details", tag("summary", summary), *content, **attributes)


def to_copy(code: str, copy: str, done: str) -> Html:
    """Return something to type, with a button that copies it; without scripts there is no button."""
    button = tag("button", copy, type="button", class_="copy", hidden=True, data_done=done, aria_live="polite")
    return tag("div", tag("pre", tag("code", code)), button, class_="typed")
