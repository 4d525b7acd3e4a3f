"""Parse SQL: users' files, traces, PRAGMAs, bound values, and transactions that the driver rendered."""
