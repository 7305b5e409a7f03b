//! Congestion control of senders: DCQCN (FACTS D.1).
//!
//! State machines without I/O: a switch marks packets ([`crate::EcnCurve`]), the receiver answers
//! with notices ([`NoticeMerge`]), the sender cuts its rate and raises it again
//! ([`DcqcnSender`]), and keeps it by a budget of bytes ([`ByteBudget`]).
//!
//! Laws that they keep: without a notice a sender runs at line rate; after a cut to half of the
//! line with the target there, it is back after about F·T + (R/2)/`R_AI`·T; two senders into one
//! port settle near half each, with the queue between the thresholds of the marks.

mod budget;
mod dcqcn;
mod notice;

pub use budget::ByteBudget;
pub use dcqcn::DcqcnSender;
pub use notice::NoticeMerge;
