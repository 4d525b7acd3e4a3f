"""workloads/workloads/mobibench_2014.c: the same transactions as mobibench."""

from model.workloads.mobibench import PHASES, TEXTS, transactions

__all__ = ["PHASES", "TEXTS", "transactions"]
