"""A launch as frozen values: what is started, with the place of every word, and where new words would go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from logdoctor.knowledge.releases import Version, parse_version
from logdoctor.launch.pieces import Quoting

Span = tuple[int, int]
"""From and to, as offsets into the launch text."""


class Kind(str, Enum):
    """How the server is started."""

    SERVE = "serve"
    """`vllm serve` or the api_server module, straight on a machine."""
    DOCKER = "docker"
    """`docker run`, `podman run`, `nerdctl run`."""
    COMPOSE = "compose"
    INSPECT = "inspect"
    """What `docker inspect` says; its text is a `docker run` command built from that."""
    KUBERNETES = "kubernetes"
    REBUILT = "rebuilt"
    """Built from the arguments that a log prints."""


class Layout(str, Enum):
    """What a word stands in, which decides how its neighbours are written and removed."""

    SHELL = "shell"
    FLOW = "flow"
    """A list in brackets: YAML's flow style, or JSON."""
    BLOCK = "block"
    """A list with one `- item` a line."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command, and the place where it is written."""

    value: str
    start: int
    end: int
    """With its quotes."""
    before: int = -1
    """Where the word before it ends; -1 for the first of its list."""
    after: int = -1
    """Where the word behind it begins; -1 for the last of its list."""
    layout: Layout = Layout.SHELL
    quoting: tuple[Quoting, ...] = ()
    """The quotations around the list that the word belongs to, the innermost first."""
    expands: bool = False
    """True when the value is known only where the launch runs (`$NAME`) and the launch file does not set it."""
    raw: str = ""
    """As written; differs from `value` by quotes and variables."""
    filled: bool = False
    """True when `value` holds what the launch file itself sets a variable to."""


class Form(str, Enum):
    """How a new variable is written."""

    SHELL = "shell"
    """`NAME=value`, quoted for a shell."""
    ITEM = "item"
    """`- NAME=value`, or the same in a list in brackets."""
    ENTRY = "entry"
    """`NAME: "value"` in a mapping."""
    PAIR = "pair"
    """Kubernetes' `name:` and `value:`."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Where something new is written: `before`, the thing, `after`, inserted at one place."""

    at: int
    before: str = ""
    after: str = ""
    form: Form = Form.SHELL
    quoting: tuple[Quoting, ...] = ()
    flow: bool = False
    """Of a PAIR: written in braces on one line."""
    indent: str = ""
    """Of a PAIR in block style: what stands before its second line."""


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable that the launch sets."""

    name: str
    value: str | None
    """None when it is passed on from where the launch runs."""
    cut: Span
    """What is taken away to remove it."""
    place: Word | None = None
    """The word that holds the value, to write another one."""
    prefix: str = ""
    """What of that word stands before the value, as written: `-e` or `NAME=`."""
    known: bool = True
    """False when the value depends on where the launch runs."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of docker, podman or what stands for it elsewhere."""

    name: str
    """In its long form: `--shm-size`."""
    value: str
    cut: Span


@dataclass(frozen=True, slots=True)
class Container:
    """What a launch says about the container around the server."""

    mounts: tuple[str, ...] = ()
    """`source:target` as written."""
    ports: tuple[tuple[str, str], ...] = ()
    """Published ports: of the host, of the container."""
    gpus: str = ""
    """`all`, a number, device names, or `none`; empty where it is not known."""
    shm: str = ""
    """Size of /dev/shm as written, e.g. `16g`; `memory` when nothing but the memory limits it."""
    ipc_host: bool | None = None
    network_host: bool | None = None
    liveness_seconds: int | None = None
    """After how long a probe ends a server that does not answer yet; None where none does so during a start."""
    liveness_at: int = -1
    """Where that probe is written."""
    service_variables: tuple[str, ...] = ()
    """Variables of vLLM's own names that the orchestrator sets for a service of that name."""
    service_at: int = -1
    """Where that service is named."""
    exit_code: int | None = None
    oom_killed: bool | None = None
    restarts: int | None = None


@dataclass(frozen=True, slots=True)
class LaunchCommand:
    """A launch as it was read. Offsets point into `text`."""

    kind: Kind
    text: str
    name: str = ""
    """Of the container, the service or the workload."""
    image: str = ""
    image_word: Word | None = None
    program: str = ""
    """`vllm serve` or `api_server`; empty where the image decides and is not known."""
    repeated: tuple[Word, ...] = ()
    """Words that name the program once more although the image starts it already: `serve`, `vllm serve`."""
    argv: tuple[Word, ...] = ()
    """The arguments that vLLM gets."""
    complete: bool = True
    """False when some arguments are known only where the launch runs."""
    after: Word | None = None
    """The word behind which the first argument goes when there is none yet."""
    new_arguments: Slot | None = None
    """Where a list of arguments is begun when the launch has none and no word before it."""
    env: Mapping[str, Variable] = field(default_factory=dict)
    env_complete: bool = False
    """True when nothing else can set a variable: no variable file, no unknown image, no calling shell."""
    new_variable: Slot | None = None
    options: tuple[Option, ...] = ()
    container: Container = Container()
    statement: tuple[Word, ...] = ()
    """The whole command that a shell runs, for a line to paste; empty for files that something else reads."""
    unknown: tuple[str, ...] = ()
    """What the launch does not tell, in words."""

    @property
    def tag(self) -> str:
        """The tag of the image."""
        return split_image(self.image)[1]

    @property
    def version(self) -> Version | None:
        """vLLM's version where the image's tag tells it; other vendors' tags count their own releases."""
        repository, tag = split_image(self.image)
        return parse_version(tag) if repository.rpartition("/")[2].startswith("vllm") else None

    @property
    def in_container(self) -> bool:
        """Whether the server runs in a container that this launch starts."""
        return self.kind not in (Kind.SERVE, Kind.REBUILT)

    def option(self, name: str) -> str | None:
        """Return the value of a container option (the last one), or None."""
        return next((option.value for option in reversed(self.options) if option.name == name), None)

    def line(self, at: int) -> int:
        """Return the number of the line that holds a place."""
        return self.text.count("\n", 0, at) + 1

    def words(self) -> Iterator[Word]:
        """Yield what names the program again and the arguments, in their order."""
        yield from self.repeated
        yield from self.argv


def split_image(image: str) -> tuple[str, str]:
    """Split an image reference into repository and tag; the digest is left out."""
    name = image.partition("@")[0]
    head, slash, last = name.rpartition("/")
    repository, _, tag = last.partition(":")
    return f"{head}{slash}{repository}", tag


def is_official(image: str) -> bool:
    """Whether the image is one of vLLM's own, whose entry point is known."""
    repository = split_image(image)[0].removeprefix("docker.io/")
    return repository.startswith("vllm/vllm-openai") or repository.startswith("public.ecr.aws/q9t5s3a7/vllm-")
