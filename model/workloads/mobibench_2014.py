"""workloads/workloads/mobibench_2014.c, whose transactions are those of mobibench."""

from model.workloads.mobibench import PHASES, TEXTS, transactions

__all__ = ["PHASES", "TEXTS", "transactions"]
