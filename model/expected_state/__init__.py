"""What a database must hold after each transaction."""
