"""Generate the transactions of workloads/workloads/mobibench.c, which are those of mobibench."""

from model.workloads.mobibench import PHASES, TEXTS, transactions

__all__ = ["PHASES", "TEXTS", "transactions"]
