"""Crash points: when power is cut or the process killed, and which changes may be lost."""
