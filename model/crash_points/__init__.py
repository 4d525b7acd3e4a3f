"""Where power is cut or the process killed, and what may be lost there."""
