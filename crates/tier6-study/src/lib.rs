//! Models held against data: validation and held-out error.
