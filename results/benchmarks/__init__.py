"""OneClassRF beyond the paper's data sets: BENCHMARKS.md from records alone."""
