//! What a measured run was told to use: `NCCL_ALGO=Ring`, `NCCL_PROTO=LL`, both or nothing.
//!
//! A run under `NCCL_ALGO=Ring` leaves the protocol to NCCL, one under `NCCL_PROTO=LL` the
//! algorithm; which path such a run took is a question of its own (`attribution`).

use std::fmt;
use tier6_collective::Protocol;
use tier6_nccl::{Candidate, NcclAlgorithm, NcclCollective};

/// The algorithm and the protocol that a run was forced to; `None` leaves it to NCCL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Forced {
    /// The algorithm.
    pub algorithm: Option<NcclAlgorithm>,
    /// The protocol.
    pub protocol: Option<Protocol>,
}

/// The environment forces something, but not one algorithm or one protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}={value}` does not name one {wanted}; hint: a sweep needs a single name, such as NCCL_ALGO=Ring or NCCL_PROTO=LL"
)]
pub struct ForcedError {
    /// The variable.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// What it must name.
    pub wanted: &'static str,
}

impl Forced {
    /// A run with NCCL's own choice.
    pub const NOTHING: Self = Self {
        algorithm: None,
        protocol: None,
    };

    /// A run forced to one path.
    pub const fn path(candidate: Candidate) -> Self {
        Self {
            algorithm: Some(candidate.algorithm),
            protocol: Some(candidate.protocol),
        }
    }

    /// Reads `NCCL_ALGO` and `NCCL_PROTO` among the variables of a run.
    ///
    /// # Errors
    ///
    /// Fails on lists, exclusions and unknown names: such a run is neither forced nor NCCL's own.
    /// A function before a single name (`allreduce:ring`, from 2.24 on) is taken to be the
    /// measured one.
    ///
    /// ```
    /// use tier6_study::Forced;
    /// let forced = Forced::from_env([("NCCL_ALGO", "Ring"), ("NCCL_DEBUG", "WARN")]).unwrap();
    /// assert_eq!(forced.to_string(), "ring");
    /// assert!(Forced::from_env([("NCCL_ALGO", "^Ring")]).is_err());
    /// ```
    pub fn from_env<'a>(
        env: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, ForcedError> {
        let mut forced = Self::NOTHING;
        for (name, value) in env {
            let value = value.trim();
            let error = |name, wanted| ForcedError {
                name,
                value: value.to_owned(),
                wanted,
            };
            match name {
                "NCCL_ALGO" => {
                    let algorithm = NcclAlgorithm::from_plain_name(only_name(value));
                    forced.algorithm =
                        Some(algorithm.ok_or_else(|| error("NCCL_ALGO", "algorithm"))?);
                }
                "NCCL_PROTO" => {
                    let protocol = protocol(only_name(value));
                    forced.protocol =
                        Some(protocol.ok_or_else(|| error("NCCL_PROTO", "protocol"))?);
                }
                _ => {}
            }
        }
        Ok(forced)
    }

    /// Reads the assignments in a text of flags: `NCCL_PROTO=LL128 -g 2`.
    ///
    /// # Errors
    ///
    /// As [`Forced::from_env`].
    pub fn from_flags(text: &str) -> Result<Self, ForcedError> {
        let words = text.split_whitespace();
        Self::from_env(words.filter_map(|word| word.split_once('=')))
    }

    /// Guesses from the name of a file: the words between its separators, so that
    /// `a100_ring_ll128.txt` is Ring with LL128. `None` when it contradicts itself.
    ///
    /// ```
    /// use tier6_study::Forced;
    /// assert_eq!(Forced::from_file_name("l40s_tree").unwrap().to_string(), "tree");
    /// assert_eq!(Forced::from_file_name("ll_vs_simple"), None);
    /// assert_eq!(Forced::from_file_name("run7"), Some(Forced::NOTHING));
    /// ```
    pub fn from_file_name(name: &str) -> Option<Self> {
        let mut forced = Self::NOTHING;
        for word in name.split(|c: char| !c.is_ascii_alphanumeric()) {
            if let Some(found) = NcclAlgorithm::from_plain_name(word)
                && forced
                    .algorithm
                    .replace(found)
                    .is_some_and(|old| old != found)
            {
                return None;
            }
            if let Some(found) = protocol(word)
                && forced
                    .protocol
                    .replace(found)
                    .is_some_and(|old| old != found)
            {
                return None;
            }
        }
        Some(forced)
    }

    /// Says whether NCCL chose both.
    pub const fn is_nothing(self) -> bool {
        self.algorithm.is_none() && self.protocol.is_none()
    }

    /// Says whether a run under this could have taken the path.
    pub fn allows(self, candidate: Candidate) -> bool {
        self.algorithm
            .is_none_or(|forced| forced == candidate.algorithm)
            && self
                .protocol
                .is_none_or(|forced| forced == candidate.protocol)
    }

    /// Returns the path when both are forced.
    pub fn candidate(self) -> Option<Candidate> {
        Some(Candidate {
            algorithm: self.algorithm?,
            protocol: self.protocol?,
        })
    }
}

impl fmt::Display for Forced {
    /// Prints `ring+ll`, `ring`, `ll` or `default`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.algorithm, self.protocol) {
            (Some(algorithm), Some(protocol)) => Candidate {
                algorithm,
                protocol,
            }
            .fmt(f),
            (Some(algorithm), None) => algorithm.fmt(f),
            (None, Some(protocol)) => f.pad(protocol.name()),
            (None, None) => f.pad("default"),
        }
    }
}

/// Returns what follows the function of `allreduce:ring`.
fn only_name(value: &str) -> &str {
    match value.split_once(':') {
        Some((function, name)) if NcclCollective::from_plain_name(function).is_some() => name,
        Some(_) | None => value,
    }
}

fn protocol(text: &str) -> Option<Protocol> {
    Protocol::ALL
        .into_iter()
        .find(|protocol| protocol.name().eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_names_force_and_others_are_errors() {
        let check = |text: &str, expect: &str| {
            let found = Forced::from_flags(text).map(|forced| forced.to_string());
            assert_eq!(found.as_deref(), Ok(expect), "{text}");
        };
        check("NCCL_ALGO=Ring -g 2", "ring");
        check("-g 2 NCCL_PROTO=LL128", "ll128");
        check("NCCL_ALGO=nvlstree NCCL_PROTO=simple", "nvls_tree+simple");
        check("NCCL_ALGO=allreduce:tree", "tree");
        check("default run 1 -g 2", "default");
        for text in [
            "NCCL_ALGO=^Ring",
            "NCCL_ALGO=Ring,Tree",
            "NCCL_ALGO=allreduce:ring;broadcast:ring",
            "NCCL_PROTO=",
            "NCCL_PROTO=^LL128",
            "NCCL_ALGO=rnig",
        ] {
            let error = Forced::from_flags(text).unwrap_err();
            assert!(text.ends_with(&error.value), "{error}");
        }
    }
}
