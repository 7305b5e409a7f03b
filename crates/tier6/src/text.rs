//! Whole texts: logs, graphs, communicators and configuration files.

use crate::Error;
use std::{fs, io};
use tier6_measure::ReadError;

/// Reads the whole text of one input, compressed or not; `-` is standard input.
///
/// # Errors
///
/// When it cannot be opened or its compressed data is damaged.
pub(crate) fn read_text(argument: &str) -> Result<String, Error> {
    let path = argument.to_owned();
    let result = if argument == "-" {
        tier6_measure::read_text(io::stdin().lock())
    } else {
        match fs::File::open(argument) {
            Ok(file) => tier6_measure::read_text(io::BufReader::new(file)),
            Err(source) => return Err(Error::Open { path, source }),
        }
    };
    result.map_err(|source| match source {
        ReadError::Io(source) => Error::Open { path, source },
        source => Error::Read { path, source },
    })
}
