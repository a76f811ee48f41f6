"""What a record shows about its boot: that it is vLLM's, that a server starts here, that one ends here."""

from __future__ import annotations

import re

from logdoctor.model import ExceptionInfo, Record

_STAMP = re.compile(r"\d\d-\d\d \d\d:\d\d:\d\d$")
_PROGRAM = re.compile(r"(?:usage: vllm|vllm(?: \w+)?: error: |api_server\.py: error: )", re.M)
_LOGO = re.compile(r"█\s+version\s+\S")
_BANNERS = ("vLLM API server version ", "vLLM server version ")

# Written by any vLLM process while it is imported, before it has a name.
_PRELUDE_FILES = frozenset(
    [
        "importing.py",
        "interface.py",
        "__init__.py",
        "serve.py",
        "main.py",
        "envs.py",
        "argparse_utils.py",
        "scalar_type.py",
    ]
)
_IMPORT_FILES = frozenset({"importing.py", "platforms/__init__.py"})
_PLATFORM = ("Automatically detected platform", "No platform detected", "Checking if ", "Confirmed ")
_IMAGE = re.compile(r"== (?:CUDA|PyTorch|vLLM|NVIDIA|Triton|TensorRT)[^=\n]{0,60} ==\s*$")
_EXITED = re.compile(r"[\w.-]{1,200} exited with code -?\d+")
_USAGE_ERROR = re.compile(r"(?:^|\n)[\w./ -]{1,80}: error: ")


def looks_like_vllm(record: Record) -> bool:
    """Whether a record has the marks of vLLM: its processes, its logger's head, its program name, its code."""
    if record.process.role or _STAMP.match(record.time):
        return True
    text = record.lines[0][1]
    if _PROGRAM.search(record.message if text.startswith("usage:") else text):
        return True
    return record.exception is not None and passes_through(record.exception, "/vllm/")


def passes_through(exception: ExceptionInfo, path: str) -> bool:
    """Whether vLLM's own exception, or a file whose name holds `path`, stands anywhere in a traceback and its chain."""
    return any(
        link.type.startswith("vllm.") or any(path in frame.file for frame in link.frames) for link in exception.chain()
    )


def is_banner(record: Record) -> bool:
    """Whether the record is the server's banner: its name and version in one line, or the logo over five."""
    if record.level != "INFO" or record.quoted or record.process.role in ("engine", "worker"):
        return False
    return any(text.startswith(_BANNERS) or ("█" in text and _LOGO.search(text)) for _, text in record.lines[:8])


def is_image_banner(record: Record) -> bool:
    """Whether the container's own banner begins here (printed once per start of the container)."""
    return not record.level and bool(_IMAGE.match(record.lines[0][1]))


def is_rule(record: Record) -> bool:
    """Whether the record is a ruled line, as above and below the name in a container's own banner."""
    text = record.lines[0][1]
    return text[:1] == "=" and not record.level and not text.strip().strip("=")


def is_import_line(record: Record) -> bool:
    """Whether a nameless process has just begun to import vLLM: the first line of a start, or of a child."""
    if record.process.name:
        return False
    text = record.lines[0][1]
    if record.file in _IMPORT_FILES or record.file.endswith("/cpp_extension.py"):
        return True
    return record.file == "__init__.py" and text.startswith(_PLATFORM)


def begins_start(record: Record) -> bool:
    """Whether the record can be the first of a start, before its banner."""
    return is_import_line(record) or is_image_banner(record) or is_rule(record)


def is_prelude(record: Record) -> bool:
    """Whether the record can stand between the first line of a start and its banner."""
    if record.process.name or record.exception is not None or is_usage_error(record) or is_exit_line(record):
        return False
    if record.level in ("", "DEBUG") or not _STAMP.match(record.time):
        return True
    return record.file.rsplit("/", 1)[-1] in _PRELUDE_FILES


def is_usage_error(record: Record) -> bool:
    """Whether argparse refused the command line: nothing of this start can follow."""
    return not record.level and ": error: " in record.message and bool(_USAGE_ERROR.search(record.message))


def is_exit_line(record: Record) -> bool:
    """Whether the container's end is reported (`name exited with code 1 (restarting)`)."""
    return not record.level and bool(_EXITED.match(record.lines[0][1]))


def is_last_word(record: Record) -> bool:
    """Whether the main process dies with this record: its uncaught exception, or a refused command line."""
    if is_usage_error(record):
        return True
    if record.exception is None or not record.exception.frames or record.level or record.quoted:
        return False
    if record.lines[0][1].startswith("Exception "):
        return False  # of a thread or a finaliser: the process lives on
    return record.process.role in ("api", "") and not record.process.rank
