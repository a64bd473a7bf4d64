"""A crawl in virtual time: the real frontier, ledger and slots in memory, a made-up web, and a clock that only jumps.

`scenario` draws hosts, jobs and pages from a seed; `timeline` is the clock; `desk` offers and ends jobs as the pipeline
does, `worker` claims and completes as the fetch loop does, `crawl` puts them together. All that happens is told to
`record`, and `judge` and `fairness` read that alone: they know nothing of the parts that are judged.
"""
