//! The number of ranks from busbw / algbw, within the rounding of the printed digits.
