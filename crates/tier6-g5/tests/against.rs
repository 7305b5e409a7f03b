//! The packet network against one in which every packet goes by itself.

mod fidelity {
    use tier6_g5::{G5Parameters, LayeredNetwork};

    /// Returns the plain one.
    pub fn network(parameters: &G5Parameters, seed: u64) -> LayeredNetwork {
        LayeredNetwork::new(parameters, seed)
    }
}

#[expect(dead_code, reason = "the other tests of layers use the rest")]
#[path = "layers/traffic.rs"]
mod traffic;

#[path = "layers/against.rs"]
mod against;
