// What all benchmarks measure with.
@_exported import Measuring
