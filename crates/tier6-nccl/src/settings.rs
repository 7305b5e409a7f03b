//! The environment variables that the tuner reads, as meant.
//!
//! Values are read as NCCL reads them: integers like C's `strtoll` with base 0, an empty
//! integer as unset, and the two filters in the syntax of their release. Variables that the
//! tuner does not read are ignored here.

mod filter;
mod limits;
mod number;

use crate::c_number::integer;
use crate::release::{FilterSyntax, Release};
pub use filter::FilterError;
pub(crate) use filter::{Filter, ProtocolState};
use limits::Limits;

/// What the environment says to the tuner of one release.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub(crate) filter: Filter,
    pub(crate) threads: Option<i64>,
    pub(crate) ll128_threads: Option<i64>,
    /// Tree and Ring by protocol.
    pub(crate) thread_thresholds: [[Option<i64>; 3]; 2],
    pub(crate) net_overhead_ns: Option<i64>,
    pub(crate) pat: PatSwitch,
    pub(crate) ll128_over_c2c: bool,
    pub(crate) nvls_tree_chunk_bytes_max: Option<u64>,
    pub(crate) names_filter: bool,
    limits: Limits,
}

/// `NCCL_PAT_ENABLE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatSwitch {
    Off,
    On,
    /// On where every node has one GPU and the host drives the network.
    Auto,
}

/// Whether the tuner reads a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Read,
    Unread,
}

impl Settings {
    /// Returns the settings of an empty environment.
    pub fn unset(release: &Release) -> Self {
        Self {
            filter: Filter::open(release),
            threads: None,
            ll128_threads: None,
            thread_thresholds: [[None; 3]; 2],
            net_overhead_ns: None,
            pat: PatSwitch::Auto,
            ll128_over_c2c: true,
            nvls_tree_chunk_bytes_max: None,
            names_filter: false,
            limits: Limits::default(),
        }
    }

    /// Reads the variables `env`, name and value each, for `release`.
    ///
    /// # Errors
    ///
    /// Fails where NCCL refuses to start: from 2.24 on, on unknown names in `NCCL_ALGO` and
    /// `NCCL_PROTO`.
    pub fn from_env<'a>(
        env: impl IntoIterator<Item = (&'a str, &'a str)>,
        release: &Release,
    ) -> Result<Self, FilterError> {
        let mut settings = Self::unset(release);
        for (name, value) in env {
            settings.set(name, value, release)?;
        }
        Ok(settings)
    }

    /// Says what `release` makes of variables that do not do what they seem to: names that it
    /// passes over, numbers that it reads otherwise, and variables that the tuner does not read.
    pub fn doubts<'a>(
        env: impl IntoIterator<Item = (&'a str, &'a str)>,
        release: &Release,
    ) -> Vec<String> {
        let version = release.version();
        let mut doubts = Vec::new();
        for (name, value) in env {
            for unknown in filter::passed_over(name, value, release) {
                doubts.push(format!(
                    "{name}: NCCL {version} knows no `{unknown}` and passes over it"
                ));
            }
            if Self::reads(name, release) {
                doubts.extend(number::misread(name, value));
            } else {
                let capitals = name.to_ascii_uppercase();
                doubts.push(if Self::reads(&capitals, release) {
                    format!("{name}: NCCL does not read it; its name is {capitals}")
                } else {
                    format!(
                        "{name}: the tuner does not read it; what it does to NCCL's search is not known"
                    )
                });
            }
        }
        doubts
    }

    /// Says whether the tuner of `release` reads a variable.
    pub fn reads(name: &str, release: &Release) -> bool {
        Self::unset(release).set(name, "", release) == Ok(Reading::Read)
    }

    fn set(&mut self, name: &str, value: &str, release: &Release) -> Result<Reading, FilterError> {
        match name {
            "NCCL_ALGO" => {
                self.filter.read_algorithms(value, release)?;
                self.names_filter = true;
            }
            "NCCL_PROTO" => {
                self.filter.read_protocols(value, release)?;
                self.names_filter = true;
            }
            "NCCL_NTHREADS" => self.threads = integer(value),
            "NCCL_LL128_NTHREADS" => self.ll128_threads = integer(value),
            "NCCL_THREAD_THRESHOLDS" => self.thread_thresholds = thresholds(value),
            "NCCL_NET_OVERHEAD" => {
                self.net_overhead_ns = integer(value).filter(|&ns| ns != NET_OVERHEAD_BY_CPU);
            }
            "NCCL_PAT_ENABLE" => {
                self.pat = match integer(value) {
                    Some(0) => PatSwitch::Off,
                    None | Some(2) => PatSwitch::Auto,
                    Some(_) => PatSwitch::On,
                };
            }
            "NCCL_LL128_C2C" => self.ll128_over_c2c = integer(value) != Some(0),
            "NCCL_NVLSTREE_MAX_CHUNKSIZE" => {
                self.nvls_tree_chunk_bytes_max =
                    integer(value).and_then(|bytes| u64::try_from(bytes).ok());
            }
            _ => return Ok(self.limits.set(name, value)),
        }
        Ok(Reading::Read)
    }

    /// Returns the error that NCCL ends a call with when no candidate is left.
    pub(crate) fn no_candidate(&self, release: &Release) -> NcclError {
        match release.filter {
            FilterSyntax::PerCollective if self.names_filter => NcclError::InvalidUsage,
            FilterSyntax::PerCollective | FilterSyntax::List => NcclError::InternalError,
        }
    }
}

/// The value of `NCCL_NET_OVERHEAD` that means the default.
const NET_OVERHEAD_BY_CPU: i64 = -2;

/// How NCCL fails when the filters leave no candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NcclError {
    /// `ncclInternalError`, 3.
    InternalError,
    /// `ncclInvalidUsage`, 5.
    InvalidUsage,
}

impl NcclError {
    /// Returns the value of NCCL's `ncclResult_t`.
    pub const fn code(self) -> u8 {
        match self {
            Self::InternalError => 3,
            Self::InvalidUsage => 5,
        }
    }
}

/// Reads up to six numbers, Tree then Ring; stops at the first that is none. Negative ones
/// leave the default.
fn thresholds(text: &str) -> [[Option<i64>; 3]; 2] {
    let mut values = [[None; 3]; 2];
    let mut rest = text;
    for slot in values.iter_mut().flatten() {
        rest = rest.trim_start();
        let sign = usize::from(rest.starts_with(['-', '+']));
        let digits = rest[sign..]
            .chars()
            .take_while(char::is_ascii_digit)
            .count();
        let Ok(value) = rest[..sign + digits].parse::<i64>() else {
            break;
        };
        *slot = (value >= 0).then_some(value);
        rest = &rest[sign + digits..];
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_stop_at_the_first_comma() {
        assert_eq!(thresholds("8,9,64"), [[Some(8), None, None], [None; 3]]);
        assert_eq!(
            thresholds("1 -1 3 4"),
            [[Some(1), None, Some(3)], [Some(4), None, None]]
        );
        assert_eq!(thresholds("x"), [[None; 3]; 2]);
    }
}
