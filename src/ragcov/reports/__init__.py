"""Reports: they read results and never ask a judge."""
