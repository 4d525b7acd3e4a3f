"""Copy a file of a board to the host, without a module: `fetch` starts a Python on the board first."""

from typing import Any

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):  # type: ignore[misc]
    """`collect: {src: FILE, dest: FILE}`: copy the board's src to the host's dest."""

    _VALID_ARGS = frozenset(("src", "dest"))

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the task's result; the connection's error becomes its failure."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        self._connection.fetch_file(self._task.args["src"], self._task.args["dest"])
        return {**result, "changed": True}
