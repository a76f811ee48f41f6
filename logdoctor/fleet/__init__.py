"""Many logs at once: found, diagnosed on a pool of processes or on Ray, one record each, and summed up.

    sources ─▶ pool or ray_engine (work, in every worker) ─▶ records ─▶ output
                                                                └─▶ summary ─▶ report_*

`work` turns one log into one line of JSON; both engines only carry logs to it and lines back. A line is redacted
where it is made, so nothing else of a log leaves a worker.
"""
