//! Least squares, percentiles, change points: plain numbers, no domain words.
