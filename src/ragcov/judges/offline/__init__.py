"""The offline judge: no key, no network, deterministic."""
