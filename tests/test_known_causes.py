"""Failures around vLLM whose texts come from other programs: each gets its own cause and what to do about it.

A row is a name, the log, the id of the root cause, what its remedies must name, and what they must not.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from logdoctor.model import BootDiagnosis, Role
from tests.diagnosis.build import banner, diagnose, raised, root, said


class Row(NamedTuple):
    """One failure and what must be said of it."""

    name: str
    log: str
    cause: str
    fix: tuple[str, ...] = ()
    not_fix: tuple[str, ...] = ()
    title: str = ""


def started(*lines: str, version: str = "0.24.0", **arguments: object) -> str:
    """A start that got as far as the workers, then these lines."""
    rank = said("rank 0 in world size 1 is assigned as DP rank 0, PP rank 0, PCP rank 0, TP rank 0, EP rank 0")
    engine = said(f"Initializing a V1 LLM engine (v{version}) with config: model='acme/m', dtype=torch.bfloat16")
    return "\n".join((banner(version, **arguments), engine, rank, *lines))


def failing(error: str, *functions: str, version: str = "0.24.0") -> str:
    """A start whose engine ends with this error."""
    return started(raised(error, *functions), version=version)


def api(error: str, version: str = "0.24.0", **arguments: object) -> str:
    """A start whose API server ends with this uncaught error."""
    main = '  File "/usr/local/lib/python3.12/dist-packages/vllm/entrypoints/cli/main.py", line 73, in main'
    script = '  File "/usr/local/bin/vllm", line 8, in <module>'
    lines = [
        "Traceback (most recent call last):",
        script,
        "    sys.exit(main())",
        main,
        "    args.dispatch_function(args)",
    ]
    return "\n".join(
        (banner(version, **arguments), *(f"(APIServer pid=1) {line}" for line in (*lines, *error.split("\n"))))
    )


def oci(reason: str) -> str:
    """Docker's refusal with the toolkit's own words on the second line."""
    return (
        "docker: Error response from daemon: failed to create task for container: failed to create shim task: OCI "
        "runtime create failed: runc create failed: unable to start container process: error during container init: "
        "error running prestart hook #0: exit status 1, stdout: , stderr: Auto-detected mode as 'legacy'\n"
        f"nvidia-container-cli: {reason}"
    )


HUB = "For more details, see https://huggingface.co/docs/huggingface_hub/authentication"
MISSING = (
    "huggingface_hub.errors.RepositoryNotFoundError: 401 Client Error. (Request ID: Root=1-68b0;e6a3)\n\n"
    "Repository Not Found for url: https://huggingface.co/api/models/nvidia/NVIDIA-Nemotron-3-Super-120B-NVFP4.\n"
    "Please make sure you specified the correct `repo_id` and `repo_type`.\n"
    "If you are trying to access a private or gated repo, make sure you are authenticated and your token has the "
    f"required permissions.\n{HUB}\n"
)

HUB_ROWS = (
    Row("name", api(MISSING + "Invalid username or password."), "hub-repository-not-found", ("search=", "HF_TOKEN")),
    Row(
        "name-404",
        api(MISSING.replace("401", "404") + "Repository not found", model="nvidia/NVIDIA-Nemotron-3-Super-120B-NVFP4"),
        "hub-repository-not-found",
        ("Super-120B-A12B-NVFP4",),
        ("Nano-30B",),
    ),
    Row(
        "token",
        api(
            "huggingface_hub.errors.HfHubHTTPError: 401 Client Error: Unauthorized for url: "
            "https://huggingface.co/acme/m/"
            "resolve/main/config.json (Request ID: Root=1-68b0;e6a3)\n\nInvalid credentials in Authorization header"
        ),
        "hub-token-invalid",
        ("HF_TOKEN",),
    ),
    Row(
        "token-expired",
        api(
            "huggingface_hub.errors.HfHubHTTPError: 401 Client Error: Unauthorized for url: https://huggingface.co/api/"
            'whoami-v2 (Request ID: Root=1-68b0;e6a3)\n\nUser Access Token "vllm" is expired'
        ),
        "hub-token-invalid",
    ),
    Row("whoami", api("requests.exceptions.HTTPError: Invalid user token."), "hub-token-invalid"),
    Row(
        "gated",
        api(
            "huggingface_hub.errors.GatedRepoError: 401 Client Error. (Request ID: Root=1-68b0;e6a3)\n\nCannot access "
            "gated repo for url "
            "https://huggingface.co/acme/gated/resolve/main/config.json.\nAccess to model acme/gated is "
            "restricted. You must have access to it and be authenticated to access it. Please log in."
        ),
        "hub-gated-no-token",
    ),
)

TOOLKIT_ROWS = (
    Row(
        "mismatch",
        oci("initialization error: nvml error: driver/library version mismatch: unknown"),
        "nvml-driver-mismatch",
        ("reboot", "rmmod"),
        ("nvidia-ctk",),
    ),
    Row(
        "not-loaded",
        oci("initialization error: nvml error: driver not loaded: unknown"),
        "container-driver-not-loaded",
        ("nvidia-smi", "modprobe nvidia"),
        ("nvidia-ctk",),
    ),
    Row(
        "no-request",
        oci("initialization error: driver rpc error: failed to process request: unknown."),
        "container-driver-not-loaded",
        ("modprobe",),
    ),
    Row(
        "no-library",
        oci("initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: unknown"),
        "container-driver-not-loaded",
    ),
    Row(
        "rpc",
        oci("initialization error: driver rpc error: timed out: unknown"),
        "container-driver-slow",
        ("persistence",),
    ),
    Row("device", oci("device error: 3: unknown device: unknown"), "container-gpu-unknown", ("nvidia-smi -L",)),
    Row(
        "device-id",
        oci("device error: unknown device id: GPU-1234: unknown"),
        "container-gpu-unknown",
        ("nvidia-smi -L",),
    ),
    Row(
        "cuda",
        oci(
            "requirement error: unsatisfied condition: cuda>=13.0, please update your driver to "
            "a newer version, or use an "
            "earlier cuda container: unknown."
        ),
        "container-cuda-requirement",
        ("newer driver", "older CUDA"),
        ("COMPATIBILITY",),
        r"cuda>=13\.0",
    ),
    Row(
        "toolkit",
        'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
        "container-runtime-no-gpu",
        ("nvidia-container-toolkit", "nvidia-ctk runtime configure"),
    ),
    Row(
        "wsl",
        oci("initialization error: WSL environment detected but no adapters were found"),
        "container-driver-not-loaded",
    ),
    Row(
        "real",
        oci("x").replace("cli: x", "cli.real: ldcache error: open failed: /sbin/ldconfig.real"),
        "container-driver-error",
    ),
    Row(
        "cgroup",
        oci("mount error: bpf_prog_query(BPF_CGROUP_DEVICE) failed"),
        "container-driver-error",
        ("no-cgroups",),
    ),
    Row("other", oci("initialization error: cuda error: unknown error"), "container-driver-error", ("nvidia-smi",)),
)

SHELL = '/entrypoint.sh: line 9:   112 {:<24}vllm serve "$@"'
SIGNAL_ROWS = (
    Row("bus", started("Bus error (core dumped)"), "native-crash-bus-error", ("shm-size", "ipc=host", "df -h")),
    Row("bus-bare", started("Bus error"), "native-crash-bus-error"),
    Row("bus-shell", started(SHELL.format("Bus error               (core dumped) ")), "native-crash-bus-error"),
    Row("bus-absl", started("*** SIGBUS received at time=1787900000 on cpu 11 ***"), "native-crash-bus-error"),
    Row("bus-fault", started("Fatal Python error: Bus error"), "native-crash-bus-error"),
    Row(
        "bus-code",
        started(
            said("Worker proc VllmWorker-1 died unexpectedly (exit code: -7), shutting down executor.", level="ERROR")
        ),
        "native-crash-bus-error",
    ),
    Row("segv-bare", started("Segmentation fault"), "native-crash-segfault"),
    Row("ill-bare", "Illegal instruction", "native-crash-illegal-cpu-instruction", ("lscpu",)),
    Row("killed-shell", started(SHELL.format("Killed")), "shell-says-killed", ("OOMKilled", "dmesg")),
    Row("killed", started("Killed"), "shell-says-killed", ("OOMKilled", "dmesg")),
    Row(
        "glibc",
        "ImportError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by "
        "/opt/venv/lib/python3.12/site-packages/vllm/_C.abi3.so)",
        "glibc-too-old",
        ("official image",),
        (),
        r"GLIBC_2\.34",
    ),
    Row(
        "glibcxx",
        api(
            "ImportError: /opt/conda/lib/libstdc++.so.6: version `GLIBCXX_3.4.32' not found "
            "(required by /usr/local/lib/"
            "python3.12/dist-packages/vllm/_C.abi3.so)"
        ),
        "glibc-too-old",
    ),
)

FAULT = raised("torch.AcceleratorError: CUDA error: unspecified launch failure")
UNKNOWN = raised("torch.AcceleratorError: CUDA error: unknown error")


def xid(number: int, rest: str = "pid=1234, name=VLLM::EngineCor") -> str:
    """A line of the kernel's log."""
    return f"[16384.123456] NVRM: Xid (PCI:0000:01:00): {number}, {rest}"


XID_ROWS = (
    Row("79", started(xid(79, "pid=1234, GPU has fallen off the bus."), FAULT), "gpu-fell-off-the-bus", ("Reboot",)),
    Row("79-unknown", started(xid(79), UNKNOWN), "gpu-fell-off-the-bus"),
    Row("79-after", started(FAULT, xid(79)), "gpu-fell-off-the-bus"),
    Row("48", started(xid(48), FAULT), "gpu-memory-fault", ("nvidia-smi -q -d ECC",)),
    Row("94", started(xid(94), UNKNOWN), "gpu-memory-fault"),
    Row("95", started(xid(95), FAULT), "gpu-memory-fault"),
    Row("64", started(xid(64), FAULT), "gpu-memory-fault"),
    Row(
        "74", started(xid(74), raised("RuntimeError: NCCL error: unhandled cuda error")), "gpu-link-fault", ("nvlink",)
    ),
    Row(
        "119",
        started(xid(119, "pid=1, Timeout after 6s of waiting for RPC response from GPU0 GSP!"), FAULT),
        "gpu-controller-fault",
    ),
    Row("120", started(xid(120), FAULT), "gpu-controller-fault"),
    Row("13", started(xid(13, "Graphics Exception: ESR 0x504224=0x80000000"), FAULT), "cuda-launch-failure"),
    Row("31", started(xid(31), FAULT), "cuda-launch-failure"),
    Row("63", started(xid(63), FAULT), "cuda-launch-failure"),
    Row("43", started(xid(43), FAULT), "cuda-launch-failure"),
    Row("lost", failing("pynvml.NVMLError_GpuIsLost: GPU is lost"), "gpu-fell-off-the-bus"),
)

NINJA = (
    "RuntimeError: Ninja build failed. Ninja output:\n"
    "ninja: Entering directory `/root/.cache/flashinfer/0.6.2/121a/cached_ops'\n[1/41] c++ -MMD -MF x.o\n{}\n"
    "/usr/local/cuda/bin/nvcc -x cu\n{}\nninja: build stopped: subcommand failed."
)
BUILD_ROWS = (
    Row(
        "code-137",
        failing(NINJA.format("FAILED: [code=137] fused_moe.cuda.o", "Killed")),
        "compiler-killed",
        ("MAX_JOBS",),
    ),
    Row(
        "cc1plus",
        failing(NINJA.format("FAILED: a.o", "c++: fatal error: Killed signal terminated program cc1plus")),
        "compiler-killed",
        ("MAX_JOBS",),
        (),
        "cc1plus",
    ),
    Row(
        "cicc",
        failing(NINJA.format("FAILED: a.o", "nvcc error   : 'cicc' died due to signal 9 (Kill signal)")),
        "compiler-killed",
        title="cicc[^']",
    ),
    Row(
        "code-1", failing(NINJA.format("FAILED: [code=1] a.o", "error: no member named 'x'")), "flashinfer-build-failed"
    ),
)

GLOO = "RuntimeError: [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/device.cc:84] {}"
NETWORK_ROWS = (
    Row(
        "interface",
        failing(GLOO.format("ifa != nullptr. Unable to find interface for: [0.0.0.0]")),
        "nccl-interface-missing",
        ("GLOO_SOCKET_IFNAME", "VLLM_HOST_IP", "ip -br addr"),
        ("=eth0", "10\\.0\\.0\\.1"),
        r"0\.0\.0\.0",
    ),
    Row("address", failing(GLOO.format("rp != nullptr. Unable to find address for: node-3")), "nccl-interface-missing"),
    Row("name", failing("RuntimeError: Cannot resolve node-3.cluster to a (local) address"), "nccl-interface-missing"),
    Row(
        "device",
        failing("RuntimeError: makeDeviceForHostname(): unsupported gloo device"),
        "nccl-interface-missing",
        ("GLOO_SOCKET_IFNAME",),
    ),
    Row("excluded", failing(GLOO.format("ifa != nullptr. Unable to find address for: ^lo")), "nccl-interface-missing"),
    Row(
        "port",
        api("OSError: [Errno 98] Address already in use", port=8001),
        "port-in-use",
        ("--port 8002",),
        ("--port 8001",),
    ),
)

HUB_PERMISSION = (
    "OSError: PermissionError at {} when downloading nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4. Check cache "
    "directory permissions. Common causes: 1) another user is downloading the same model (please wait); 2) a previous "
    "download was canceled and the lock file needs manual removal."
)
FILE_ROWS = (
    Row(
        "hub-cache",
        api(HUB_PERMISSION.format("/.cache/huggingface/hub")),
        "hub-cache-not-writable",
        ("HF_HOME", "chown", "id"),
        (),
        r"/\.cache/huggingface/hub",
    ),
    Row("hub-volume", api(HUB_PERMISSION.format("/data/models--acme--m/refs")), "hub-cache-not-writable"),
    Row("cache", api("PermissionError: [Errno 13] Permission denied: '/.cache/huggingface'"), "hub-cache-not-writable"),
    Row(
        "tokenizer",
        api("Exception: expected value at line 1 column 1"),
        "tokenizer-file-damaged",
        ("head -c", "download"),
    ),
    Row("tokenizer-cut", api("Exception: EOF while parsing a string at line 4242 column 17"), "tokenizer-file-damaged"),
    Row("tokenizer-comma", api("Exception: trailing comma at line 7 column 1"), "tokenizer-file-damaged"),
    Row(
        "tokenizer-new",
        api("Exception: data did not match any variant of untagged enum ModelWrapper"),
        "tokenizer-file-too-new",
    ),
    Row(
        "json",
        api("json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"),
        "json-file-damaged",
        ("json.tool",),
    ),
    Row("eio", failing("OSError: [Errno 5] Input/output error"), "storage-read-error", ("dmesg", "local disk")),
    Row("eio-rust", failing("safetensors_rust.SafetensorError: Input/output error (os error 5)"), "storage-read-error"),
    Row("stale", failing("OSError: [Errno 116] Stale file handle"), "storage-gone", ("mount",)),
    Row("stale-rust", failing("OSError: Stale file handle (os error 116)"), "storage-gone"),
    Row("fuse", failing("OSError: [Errno 107] Transport endpoint is not connected: '/models/m'"), "storage-gone"),
    Row(
        "mmap",
        failing(
            "RuntimeError: unable to mmap 4999802720 bytes from file "
            "</models/x/model-00006-of-00017.safetensors>: Cannot "
            "allocate memory (12)"
        ),
        "weights-mapping-refused",
        ("ulimit -v", "overcommit"),
        ("shm-size",),
    ),
    Row("mmap-rust", failing("OSError: Cannot allocate memory (os error 12)"), "weights-mapping-refused"),
    Row(
        "tls", api("PermissionError: [Errno 13] Permission denied: '/certs/tls.key'"), "ssl-files-unusable", ("chmod",)
    ),
    Row(
        "tls-missing",
        api("FileNotFoundError: [Errno 2] No such file or directory: '/certs/tls.crt'"),
        "ssl-files-unusable",
    ),
)

EVENTS = "Name:             vllm-0\nNamespace:        default\nEvents:\n"
CLUSTER_ROWS = (
    Row(
        "gpu",
        EVENTS + "  Warning  FailedScheduling  10s  default-scheduler  0/5 nodes are available: 5 Insufficient "
        "nvidia.com/gpu. preemption: 0/5 nodes are available: 5 No preemption victims found for incoming pod.",
        "pod-not-scheduled",
        ("kubectl get nodes", "nvidia.com/gpu"),
        (),
        r"nvidia\.com/gpu",
    ),
    Row(
        "memory",
        "Warning  FailedScheduling  3m (x5 over 20m)  default-scheduler  0/3 nodes are "
        "available: 1 node(s) had untolerated "
        "taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient memory.",
        "pod-not-scheduled",
        (),
        (),
        "memory",
    ),
    Row(
        "taint",
        "Warning  FailedScheduling  3m  default-scheduler  0/1 nodes are available: 1 node(s) had untolerated taint "
        "{nvidia.com/gpu: present}. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
        "pod-not-scheduled",
    ),
    Row(
        "affinity",
        "Warning  FailedScheduling  3m  default-scheduler  0/4 nodes are available: 4 node(s) didn't match Pod's node "
        "affinity/selector.",
        "pod-not-scheduled",
    ),
    Row(
        "tag",
        EVENTS
        + '  Warning  Failed  9s kubelet  Failed to pull image "vllm/vllm-openai:v0.24": rpc error: code = NotFound '
        'desc = failed to pull and unpack image "docker.io/vllm/vllm-openai:v0.24": failed to resolve reference: '
        "docker.io/vllm/vllm-openai:v0.24: not found\n  Warning  Failed     9s    kubelet  Error: ErrImagePull",
        "image-tag-incomplete",
        ("vllm/vllm-openai:v0.24.0",),
        ("docker login",),
    ),
    Row(
        "tag-without-v",
        "docker: Error response from daemon: manifest for vllm/vllm-openai:0.26.0 not found: manifest unknown",
        "image-tag-misspelt",
        ("vllm/vllm-openai:v0.26.0",),
    ),
    Row(
        "repository",
        "docker: Error response from daemon: pull access denied for vllm/vllm-opena, repository does not exist or may "
        "require 'docker login': denied: requested access to the resource is denied",
        "image-not-found",
    ),
    Row(
        "unbound",
        "/entrypoint.sh: line 12: HF_TOKEN: unbound variable",
        "start-script-variable-missing",
        ("-e HF_TOKEN",),
    ),
    Row("required", "/run.sh: line 3: MODEL: parameter not set", "start-script-variable-missing"),
    Row("python", "/usr/local/bin/start.sh: line 3: python: command not found", "start-script-failed", ("python3",)),
    Row("crlf", "exec /entrypoint.sh: no such file or directory", "start-script-failed", ("line ends", "od -c")),
    Row("env-crlf", "/usr/bin/env: 'bash\\r': No such file or directory", "start-script-failed", ("sed -i",)),
    Row("syntax", "/entrypoint.sh: line 9: syntax error near unexpected token `fi'", "start-script-failed"),
    Row("dash", '/opt/start.sh: 3: /opt/start.sh: Syntax error: "(" unexpected', "start-script-failed"),
    Row(
        "old-docker",
        "standard_init_linux.go:228: exec user process caused: no such file or directory",
        "start-script-failed",
    ),
    Row("rights", "exec /entrypoint.sh: permission denied", "start-script-failed", ("chmod",)),
    Row("vllm", "/usr/local/bin/start.sh: line 3: vllm: command not found", "container-command-not-found"),
    Row("arch", "exec /usr/local/bin/vllm: exec format error", "image-of-another-cpu"),
)

ZERO = raised("ZeroDivisionError: integer division or modulo by zero", "_dummy_run")
LEVEL = raised("AssertionError", "init_backend")
VALUE_ROWS = (
    Row("seqs", started(ZERO, version="0.11.0", max_num_seqs=0), "max-num-seqs-not-positive", ("Leave|[1-9]",)),
    Row(
        "seqs-negative",
        started(raised("RuntimeError: zeros: Dimension size must be non-negative."), version="0.11.0", max_num_seqs=-1),
        "max-num-seqs-not-positive",
    ),
    Row(
        "seqs-checked",
        api(
            "pydantic_core._pydantic_core.ValidationError: 1 validation error for "
            "SchedulerConfig\nmax_num_seqs\n  Input "
            "should be greater than or equal to 1 [type=greater_than_equal, input_value=0, input_type=int]",
            max_num_seqs=0,
        ),
        "max-num-seqs-not-positive",
    ),
    Row(
        "tensor",
        api("ZeroDivisionError: integer modulo by zero", version="0.11.0", tensor_parallel_size=0),
        "parallel-size-not-positive",
    ),
    Row("level", started(LEVEL, version="0.11.0"), "compilation-config-invalid", ("Correct that field",)),
)

FREE = (
    "ValueError: Free memory on device cuda:0 (12.4/79.19 GiB) on startup is less than desired GPU memory utilization "
    "(0.9, 71.27 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
)
TWO = (
    "pydantic_core._pydantic_core.ValidationError: {count} validation errors for "
    "SchedulerConfig\nmax_num_seqs\n  Input "
    "should be greater than or equal to 1 [type=greater_than_equal, input_value=0, input_type=int]\n    For further "
    "information visit "
    "https://errors.pydantic.dev/2.12/v/greater_than_equal\nmax_num_batched_tokens\n  Input should be a "
    "valid integer, unable to parse string as an integer [type=int_parsing, input_value='x', input_type=str]\n    For "
    "further information visit https://errors.pydantic.dev/2.12/v/int_parsing"
)
THREE = TWO + (
    "\npolicy\n  Input should be 'fcfs' or 'priority' [type=literal_error, input_value='x', input_type=str]\n    For "
    "further information visit https://errors.pydantic.dev/2.12/v/literal_error"
)
WORDING_ROWS = (
    Row("free", failing(FREE), "free-memory-below-desired", ("nvidia-smi",), ("BELOW", "device=1")),
    Row("two", api(TWO.format(count=2)), "pydantic-config-errors", (), (), "max_num_seqs .*max_num_batched_tokens"),
    Row("three", api(THREE.format(count=3)), "pydantic-config-errors", ("policy",), (), "3 values"),
    Row(
        "ray",
        started(
            said(
                "Waiting for creating a placement group of specs for 640 seconds. specs=[{'GPU': "
                "1.0}, {'GPU': 1.0}]. Check "
                "`ray status`"
            ),
            raised(
                "ValueError: Cannot provide a placement group of placement_group_specs=[{'GPU': "
                "1.0}] within 1800 seconds."
            ),
        ),
        "ray-placement-impossible",
        ("ray status",),
        ("10\\.0\\.0\\.1",),
    ),
    Row(
        "tensor-name",
        failing("KeyError: 'backbone.layers.3.mixer.flux_gate.weight'")
        .replace("/opt/vllm/run_engine_core.py", "/opt/vllm/model_executor/models/nemotron_h.py")
        .replace("in run_engine_core", "in load_weights"),
        "weights-unknown-parameter",
        title="flux_gate",
    ),
    Row(
        "few-seqs",
        started(
            raised(
                "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 21.00 GiB. GPU 0 has "
                "a total capacity of "
                "79.19 GiB of which 8.51 GiB is free.",
                "profile_run",
            ),
            max_num_seqs=16,
        ),
        "gpu-oom-profiling",
        (),
        ("--max-num-seqs 64",),
    ),
)


SELECTED = "ValueError: Selected backend {name} is not valid for this configuration. Reason: [{why}]"
NO_ROOM = (
    "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing."
)
LOADED = said("Model loading took 18.1 GiB memory and 25.200000 seconds", process="EngineCore_DP0 pid=132")
FOREIGN = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 47.40 GiB "
    "of which 611.25 MiB is free. Process 3312 has 18.20 GiB memory in use. Process 4417 has 12.01 GiB memory in use. "
    "Including non-PyTorch memory, this process has 16.59 GiB memory in use. Of the allocated memory 16.01 GiB is "
    "allocated by PyTorch."
)
PAGES = (
    "ValueError: Free memory on device cuda:0 (101.32/121.69 GiB) on startup is less than desired GPU memory "
    "utilization (0.92, 111.95 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
)
CHOICE = "vllm serve: error: argument --reasoning-parser: invalid choice: '{name}' (choose from 'deepseek_r1', 'qwen3')"
SHARD = "FileNotFoundError: [Errno 2] No such file or directory: '/models/m/model-00005-of-000163.safetensors'"


def measured(kv: str, error: str = NO_ROOM, version: str = "0.17.1", **arguments: object) -> str:
    """A start that measured its KV cache and then failed."""
    there = said(f"Available KV cache memory: {kv} GiB")
    return started(LOADED, there, raised(error), version=version, **arguments)


ADVICE_ROWS = (
    Row(
        "backend",
        started(
            raised(SELECTED.format(name="AttentionBackendEnum.FLASHINFER", why="'head_size not supported'")),
            attention_backend="FLASHINFER",
        ),
        "attention-backend-invalid",
        ("--attention-backend",),
        (),
        "FLASHINFER .*head_size not supported",
    ),
    Row(
        "no-backend",
        started(
            raised(
                "ValueError: No valid attention backend found for cuda with AttentionSelectorConfig(head_size=256, "
                "kv_cache_dtype=fp8). Reasons: {FLASH_ATTN: [kv_cache_dtype not supported]}."
            ),
            kv_cache_dtype="fp8",
        ),
        "attention-backend-none",
        ("--kv-cache-dtype auto",),
    ),
    Row("page-cache", failing(PAGES), "free-memory-unified-page-cache", ("drop_caches",), ("kv-cache-memory",)),
    Row(
        "parser-argparse",
        CHOICE.format(name="nemotron_v3"),
        "reasoning-parser-nemotron-v3-too-new",
        ("v0\\.17\\.1",),
        ("plugin", "latest"),
    ),
    Row(
        "parser-old-name",
        CHOICE.format(name="super_v3"),
        "reasoning-parser-nemotron-none",
        ("v0\\.17\\.1", "nemotron_v3"),
        ("plugin", "/models/"),
    ),
    Row(
        "parser-list-of-a-newer-one",
        api('KeyError: "invalid reasoning parser: super_v3 (chose from { deepseek_r1,qwen3 })"', version="0.22.0"),
        "reasoning-parser-nemotron-name",
        ("--reasoning-parser nemotron_v3",),
    ),
    Row(
        "two-engines",
        measured("-6.20", gpu_memory_utilization=0.45),
        "kv-cache-two-engines",
        ("service_healthy",),
    ),
    Row("other-rank", measured("2.50", gpu_memory_utilization=0.95), "kv-cache-no-memory", (), ("utilization",)),
    Row("foreign", failing(FOREIGN), "gpu-oom-foreign-processes", ("nvidia-smi",), (), r"30\.2"),
    Row("shard-elsewhere", failing(SHARD), "weights-file-not-here", ("rsync|every node",)),
    Row(
        "pod",
        started("    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137"),
        "pod-oom-killed",
        ("limits: \\{memory",),
        ("docker update",),
    ),
    Row(
        "uid",
        api("KeyError: 'getpwuid(): uid not found: 1000740000'"),
        "uid-without-passwd-entry",
        ("HOME=/tmp(?s:.*)USER=",),
    ),
    Row(
        "compiler",
        failing("RuntimeError: Failed to find C compiler. Please specify via CC environment variable."),
        "c-compiler-missing",
        ("v0\\.24\\.0",),
        ("CC=", "latest"),
    ),
    Row(
        "newer-model",
        api(
            "ValueError: Model architectures ['Qwen3NextForCausalLM'] are not supported for now. Supported "
            "architectures: dict_keys(['LlamaForCausalLM'])",
            version="0.9.2",
            model="Qwen/Qwen3-Next-80B-A3B-Instruct",
        ),
        "architecture-unsupported",
        ("v0\\.10\\.2",),
        ("latest",),
    ),
    Row(
        "gguf-quant",
        api(
            "huggingface_hub.errors.HFValidationError: Repo id must use alphanumeric chars, '-', '_' or '.'. The name "
            "cannot start or end with '-' or '.' and the maximum length is 96: 'unsloth/Qwen3-8B-GGUF:Q4_K_M'.",
            version="0.29.0",
        ),
        "gguf-not-in-core",
        ("vllm-gguf-plugin", "llama.cpp"),
    ),
    Row(
        "old-image",
        "api_server.py: error: unrecognized arguments: serve Qwen/Qwen3-8B",
        "serve-unknown-to-api-server",
        ("--model Qwen/Qwen3-8B",),
        ("MODEL",),
    ),
)


@pytest.mark.parametrize(
    ("error", "alarms"), [("UndefinedError", []), ("TemplateSyntaxError", ["chat-template-broken"])]
)
def test_a_template_that_only_refuses_the_trial_message_is_sound(error: str, alarms: list[str]) -> None:
    trial = raised(f"jinja2.exceptions.{error}: list object has no element 0", head="Chat template warmup failed")
    boot = diagnose(started(trial, said("Application startup complete."), version="0.17.1")).boot
    assert boot is not None
    loud = [finding.id for finding in boot.findings if finding.severity.rank > 0 and "template" in finding.id]
    assert loud == alarms


def test_another_program_that_the_kernel_ended_is_no_cause() -> None:
    chrome = "[1234567.8] Out of memory: Killed process 4242 (chrome) total-vm:12345kB, anon-rss:100kB"
    boot = diagnose(failing("AttributeError: 'FooBarMixer' object has no attribute 'qkv_zeta'") + f"\n{chrome}").boot
    assert boot is not None
    assert {finding.id: finding.role for finding in boot.findings}["host-oom-other-process"] is Role.NOTICE
    assert "host-oom-kernel" not in [finding.id for finding in boot.findings]


@pytest.mark.parametrize(
    "process", ["VLLM::EngineCor", "VLLM::Worker_TP", "python3", "pt_main_thread", "ray::RayWorkerW"]
)
def test_the_kernel_names_a_process_of_vllm(process: str) -> None:
    killed = f"[ 8123.441] Memory cgroup out of memory: Killed process 8123 ({process}) total-vm:99812344kB"
    boot = diagnose(started(killed)).boot
    assert boot is not None
    assert root(boot) == "host-oom-kernel"


def test_what_ended_a_running_engine_is_not_called_a_failed_start() -> None:
    from logdoctor.diagnosis.examples import matching_lines
    from logdoctor.diagnosis.matching import Matcher
    from tests.diagnosis.build import shipped

    found = matching_lines(said("EngineCore encountered a fatal error.", level="ERROR"), Matcher(shipped()), {})
    assert "engine-core-fatal-error" in found
    assert "engine-core-failed-to-start" not in found


ALL = {
    f"{kind}:{row.name}": row
    for kind, rows in {
        "hub": HUB_ROWS,
        "toolkit": TOOLKIT_ROWS,
        "signal": SIGNAL_ROWS,
        "xid": XID_ROWS,
        "build": BUILD_ROWS,
        "network": NETWORK_ROWS,
        "file": FILE_ROWS,
        "cluster": CLUSTER_ROWS,
        "value": VALUE_ROWS,
        "wording": WORDING_ROWS,
        "advice": ADVICE_ROWS,
    }.items()
    for row in rows
}


def remedies(boot: BootDiagnosis) -> str:
    """What is advised against the root cause."""
    return "\n".join(
        f"{remedy.summary} {remedy.command}"
        for finding in boot.findings
        if finding.role is Role.ROOT_CAUSE
        for remedy in finding.remedies
    )


@pytest.mark.parametrize("name", sorted(ALL))
def test_a_known_failure_gets_its_own_cause(name: str) -> None:
    row = ALL[name]
    boot = diagnose(row.log).boot
    assert boot is not None, "recognised"
    assert root(boot) == row.cause
    said_so = remedies(boot)
    assert [wanted for wanted in row.fix if not re.search(wanted, said_so)] == []
    assert [unwanted for unwanted in row.not_fix if re.search(unwanted, said_so)] == []
    assert boot.root_cause is not None
    assert re.search(row.title, boot.root_cause.title)
