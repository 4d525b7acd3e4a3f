"""Write the operations of a mix as a trace: those that the workload itself executes with the same options."""

from model.workloads import Operation, Options, Phase, Random, mix
from model.workloads.requests import Requests


def trace(options: Options) -> Requests:
    """Return the rows and the transactions of a mix."""
    phase = Phase(mix.PHASES[0], options, options.rows, Random(options.seed, 0))
    rows = (Operation("insert", key, value) for key, value in mix.filled(options))
    return Requests(tuple(rows), tuple(mix.transactions(phase)))
