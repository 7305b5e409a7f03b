//! NCCL's tuner, version by version.
