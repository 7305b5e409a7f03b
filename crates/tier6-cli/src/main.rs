//! The `tier6` command: parse, call one facade function, show.

fn main() {}
