"""Sentences about names that a version lacks, and conditions of remedies, in simplified Chinese; see `phrases`.

They stand apart from the others because they are tried on less: conditions on conditions only, the sentences about
names on the findings that come from the version tables.
"""

from __future__ import annotations

FRAGMENTS: tuple[tuple[str, str], ...] = (
    ("This vLLM", "这个 vLLM"),
    ("vLLM {}", "vLLM {0}"),
    ("flag", "选项"),
    ("environment variable", "环境变量"),
    ("reasoning parser", "推理解析器"),
    ("tool call parser", "工具调用解析器"),
    ("quantization method", "量化方法"),
    ("attention backend", "注意力后端"),
    ("model architecture", "模型架构"),
    ("{} and {}", "{0} 和 {1}"),
)
"""Parts of the sentences about names."""

NAMES: tuple[tuple[str, str], ...] = (
    ("{+} does not know the variable {}, so it has no effect", "{0} 不认识变量 {1}，所以它不起作用"),
    ("{+} has no flag {}", "{0} 没有选项 {1}"),
    ("{+} has no flags {+} and more", "{0} 没有选项 {1} 等"),
    ("{+} has no flags {+}", "{0} 没有选项 {1}"),
    ("{+} does not take {} for {}", "{0} 的 {2} 不接受 {1}"),
    ("{+} has no parser named {}", "{0} 没有名为 {1} 的解析器"),
    (
        "The {+} {} was dropped in vLLM {} ({} was the last release with it) and is back from {}.",
        "{0} {1} 在 vLLM {2} 中被移除（最后有它的版本是 {3}），从 {4} 起又有了。",
    ),
    (
        "The {+} {} was dropped in vLLM {} ({} was the last release with it); use {} instead.",
        "{0} {1} 在 vLLM {2} 中被移除（最后有它的版本是 {3}）；请改用 {4}。",
    ),
    (
        "The {+} {} was dropped in vLLM {} ({} was the last release with it); the nearest name is {}.",
        "{0} {1} 在 vLLM {2} 中被移除（最后有它的版本是 {3}）；最接近的名字是 {4}。",
    ),
    (
        "The {+} {} was dropped in vLLM {} ({} was the last release with it).",
        "{0} {1} 在 vLLM {2} 中被移除（最后有它的版本是 {3}）。",
    ),
    ("The {+} {} comes with vLLM {}; {} does not have it.", "{0} {1} 从 vLLM {2} 起才有；{3} 没有它。"),
    (
        "The {+} {} comes with vLLM {}; {} does not have it; use {} instead.",
        "{0} {1} 从 vLLM {2} 起才有；{3} 没有它；请改用 {4}。",
    ),
    ("The {+} {} comes with vLLM {}, so this one is older.", "{0} {1} 从 vLLM {2} 起才有，所以这个版本更旧。"),
    (
        "The {+} {} does not exist in any vLLM release from {} to {}; the nearest name is {}.",
        "从 {2} 到 {3} 的任何 vLLM 版本都没有{0} {1}；最接近的名字是 {4}。",
    ),
    (
        "The {+} {} does not exist in any vLLM release from {} to {}; use {} instead.",
        "从 {2} 到 {3} 的任何 vLLM 版本都没有{0} {1}；请改用 {4}。",
    ),
    ("The {+} {} does not exist in any vLLM release from {} to {}.", "从 {2} 到 {3} 的任何 vLLM 版本都没有{0} {1}。"),
    ("{} is a value of {} from vLLM {} on.", "从 vLLM {2} 起 {0} 才是 {1} 的值。"),
    ("By the list that it prints, this vLLM is another release.", "从它打印的列表看，这个 vLLM 是另一个版本。"),
    (
        "{} takes the value as {}; spelled {} it is another one, and refused.",
        "{0} 的这个值写作 {1}；写成 {2} 就成了别的值，会被拒绝。",
    ),
    ("Before that: {}.", "在那之前：{0}。"),
    ("It is read as an abbreviation of {}.", "它会被当作 {0} 的缩写。"),
    ("It is the name of a {+}.", "这是{0}的名字。"),
    (
        "It is left over from building an image; vLLM does not read it at run time, harmless.",
        "它是构建镜像时留下的；vLLM 运行时不读取它，无害。",
    ),
    (
        "Kubernetes sets it for a Service whose name begins with vllm; harmless, unless it also sets VLLM_PORT "
        "(enableServiceLinks: false turns them off).",
        "名字以 vllm 开头的 Service 会让 Kubernetes 设置它；无害，除非同时设置了 VLLM_PORT"
        "（enableServiceLinks: false 可以关掉）。",
    ),
    (
        "The V1 engine does not swap to host memory; remove the flag.",
        "V1 引擎不再换出到主机内存；去掉这个选项。",
    ),
    ("Naming a parser turns reasoning on.", "指定解析器就会开启推理内容的解析。"),
    (
        "For NVFP4 experts: 0 keeps FlashInfer out of the choice, 1 asks for it.",
        "用于 NVFP4 专家层：0 不选 FlashInfer，1 要求使用它。",
    ),
    ("For NVFP4 dense layers; its values are written with hyphens.", "用于 NVFP4 稠密层；它的值用连字符书写。"),
    ("Use {} with its value instead of {}", "用带值的 {0} 代替 {1}"),
    ("Use {} instead of {}", "用 {0} 代替 {1}"),
    ("Write {}, the nearest value that it takes, instead of {}", "写 {0}（它接受的最接近的值），不写 {1}"),
    ("Write {} instead of {}, {}", "写 {0}，不写 {1}、{2}"),
    ("Write {} instead of {}", "写 {0}，不写 {1}"),
    ("Take {+} out", "去掉 {0}"),
    ("Remove {}", "去掉 {0}"),
    ("Or use vLLM {} or newer, which has it", "或者使用 vLLM {0} 或更新版本，它有这个名字"),
    ("Or use vLLM {} or newer, which has them all", "或者使用 vLLM {0} 或更新版本，它有这些名字"),
    ("Or use a version that has it ({})", "或者使用有这个名字的版本（{0}）"),
    ("Or use a version that has them all ({})", "或者使用有这些名字的版本（{0}）"),
    ("The next start gets as far as the line non-default args", "下次启动会走到 non-default args 这一行"),
    ("The next start prints non-default args with {} as given", "下次启动打印的 non-default args 里有给出的 {0}"),
)

CONDITIONS: tuple[tuple[str, str], ...] = (
    ("if the nearest valid name is what was meant", "如果本意就是这个最接近的有效名字"),
    ("if that is what was meant", "如果本意如此"),
    ("the value in angle brackets is not in this log", "尖括号里的值不在这份日志中"),
    ("with vLLM {}", "适用于 vLLM {0}"),
    ("if {+}", "如果{0}"),
    ("unless {+}", "除非{0}"),
    ("{+} and {+}", "{0}，并且{1}"),
    ("the start has not come to {}", "启动还没有到 {0}"),
    ("{+} is at least {} and is below {}", "{0}不低于 {1} 且低于 {2}"),
    ("{+} is at least {}", "{0}不低于 {1}"),
    ("{+} is at most {}", "{0}不高于 {1}"),
    ("{+} is above {}", "{0}高于 {1}"),
    ("{+} is below {}", "{0}低于 {1}"),
    ("{+} is not set", "{0}没有设置"),
    ("{+} is not known", "{0}未知"),
    ("{+} is set", "{0}已设置"),
    ("{+} is known", "{0}已知"),
    ("{+} is on", "{0}已开启"),
    ("{+} is off", "{0}已关闭"),
    ("{+} matches {}", "{0}符合 {1}"),
    ("{+} is {} or is {} or is {}", "{0}是 {1}、{2} 或 {3}"),
    ("{+} is {} or is {}", "{0}是 {1} 或 {2}"),
    ("{+} is not {}", "{0}不是 {1}"),
    ("{+} is {}", "{0}是 {1}"),
    ("the GPU's compute capability", " GPU 的计算能力"),
    ("the GPU", " GPU "),
    ("the vLLM version", " vLLM 的版本"),
    ("the CUDA version", " CUDA 的版本"),
    ("the PyTorch version", " PyTorch 的版本"),
    ("the model", "模型"),
    ("the quantization", "量化方式"),
    ("the number of GPUs", " GPU 的数量"),
    ("MoE (experts in the model)", "模型的 MoE（专家层）"),
    ("multimodal input", "多模态输入"),
    ("a kernel for FP8 layers", " FP8 层的内核"),
    ("a kernel for dense NVFP4 layers", " NVFP4 稠密层的内核"),
    ("a back end for NVFP4 experts", " NVFP4 专家层的后端"),
    ("what the memory numbers say", "显存数字说明的情况"),
    ("use of a GPU in the log", "日志中对 GPU 的使用"),
    ("the variable {}", "变量 {0} "),
    ("--{}", " --{0} "),
)

VALUES: tuple[tuple[str, str], ...] = (
    (
        "seconds are normal; with too few free GPUs Ray waits for half an hour",
        "通常只要几秒；空闲 GPU 不够时 Ray 会等半小时",
    ),
    ("seconds are normal once every process is there", "所有进程到齐后通常只要几秒"),
    ("a second or two are normal", "通常一两秒"),
    ("up to two minutes are normal", "通常不超过两分钟"),
    (
        "it takes as long as the line needs for the files, and newer versions draw no bar for it",
        "用时取决于网络下载这些文件的速度，新版本不显示进度条",
    ),
    (
        "seconds from a local disk and page cache, some eight minutes for 70 GB from a slow one are normal",
        "从本地磁盘和页缓存通常只要几秒，从慢速磁盘读 70 GB 约八分钟",
    ),
    ("up to a minute or two of preparing weights and compiling are normal", "整理权重和编译通常不超过一两分钟"),
    (
        "half a minute to several minutes are normal, 10 to 30 on a GPU without any cached kernels",
        "通常半分钟到几分钟，没有内核缓存的 GPU 上 10 到 30 分钟",
    ),
    ("74 to 112 seconds were seen on a cold cache", "没有缓存时见过 74 到 112 秒"),
    (
        "minutes are normal while kernels are built for the first time; nothing is printed meanwhile",
        "首次构建内核通常要几分钟，期间没有输出",
    ),
    (
        "seconds to minutes are normal; 40 minutes were seen once, silent to the end",
        "通常几秒到几分钟；见过一次 40 分钟，期间没有输出",
    ),
    ("up to a minute is normal", "通常不超过一分钟"),
    ("seconds to a few minutes are normal, by the number of sizes", "通常几秒到几分钟，取决于尺寸的数目"),
    (
        "up to some minutes of kernel builds, tuning and graph capture are normal",
        "内核构建、调优和捕获 CUDA 图通常要几分钟",
    ),
    ("seconds are normal", "通常只要几秒"),
    (
        "10 to 60 seconds are normal while processes start and import their libraries",
        "启动进程并导入库通常要 10 到 60 秒",
    ),
    ("minutes can be normal", "几分钟也可能是正常的"),
    ("{} bit {} GB no", "{0} 位 {1} GB 放不下"),
    ("{} bit {} GB fits", "{0} 位 {1} GB 放得下"),
    ("launch", "启动命令"),
    ("command-line", "命令行"),
    ("config", "配置"),
    ("platform", "设备检查"),
    ("distributed", "进程互联"),
    ("weights", "加载权重"),
    ("kernel-selection", "选择内核"),
    ("profiling", "显存测算"),
    ("kv-cache", "分配 KV 缓存"),
    ("compile", "编译"),
    ("graph-capture", "捕获 CUDA 图"),
    ("server-start", "服务器启动"),
    ("serving", "提供服务"),
    ("shutdown", "关闭"),
)
"""Values of facts that the tool words itself, where they fill a translated text."""

TRANSLATED_FACTS = frozenset({"silence.normal", "silence.phase", "boot.phase", "budget.precisions"})
