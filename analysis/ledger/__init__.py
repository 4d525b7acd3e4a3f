"""Every byte has a cause: from block commands back to the transactions they are for."""
