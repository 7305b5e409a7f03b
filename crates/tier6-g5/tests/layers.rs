//! The layers at work on a network in which every packet goes by itself, against closed forms
//! (FACTS D): the plain network that `against` compares the engine with.

mod fidelity {
    use tier6_g5::G5Parameters;

    use crate::single::LayeredNetwork;

    /// Returns the network that the tests are about.
    pub fn network(parameters: &G5Parameters, seed: u64) -> LayeredNetwork {
        LayeredNetwork::new(parameters, seed)
    }
}

#[path = "single/network.rs"]
mod single;

#[path = "layers/traffic.rs"]
mod traffic;

#[path = "layers/ring.rs"]
mod ring;

#[path = "layers/window.rs"]
mod window;

#[path = "layers/loss.rs"]
mod loss;

#[path = "layers/queue.rs"]
mod queue;

#[path = "layers/paths.rs"]
mod paths;

#[path = "layers/incast.rs"]
mod incast;

#[path = "layers/pause.rs"]
mod pause;

#[path = "layers/deadlock.rs"]
mod deadlock;

#[path = "layers/any.rs"]
mod any;
