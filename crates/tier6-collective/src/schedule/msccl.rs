//! Custom schedules from MSCCL's XML.
//!
//! An `algo` has a `gpu` per rank, a `gpu` has thread blocks (`tb`), and a thread block runs its
//! `step`s in order, sending to one peer and receiving from one peer on one channel:
//!
//! ```xml
//! <algo name="pair" coll="allreduce" ngpus="2" nchunksperloop="1" inplace="1" proto="Simple">
//!   <gpu id="0" i_chunks="1" o_chunks="1" s_chunks="1">
//!     <tb id="0" send="1" recv="1" chan="0">
//!       <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
//! ```
//!
//! Types: `s` send, `r` receive, `rcs` receive, copy and send, `rrc` receive, reduce and copy,
//! `rrs` receive, reduce and send, `rrcs` all of it, `cpy` local copy, `re` local reduction, `nop`
//! a wait. Buffers: `i` input, `o` output, `s` scratch, in chunks; `nchunksperloop` cuts the whole
//! vector, and AllGather's input and ReduceScatter's output are a rank's share of it. A step waits
//! for the one before it and for step `deps` of thread block `depid` of its GPU.
//!
//! How it becomes a schedule: the k-th send of a connection meets the k-th receive. A message goes
//! into a slot of its own at the receiver, as it would into a connection's buffer, and is copied
//! or added from there by a local transfer; so a send never waits for its receiver, and buffers
//! are as deep as the program needs. A send counts as complete when the message is there. The
//! thread block is the port. What is not read: `proto`, `nchannels`, sizes and names; the root of
//! Broadcast and Reduce is rank 0; without `inplace`, all but `alltoall` are in place.

mod lower;
mod program;

use thiserror::Error;
use tier6_units::Bytes;

use super::Schedule;
use super::script::Script;

/// Why an MSCCL program cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ReadMscclError {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// What is wrong there.
    pub message: String,
}

/// Reads an MSCCL program as the schedule of a message of `bytes`, M in nccl-tests' meaning.
///
/// Whether the program computes its collective is for [`Schedule::check`].
///
/// # Errors
///
/// When the text is not XML, an attribute is missing or impossible, sends and receives do not
/// meet, or steps wait for each other; with the place.
pub fn read_msccl(text: &str, bytes: Bytes) -> Result<Schedule, ReadMscclError> {
    let program = program::read(text)?;
    match lower::lower(&program, bytes.get())? {
        (script, None) => Ok(script.schedule),
        (_, Some(error)) => Err(error),
    }
}

/// Reads an MSCCL program, also one whose steps wait for each other in a circle or for messages
/// that nobody sends.
///
/// # Errors
///
/// As [`read_msccl`], but for that.
pub fn read_msccl_script(text: &str, bytes: Bytes) -> Result<Script, ReadMscclError> {
    let program = program::read(text)?;
    lower::lower(&program, bytes.get()).map(|(script, _)| script)
}
