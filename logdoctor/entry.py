"""Where the installed script begins: the plain forms of the main job start without the machinery of the command line.

`docker logs X 2>&1 | logdoctor --format json` runs in pipes, probes and loops over a thousand logs, and importing Typer
takes longer than reading a start-up log. Whatever is not plain (a sub-command, help, an option spelled otherwise, a
mistake) goes to `logdoctor.cli`, which parses the same options; a test holds the two together.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

VALUES = {
    "--format": "format",
    "-f": "format",
    "--fail-on": "fail_on",
    "--boot": "boot",
    "--max-bytes": "max_bytes",
    "--launch": "launch",
    "--container": "container",
    "--nvidia-smi": "nvidia_smi",
    "--lang": "lang",
}
"""Options with one value, by the name of the field of `commands.Request`."""
LISTS = {"--fact": "facts", "--signatures": "signature_dirs"}
SWITCHES = {"--keep-hosts": "keep_hosts", "--ignore-broken": "ignore_broken"}


def parse_plain(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Return the fields of `commands.Request` for a plain call, or None when the command line has to look at it."""
    found: dict[str, Any] = {}
    paths: list[str] = []
    words = iter(arguments)
    for word in words:
        if word in SWITCHES:
            found[SWITCHES[word]] = True
        elif word in VALUES or word in LISTS:
            value = next(words, None)
            if value is None or value.startswith("-"):
                return None
            if word in LISTS:
                found[LISTS[word]] = (*found.get(LISTS[word], ()), value)
            else:
                found[VALUES[word]] = value
        elif word == "-" or not word.startswith("-"):
            paths.append(word)
        else:
            return None
    # A first word without a dot or slash may be a sub-command; a log called so is `./diagnose`.
    if paths and paths[0].isidentifier():
        return None
    if "max_bytes" in found:
        if not found["max_bytes"].isdecimal():
            return None
        found["max_bytes"] = int(found["max_bytes"])
    return {**found, "paths": tuple(paths or ("-",))}


def main() -> None:
    """Run the tool and leave with its exit status."""
    # A short run that makes many small values: collecting cycles now and then is enough.
    import gc

    gc.set_threshold(200_000, 20, 50)
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from logdoctor.console import open_standard_streams

        open_standard_streams()
    completing = "_LOGDOCTOR_COMPLETE" in os.environ  # how the shell asks, with no arguments at all
    fields = None if completing else parse_plain(sys.argv[1:])
    waits = fields is not None and fields["paths"] == ("-",) and "container" not in fields
    if fields is None or (waits and sys.stdin.isatty()):
        from logdoctor import cli

        cli.main()
        return
    from logdoctor.commands import Request, diagnose
    from logdoctor.console import guarded

    sys.exit(guarded(lambda: diagnose(Request(**fields))))


if __name__ == "__main__":
    main()
