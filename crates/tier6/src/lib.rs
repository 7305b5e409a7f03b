//! The use cases of tier6 as functions.
