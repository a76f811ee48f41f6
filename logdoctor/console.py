"""How the command line meets its surroundings: writing whole files, closed pipes, Ctrl-C, one-line errors."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from logdoctor.report.options import RenderOptions
from logdoctor.report.status import EXIT_FAILED


class CommandFailed(Exception):
    """The work could not be done; the message is the one line that the user sees."""


def render_options(to_file: bool, lang: str = "", format_: str = "terminal") -> tuple[RenderOptions, bool]:
    """Return how the report is to look, and whether it leaves the terminal (a pipe, a file): then it is plain.

    `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb` are respected (no-color.org). Without `lang` the locale decides on the
    language of what a person reads at a terminal; everything else is English.
    """
    tty = not to_file and sys.stdout.isatty()
    encoding = (getattr(sys.stdout, "encoding", "") or "").lower().replace("-", "")
    dumb = os.environ.get("TERM", "") in ("dumb", "")
    color = (tty and not dumb) or (bool(os.environ.get("FORCE_COLOR")) and not to_file)
    color = color and not os.environ.get("NO_COLOR")
    plain = not tty and not color
    width = 100 if plain else max(_columns(), 20)
    ascii_only = not encoding.startswith("utf") and not to_file
    spoken = language(lang, by_locale=tty and format_ == "terminal" and not ascii_only)
    if spoken != "en" and not to_file and (ascii_only or _is_c_locale()):
        spoken = "en"  # nobody reads question marks
    return RenderOptions(width=width, color=color, ascii=ascii_only, lang=spoken), plain


def language(asked: str, *, by_locale: bool) -> str:
    """Return the language asked for; without one the locale's where `by_locale`, else English."""
    from logdoctor.report.words import LANGUAGES

    if asked and asked not in LANGUAGES:
        raise CommandFailed(f"--lang wants {' or '.join(LANGUAGES)}, not {asked!r}")
    if asked or not by_locale:
        return asked or "en"
    locale = next((os.environ[key] for key in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(key)), "")
    # What is written in traditional characters (Taiwan, Hong Kong, Macao) is not translated.
    return "zh" if re.match(r"zh(?:_(?:CN|SG|Hans)\w*)?(?:[.@]|$)", locale) else "en"


def _is_c_locale() -> bool:
    """Whether the surroundings ask for plain ASCII: Python itself writes UTF-8 in the C locale (PEP 538, PEP 540)."""
    if os.environ.get("PYTHONIOENCODING") or os.environ.get("PYTHONUTF8"):
        return False
    return (os.environ.get("LC_ALL") or os.environ.get("LANG", "")) in ("C", "POSIX")


def _columns() -> int:
    if os.environ.get("COLUMNS", "").isdecimal():
        return int(os.environ["COLUMNS"]) or 100
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 100
    except (OSError, ValueError):
        return 100


def write_report(text: str, output: Path | None) -> None:
    """Write to standard output, or to a file that appears whole or not at all."""
    data = (text if text.endswith("\n") or not text else text + "\n").encode("utf-8", "replace")
    if output is None:
        _to_stdout(data)
        return
    try:
        _replace_file(output, data)
    except OSError as error:
        raise CommandFailed(f"cannot write {output}: {error.strerror or error}") from error


def _to_stdout(data: bytes) -> None:
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        # Keep Python from complaining when it flushes at the end.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # its reader has what it wanted (`| head`)
            raise CommandFailed(f"cannot write to standard output: {error.strerror or error}") from error


def _replace_file(path: Path, data: bytes) -> None:
    if path.exists() and not path.is_file():
        # A device or pipe such as /dev/stdout or /dev/termination-log cannot be renamed over.
        path.write_bytes(data)
        return
    import tempfile

    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except PermissionError:
        _write_in_place(path, data)
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        Path(temporary).chmod(mode)
        try:
            Path(temporary).replace(path)
        except OSError as error:
            if error.errno not in (errno.EBUSY, errno.EXDEV):
                raise
            _write_in_place(path, data)
            Path(temporary).unlink()
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def _write_in_place(path: Path, data: bytes) -> None:
    """Write over a file that is there: Kubernetes mounts /dev/termination-log as one, alone in a foreign directory."""
    if not path.exists():
        raise PermissionError(errno.EACCES, "Permission denied")
    path.write_bytes(data)


def append_step_summary(text: str) -> None:
    """Append Markdown to the summary of a step of GitHub Actions, where one runs."""
    name = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if not name:
        return
    try:
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(text if text.endswith("\n") else text + "\n")
    except OSError as error:
        raise CommandFailed(f"cannot write GITHUB_STEP_SUMMARY: {error.strerror or error}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def complain(text: str) -> None:
    """Write a remark to standard error, without secrets and with nothing that acts on a terminal or a CI runner."""
    from logdoctor.report.escaping import defuse_commands, escape_control
    from logdoctor.report.redaction import Redactor

    shown = defuse_commands(escape_control(Redactor(keep_hosts=True).text(text)))
    with contextlib.suppress(OSError, ValueError):
        print(f"logdoctor: {shown}", file=sys.stderr)


def open_standard_streams() -> None:
    """Put something in the place of standard streams that the caller has closed.

    Otherwise the next file opened takes their numbers, and messages for standard error go into it. What is read from
    or written to these stands for an error, except on standard error.
    """
    for name, flags, mode in (("stdin", os.O_WRONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode))


def _fault(error: Exception) -> str:
    """Say where logdoctor itself failed; the text of the error could hold the log's, so it is left out."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None and __package__ in place.tb_next.tb_frame.f_code.co_filename:
        place = place.tb_next
    where = f" in {Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}" if place is not None else ""
    return f"{type(error).__name__}{where}: this is a fault of logdoctor, not of the log; LOGDOCTOR_DEBUG=1 shows more"


def guarded(command: Callable[[], object]) -> int:
    """Run a command and return its exit status; a failure becomes one line on standard error and status 2."""
    try:
        status = command()
    except CommandFailed as error:
        complain(str(error))
        return EXIT_FAILED
    except BrokenPipeError:
        return EXIT_FAILED
    except KeyboardInterrupt:
        return EXIT_FAILED
    except Exception as error:
        # Typer's usage errors: recognised by what they offer, as their class moved between Typer's releases.
        message = getattr(error, "format_message", None)
        if message is not None:
            complain(f"{message()}\nTry: logdoctor --help")
            return EXIT_FAILED
        if os.environ.get("LOGDOCTOR_DEBUG"):
            raise
        complain(_fault(error))
        return EXIT_FAILED
    # 130 is what Typer makes of Ctrl-C; statuses of 126 and above belong to the shell.
    return status if isinstance(status, int) and 0 <= status < 126 else EXIT_FAILED if status else 0
