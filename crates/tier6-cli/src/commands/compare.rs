//! `tier6 compare`.

use crate::args::Compare;
use crate::failure::Failure;
use crate::terminal::Terminal;
use tier6::Exit;

pub fn run(_options: Compare, _terminal: &Terminal) -> Result<Exit, Failure> {
    Err(Failure::usage("compare is being built"))
}
