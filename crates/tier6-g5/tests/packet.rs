//! The packet network as a whole against the closed forms of loss, credits, windows, rates and
//! pauses (FACTS D), message by message.

#[path = "packet/drive.rs"]
mod drive;
#[path = "packet/loops.rs"]
mod loops;
#[path = "packet/random.rs"]
mod random;
#[path = "packet/switches.rs"]
mod switches;
