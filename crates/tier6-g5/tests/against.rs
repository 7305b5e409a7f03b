//! The packet network against one in which every packet goes by itself.

mod fidelity {
    use tier6_g5::G5Parameters;

    use crate::single::LayeredNetwork;

    /// Returns the plain one.
    pub fn network(parameters: &G5Parameters, seed: u64) -> LayeredNetwork {
        LayeredNetwork::new(parameters, seed)
    }
}

#[path = "single/network.rs"]
mod single;

#[expect(dead_code, reason = "the other tests of layers use the rest")]
#[path = "layers/traffic.rs"]
mod traffic;

#[path = "layers/against.rs"]
mod against;
