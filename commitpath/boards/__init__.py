"""Prepare a board: playbook variables, files, snapshots and locks of lab boards."""
