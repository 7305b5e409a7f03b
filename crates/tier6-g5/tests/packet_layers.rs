//! The layers at work on the packet network, against the closed forms that the plain network of
//! single packets keeps as well (FACTS D).

mod fidelity {
    use tier6_g5::{G5Parameters, PacketNetwork};

    /// Returns the network that the tests are about.
    pub fn network(parameters: &G5Parameters, _seed: u64) -> PacketNetwork {
        PacketNetwork::new(parameters)
    }
}

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

#[path = "layers/channels.rs"]
mod channels;
