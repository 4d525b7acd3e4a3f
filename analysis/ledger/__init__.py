"""The ledger: attribute every byte that the device wrote to a transaction, or to a background activity."""
