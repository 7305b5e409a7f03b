//! The layers at work on whole networks, against closed forms (FACTS D).

#[path = "layers/traffic.rs"]
mod traffic;

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
