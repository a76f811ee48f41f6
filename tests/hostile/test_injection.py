"""Text of strangers stays text: in every format, from every place, through the whole tool."""

from __future__ import annotations

import io
import re
import shlex
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from logdoctor.api import Report, diagnose
from logdoctor.commands import Request, run_diagnosis
from logdoctor.database import load_database
from logdoctor.database.schema import Signature
from logdoctor.diagnosis.templates import fill_command, names, shell_word
from logdoctor.model import Fact
from logdoctor.report import FORMATS, RenderOptions, render
from tests.fuzz.checks import diagnosis_of
from tests.report.test_escaping import VISIBLE
from tests.report.test_markdown import check_inert
from tests.report.wellformed import CHECKS

from .bombs import examples
from .places import BANNER, DEATH, INFO, PLACES
from .running import run

PIECES = {
    "csi": "\x1b[31m\x1b[2J\x1b[1;1Hcsi\x1b[0m",
    "osc": "\x1b]8;;http://evil.example\x07link\x1b]8;;\x07\x1b]52;c;ZXZpbA==\x07\x1b]0;title\x1b\\",
    "dcs": "\x1bPq#0;2;0;0;0\x1b\\\x1b_apc\x1b\\\x1b^pm\x1b\\",
    "c1": "\x9b31m\x9d8;;x\x9c\x90q\x9c\x85\x84",
    "c0": "\x00\x01\x07\x08\x0b\x0c\x0e\x7f",
    "returns": "before\rafter\x08\x08",
    "bidi": "\u202eevil\u202c\u2066x\u2069\u200f\u061c",
    "invisible": "a\u200bb\u200c\u200d\u2060\ufeff\u00ad\u2028\u2029\U000e0041\ufe0f",
    "rich": "[bold red]x[/bold red] [link=http://evil.example]y[/link] [/] [on black]",
    "markdown": "```\n# head\n[a](http://evil.example) ![i](http://evil.example/i.png) @someone #123 GH-1 o/r#4 **b**",
    "fence": "~~~\n````\n</details>\n| a | b |\n|---|---|\n<!-- x -->\n- [ ] task",
    "html": "<script>alert(1)</script><img src=x onerror=alert(1)><a href='javascript:x'>y</a>&lt;&#60;</pre></code>",
    "workflow": "::set-output name=a::b\n::error file=a::b\n##[error]x\n::add-mask::y\n  ::warning::z",
    "csv": "=cmd|' /C calc'!A0,+1,-1,@SUM(1),\t\"x\"",
    "jira": "{code}x{code} {noformat} h1. x [~someone] [x|http://evil.example] !i.png! {color:red}y{color} ||a||",
    "json": '","verdict":"ready","x":["\\u0000\\ud800 \\',
    "xml": "]]><evil/><![CDATA[ &evil; <?pi?> <!DOCTYPE x>\x0b\ufffe\uffff",
    "shell": "$(touch pwned) `touch pwned` ; touch pwned | tee & '\" \\ > pwned",
    "format": "{0} {model.name} {x.__class__} %s %n ${HOME} {{ 7 * 7 }}",
    "prometheus": 'a"} 1\nevil_metric{x="\\"} 2',
    "surrogate": "\ud800\udfff",
}
COLOR = re.compile(r"\x1b\[[0-9;]*m")
OWN_COMMAND = re.compile(r"::(?:error|warning|notice) (?:file=[^,:\n]*,)?(?:line=\d+,)?title=[^:\n]*::")


@cache
def diagnosed(log: str) -> Report:
    """The diagnosis of a log, made once for all formats: it does not depend on them."""
    return diagnose(log.encode("utf-8", "surrogatepass"))


def rendered(log: str, format: str) -> str:
    """The report on a log, as the command line renders it."""
    return render(diagnosed(log).diagnosis, format, options=RenderOptions(color=format == "terminal"))


def whole(log: str, format: str, **more: object) -> str:
    """The report of the whole tool on a log."""
    options = RenderOptions(color=format == "terminal")
    request = Request(("-",), format=format, plain=False, options=options, **more)  # type: ignore[arg-type]
    return run_diagnosis(request, io.BytesIO(log.encode("utf-8", "surrogatepass"))).text


def check(format: str, text: str) -> None:
    """Raise when anything in a report acts."""
    text.encode()
    plain = COLOR.sub("", text) if format == "terminal" else text
    acting = {c for c in plain if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n", "\t"} - VISIBLE
    assert not acting, (format, acting)
    assert "##[" not in text
    for line in text.split("\n"):
        if line.lstrip().startswith("::"):
            assert format == "github" and OWN_COMMAND.match(line), line
    if format in CHECKS:
        CHECKS[format](text)
    elif format == "markdown":
        check_inert(text)


@pytest.mark.parametrize("place", PLACES)
def test_text_stays_text_in_every_place_and_format(place: str) -> None:
    start = list(PLACES).index(place)
    for number, piece in enumerate(PIECES.values(), start):
        log = PLACES[place](piece)
        # Each pair of a place and a piece in a few formats, each format with every place and every piece.
        for format in ("json", *(FORMATS[(number * 3 + step) % len(FORMATS)] for step in range(3))):
            check(format, rendered(log, format))


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_text_stays_text_in_every_place_of_every_format(format: str) -> None:
    for place in PLACES.values():
        for piece in PIECES.values():
            check(format, rendered(place(piece), format))


def test_every_kind_of_harm_from_everything_beside_the_log(tmp_path: Path) -> None:
    launch = tmp_path / "run.sh"
    for number, (name, piece) in enumerate(PIECES.items()):
        piece = piece.replace("\0", "").replace("\ud800\udfff", "\ufffd")
        launch.write_text(
            f"docker run --name {shlex.quote(piece)} vllm/vllm-openai:v0.17.1 --model {shlex.quote(piece)}\n"
        )
        more = {"facts": (f"gpu.name={piece}", f"env.VLLM_X={piece}"), "launch": str(launch)}
        for format in (FORMATS[(number * 5 + step) % len(FORMATS)] for step in range(5)):
            try:
                check(format, whole(BANNER + DEATH, format, **more))
            except Exception as error:
                raise AssertionError(f"{name} in {format}") from error


@pytest.mark.parametrize("name", [name for name in PIECES if name not in ("c0", "surrogate")])
def test_names_of_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / PIECES[name].replace("/", "_")[:80]
    path.write_text(BANNER + DEATH)
    for format in FORMATS:
        check(format, run_diagnosis(Request((str(path),), format=format), io.BytesIO()).text)


def test_rich_markup_is_printed_as_it_stands() -> None:
    text = COLOR.sub(
        "", whole(PLACES["unknown_exception"]("[bold red]x[/bold red] [link=http://a]y[/link]"), "terminal")
    )
    assert "[bold red]x[/bold red]" in text


def test_standard_error_and_drafts(tmp_path: Path) -> None:
    for name, piece in PIECES.items():
        log = PLACES["unknown_exception"](piece).encode("utf-8", "surrogatepass")
        draft = run("signatures", "new", "-", data=log) if name in ("csi", "bidi", "workflow", "json") else None
        if draft is not None:
            assert draft.status == 0, draft.err
            check("text", draft.text)
            import yaml

            (entry,) = yaml.safe_load(draft.text)
            assert entry["id"] and set(entry) <= {
                "id", "title", "severity", "phase", "match", "cause", "remedies", "verify", "confidence", "basis",
                "references", "examples",
            }  # fmt: skip
    outcome = run("explain", PIECES["csi"] + PIECES["workflow"] + PIECES["bidi"])
    assert outcome.status == 2
    check("text", outcome.err)


# --- what clients sent ----------------------------------------------------------------------------------------------

QUOTED: dict[str, Callable[[str], str]] = {
    "prompt": lambda text: f"{INFO}Received request cmpl-1: prompt: {text!r}, params: SamplingParams(n=1)\n",
    "prompt of several lines": lambda text: "".join(
        f"{INFO}{line}\n" for line in f"Received request cmpl-1: prompt: '{text}', params: x".split("\n")
    ),
    "id": lambda text: f"{INFO}Added request {one_line(text)}.\n",
    "answer": lambda text: f"{INFO}Generated response cmpl-1: output: {text!r}, output_token_ids: [1]\n",
    "path": lambda text: f'(APIServer pid=1) INFO:     1.2.3.4:5 - "GET /{one_line(text)} HTTP/1.1" 404 Not Found\n',
    "template": lambda text: "".join(
        f"{INFO}{line}\n" for line in f"Using supplied chat template:\n{text}".split("\n")
    ),
    "dump": lambda text: "".join(
        f"{INFO.replace('INFO', 'ERROR')}{line}\n"
        for line in f"Dumping input data for V1 LLM engine: {text}".split("\n")
    ),
}


def one_line(text: str) -> str:
    return " ".join(text.split())


def told(log: str) -> list[list[str]]:
    """Ids of what a log is found to have."""
    log = f"[W1130 09:20:57.066773357 utils.cpp:103] Warning: NUMA binding\n{log}"  # standard error is there
    return [sorted(finding.id for finding in boot.findings) for boot in diagnosis_of(log.encode()).boots]


@pytest.mark.parametrize("kind", QUOTED)
def test_what_a_client_says_never_fires_a_signature(kind: str) -> None:
    plain = told(f"{BANNER}{QUOTED[kind]('hello')}{DEATH}")
    assert plain
    for start in range(0, len(examples()), 40):
        texts = examples()[start : start + 40]
        log = "".join(QUOTED[kind](text) for text in texts)
        found = told(f"{BANNER}{log}{DEATH}")
        if found != plain:
            guilty = [text for text in texts if told(f"{BANNER}{QUOTED[kind](text)}{DEATH}") != plain]
            raise AssertionError(f"{found} because of {guilty}")


ARGUMENTS = "(APIServer pid=1) INFO 11-30 09:20:45 [utils.py:238] non-default args: "
NAMED: dict[str, Callable[[str], str]] = {
    "template": lambda text: f"{ARGUMENTS}{{'chat_template': {text!r}}}\n",
    "served name": lambda text: f"{ARGUMENTS}{{'served_model_name': [{text!r}]}}\n",
    "file": lambda text: f"{INFO}Starting to load model /models/{one_line(text)}...\n",
}


@pytest.mark.parametrize("kind", NAMED)
def test_what_things_are_called_never_fires_a_signature(kind: str) -> None:
    plain = told(f"{BANNER}{NAMED[kind]('hello')}{DEATH}")
    # Many at once, then one by one where something fires. The entry on printed keys looks there on purpose.
    texts = [text for text in examples() if "'api_key'" not in text]
    for start in range(0, len(texts), 40):
        some = texts[start : start + 40]
        if told(f"{BANNER}{''.join(map(NAMED[kind], some))}{DEATH}") != plain:
            raise AssertionError([text for text in some if told(f"{BANNER}{NAMED[kind](text)}{DEATH}") != plain])


# --- remedies -------------------------------------------------------------------------------------------------------

texts = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40),
    st.lists(st.sampled_from([*"$;|&'\"\\\n a>*~#!=`(", "$(x)"]), min_size=1, max_size=12).map("".join),
)  # fmt: skip


def filled_remedies() -> Iterator[tuple[Signature, str]]:
    for signature in load_database(environ={}).signatures:
        for remedy in signature.remedies:
            if names(remedy.value):
                yield signature, remedy.value


@given(texts)
@example("a'b")
@settings(deadline=None)
def test_a_value_is_one_word_of_the_shell(text: str) -> None:
    assert shlex.split(shell_word(text)) == [text]


@given(texts)
@example("$(touch pwned); `x` \"y\" 'z' \\ & | > w")
@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
def test_captured_text_never_shapes_a_remedy(text: str) -> None:
    shown = " ".join(text.split())
    for signature, value, plain in plain_words():
        facts = {name: Fact(name, text) for name in names(value)}
        for command, _ in (
            fill_command(value, dict.fromkeys(names(value), text), {}),
            fill_command(value, {}, facts),
        ):
            assert _words(command) == [word.replace("PLAIN", shown) for word in plain], (signature.id, value, command)


@cache
def plain_words() -> tuple[tuple[Signature, str, list[str]], ...]:
    """The remedies that a log fills, each with the words of it where the log says something harmless; each once."""
    values = {value: signature for signature, value in filled_remedies() if names(value)}
    return tuple(
        (signature, value, _words(fill_command(value, dict.fromkeys(names(value), "PLAIN"), {})[0]))
        for value, signature in values.items()
    )


def _words(command: str) -> list[str]:
    """The words and operators that a shell would see."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


@pytest.mark.parametrize("place", PLACES)
def test_commands_of_a_report_hold_strangers_text_as_words_only(place: str) -> None:
    """Wherever the text comes from, a shell that reads a remedy gets it as it is or not at all."""
    for piece in (PIECES["shell"], "x$(touch pwned)", "--model=`touch pwned`", "a;touch pwned"):
        for boot in diagnosis_of(PLACES[place](piece).encode()).boots:
            for finding in boot.findings:
                for remedy in finding.remedies:
                    if "touch" in remedy.command and remedy.kind in (
                        "flag",
                        "env",
                        "remove",
                        "host",
                        "image",
                        "config",
                    ):
                        words = _words(remedy.command)
                        assert any("$(touch" in w or "`touch" in w or "touch pwned" in w for w in words), remedy
                        assert not any(w in (";", "|", "&", ">", "touch") for w in words), remedy
