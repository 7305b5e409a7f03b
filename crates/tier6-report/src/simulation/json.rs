//! `tier6.prediction/1` of the event-driven engine. Additions to those of a prediction: `fidelity`, `seed`,
//! `grain_bytes`, `faults`, `stops`, `refused`, `flaw` and `variant` of the whole; `hardware_us`, `channels`,
//! `events`, `messages`, `packet_hops` and `sensitivities` of a result. Where ranks have chips of the caller's
//! choice, `chips`; where calls run beside, `beside` of the whole and, with `alone_us` and `slowdown`, of a result.

use super::beside::slowdown;
use super::{
    BesideCall, BesideTime, Sensitivity, SimulatedCall, SimulationReport, StoppedCall,
    algorithm_name, us,
};
use crate::analysis::json::pretty;
use crate::call::{PartsDto, RefusalDto, in_nccl_name};
use serde::Serialize;
use std::collections::BTreeMap;
use tier6_collective::{Grain, Protocol};
use tier6_g5::{Parts, Wait};
use tier6_units::{Bytes, GbPerSec};

/// Returns the simulation as JSON of schema `tier6.prediction/1`, indented, with a final newline.
pub fn simulation_json(report: &SimulationReport) -> String {
    let settings = report.variant.iter();
    let variant = || settings.map(|(key, value)| (&**key, &**value)).collect();
    let rows = report.rows.iter();
    let results = rows.map(|row| ResultDto::new(row, report));
    pretty(&ReportDto {
        schema: "tier6.prediction/1",
        engine: "g5",
        system: &report.system,
        collective: report.collective.name(),
        ranks: report.ranks,
        fidelity: report.fidelity.name(),
        seed: report.seed,
        grain_bytes: match report.grain {
            Grain::Message => None,
            Grain::Slices { bytes } => Some(bytes),
        },
        faults: &report.faults,
        results: results.collect(),
        stops: report.stops.iter().map(StopDto::new).collect(),
        refused: RefusalDto::of(report.choice, &report.refused),
        flaw: report.flaw.as_deref(),
        variant: (!report.variant.is_empty()).then(variant),
        chips: report.chips.as_deref(),
        beside: report.beside.iter().map(BesideDto::new).collect(),
    })
}

#[derive(Serialize)]
struct ReportDto<'a> {
    schema: &'static str,
    engine: &'static str,
    system: &'a str,
    collective: &'static str,
    ranks: u32,
    fidelity: &'static str,
    seed: u64,
    /// `null` for whole messages.
    grain_bytes: Option<u64>,
    faults: &'a [String],
    results: Vec<ResultDto<'a>>,
    stops: Vec<StopDto<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Vec<RefusalDto<'a>>>,
    /// Why a schedule from a file does not compute its collective.
    #[serde(skip_serializing_if = "Option::is_none")]
    flaw: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<BTreeMap<&'a str, &'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chips: Option<&'a [u32]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    beside: Vec<BesideDto<'a>>,
}

/// A call beside.
#[derive(Serialize)]
struct BesideDto<'a> {
    name: &'a str,
    collective: &'static str,
    /// `null` for the size of the measured call.
    bytes: Option<u64>,
    chips: &'a [u32],
    start_us: f64,
}

/// What it took beside one measured call.
#[derive(Serialize)]
struct BesideTimeDto<'a> {
    name: &'a str,
    algorithm: &'static str,
    bytes: u64,
    time_us: f64,
    alone_us: Option<f64>,
    slowdown: Option<f64>,
}

#[derive(Serialize)]
struct ResultDto<'a> {
    bytes: u64,
    algorithm: &'static str,
    /// `null` for no protocol in particular.
    protocol: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_nccl: Option<&'static str>,
    time_us: f64,
    parts: PartsDto,
    algbw_gbs: Option<f64>,
    busbw_gbs: Option<f64>,
    bottleneck: &'a str,
    evidence: &'static str,
    hardware_us: f64,
    channels: u32,
    events: u64,
    messages: u64,
    packet_hops: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sensitivities: Vec<SensitivityDto<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alone_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slowdown: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    beside: Vec<BesideTimeDto<'a>>,
}

#[derive(Serialize)]
struct SensitivityDto<'a> {
    constant: &'a str,
    elasticity: f64,
}

#[derive(Serialize)]
struct StopDto<'a> {
    bytes: u64,
    algorithm: &'static str,
    reason: String,
    at_us: f64,
    done: u64,
    transfers: u64,
    waits: Vec<WaitDto<'a>>,
}

#[derive(Serialize)]
struct WaitDto<'a> {
    who: &'a str,
    for_whom: &'a str,
    why: &'a str,
}

impl<'a> ResultDto<'a> {
    fn new(row: &'a SimulatedCall, report: &'a SimulationReport) -> Self {
        let beside = report.beside.iter().zip(&row.beside);
        let beside = beside.map(|(call, time)| BesideTimeDto::new(call, time));
        Self {
            bytes: row.bytes.get(),
            algorithm: algorithm_name(row.algorithm),
            protocol: row.protocol.map(Protocol::name),
            in_nccl: in_nccl_name(report.choice, row.in_nccl),
            time_us: us(row.total),
            parts: parts(&row.parts),
            algbw_gbs: row.algbw.map(GbPerSec::get),
            busbw_gbs: row.busbw.map(GbPerSec::get),
            bottleneck: &row.bottleneck,
            evidence: row.basis.name(),
            hardware_us: us(row.hardware),
            channels: row.channels,
            events: row.events,
            messages: row.messages,
            packet_hops: row.packet_hops,
            sensitivities: row.sensitivities.iter().map(SensitivityDto::new).collect(),
            alone_us: row.alone.map(us),
            slowdown: slowdown(row.total, row.alone),
            beside: beside.collect(),
        }
    }
}

impl<'a> BesideDto<'a> {
    fn new(call: &'a BesideCall) -> Self {
        Self {
            name: &call.name,
            collective: call.collective.name(),
            bytes: call.bytes.map(Bytes::get),
            chips: &call.chips,
            start_us: us(call.start),
        }
    }
}

impl<'a> BesideTimeDto<'a> {
    fn new(call: &'a BesideCall, time: &'a BesideTime) -> Self {
        Self {
            name: &call.name,
            algorithm: algorithm_name(time.algorithm),
            bytes: time.bytes.get(),
            time_us: us(time.total),
            alone_us: time.alone.map(us),
            slowdown: slowdown(time.total, time.alone),
        }
    }
}

fn parts(parts: &Parts) -> PartsDto {
    PartsDto {
        software_us: us(parts.software),
        latency_us: us(parts.latency),
        transfer_us: us(parts.transfer),
        reduce_us: us(parts.reduce),
        stall_us: us(parts.stall),
    }
}

impl<'a> SensitivityDto<'a> {
    fn new(sensitivity: &'a Sensitivity) -> Self {
        Self {
            constant: &sensitivity.constant,
            elasticity: sensitivity.elasticity,
        }
    }
}

impl<'a> StopDto<'a> {
    fn new(stopped: &'a StoppedCall) -> Self {
        let stop = &stopped.stop;
        Self {
            bytes: stopped.bytes.get(),
            algorithm: algorithm_name(stopped.algorithm),
            reason: stop.reason.to_string(),
            at_us: us(stop.at),
            done: stop.done,
            transfers: stop.transfers,
            waits: stop.waits.iter().map(WaitDto::new).collect(),
        }
    }
}

impl<'a> WaitDto<'a> {
    fn new(wait: &'a Wait) -> Self {
        Self {
            who: &wait.who,
            for_whom: &wait.for_whom,
            why: &wait.why,
        }
    }
}
