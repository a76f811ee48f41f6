"""What is true of vLLM's versions, of GPUs and of models: generated or hand-kept data behind a typed API.

    versions    which flag, variable, parser, quantization or back end each release has, and what replaced it
    gpus        name -> compute capability, memory, architecture
    models      name -> family, right parsers, hybrid or not
    regenerate  `python -m logdoctor.knowledge.regenerate`: merge the next vLLM release into the data

Nothing is read from disk before the first question is asked.
"""
