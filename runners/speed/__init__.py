"""How fast OneClassRF is, beside the isolation forests in use: ``python -m runners.speed``."""
