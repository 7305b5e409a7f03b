//! Published sets of which is known, from outside their numbers, that they say nothing about
//! accuracy. Wrong data is not listed here: the data says so itself.

use tier6_units::Bytes;

/// What is wrong with a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownBad {
    /// Id of the set; a trailing `*` stands for any ending.
    pub id: &'static str,
    /// Which sizes are concerned.
    pub scope: Scope,
    /// Why.
    pub reason: &'static str,
}

/// Which sizes of a set are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All.
    Whole,
    /// This size and larger ones.
    From(Bytes),
}

const TABLE: [KnownBad; 6] = [
    KnownBad {
        id: "gh200_ar_16gpu_4node_olivia_corrupt",
        scope: Scope::Whole,
        reason: "the run moved wrong data",
    },
    KnownBad {
        id: "h200_ar_16gpu_2node_noisy_bf16",
        scope: Scope::Whole,
        reason: "published as an example of noise on a shared network",
    },
    KnownBad {
        id: "h200_ar_16gpu_2node_vm_badgdr_nccltests256",
        scope: Scope::Whole,
        reason: "published as a fault: GPUDirect RDMA does not work in that virtual machine",
    },
    KnownBad {
        id: "rtxpro_a2a_16gpu_2node_p2poff_spcx",
        scope: Scope::From(Bytes::new(16 << 20)),
        reason: "unstable there",
    },
    KnownBad {
        id: "mi350x_ar_8gpu_mpi",
        scope: Scope::From(Bytes::new(512 << 20)),
        reason: "the rows from there on are degraded",
    },
    KnownBad {
        id: "xla_*",
        scope: Scope::Whole,
        reason: "bandwidths without times, and small sizes measure the launch",
    },
];

/// Returns what is known against a set.
pub fn known_bad(id: &str) -> impl Iterator<Item = &'static KnownBad> {
    TABLE.iter().filter(move |known| {
        known
            .id
            .strip_suffix('*')
            .map_or(known.id == id, |start| id.starts_with(start))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_match_whole_or_by_their_start() {
        let scopes = |id: &str| known_bad(id).map(|known| known.scope).collect::<Vec<_>>();
        assert_eq!(scopes("xla_gb200_ar_4of4"), [Scope::Whole]);
        assert_eq!(
            scopes("mi350x_ar_8gpu_mpi"),
            [Scope::From(Bytes::new(512 << 20))]
        );
        assert_eq!(scopes("mi350x_ar_8gpu_mpi2"), []);
        assert_eq!(scopes("run.txt"), []);
    }
}
