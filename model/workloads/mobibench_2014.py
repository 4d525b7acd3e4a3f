"""Generate the transactions of mobibench_2014 (workloads/workloads/mobibench.c): those of mobibench."""

from model.workloads.mobibench import PHASES, TEXTS, transactions

__all__ = ["PHASES", "TEXTS", "transactions"]
