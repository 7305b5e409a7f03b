//! The packet network: every segment of every message, through every link.

mod calendar;
mod fine;
mod flight;
mod lines;
mod pump;
mod route;
mod server;
#[cfg(test)]
mod tests;
mod train;
