"""Class Run: what was recorded of a run, its ledger, its confirmed content, and its judged crash trials."""

from dataclasses import dataclass

import polars as pl

from analysis.content import Content
from analysis.ledger.build import Ledger
from analysis.recorded import Recorded


@dataclass(frozen=True, kw_only=True)
class Run(Recorded):
    """What was recorded of a run, its ledger, and the comparisons with the bytes and the trials."""

    ledger: Ledger | None  # of a run that all of LEDGER_PROBES watched
    content: Content | None  # None: the bytes written were not kept
    judged: pl.DataFrame | None  # the verdicts on its trials (crash/verdicts.py); None without any
