//! The head of an nccl-tests JSON document: arguments, configuration, devices, environment.

use crate::read::environment::kept;
use crate::read::json_fields::{lower, whole};
use crate::{Device, LibraryVersion, RunSetup, SizeStep};
use serde_json::Value;
use std::collections::BTreeSet;
use tier6_units::Bytes;

/// More sizes than this are no sweep but a damaged configuration.
const SIZES_MAX: u64 = 1_000_000;

/// Reads what the document says before its results.
pub(super) fn read(document: &Value) -> RunSetup {
    let config = document.get("config");
    let of = |key: &str| config.and_then(|config| config.get(key));
    let bytes = |key: &str| whole(of(key)).map(Bytes::new);
    let factor = whole::<u32>(of("step_factor")).map(|factor| SizeStep::Factor(f64::from(factor)));
    let mut extra = Vec::new();
    for key in ["parallel_init", "per_iter_timing", "unalign"] {
        if let Some(text) = lower(of(key)) {
            extra.push((key.to_owned(), text));
        }
    }
    RunSetup {
        command: strings(document.get("args")).map(|args| args.join(" ")),
        threads: whole(of("nthreads")),
        gpus: whole(of("ngpus")),
        min_bytes: bytes("minimum_bytes"),
        max_bytes: bytes("maximum_bytes"),
        reduced_max_bytes: None,
        step: factor.or_else(|| bytes("step_bytes").map(SizeStep::Bytes)),
        warmup_iterations: whole(of("warmup_iters")),
        iterations: whole(of("iterations")),
        aggregated_iterations: whole(of("aggregated_iterations")),
        cycles: None,
        validation: whole::<u32>(of("validation")).map(|checks| checks > 0),
        graph_launches: whole(of("graph")),
        blocking: lower(of("blocking_collectives")),
        extra,
        devices: devices(of("devices")),
        library_version: whole(document.get("nccl_version")).and_then(LibraryVersion::from_code),
        environment: strings(document.get("env"))
            .into_iter()
            .flatten()
            .filter_map(|entry| kept(&entry))
            .collect(),
        header_seen: config.is_some(),
    }
}

fn strings(list: Option<&Value>) -> Option<Vec<String>> {
    let list = list?.as_array()?;
    Some(
        list.iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
    )
}

fn devices(list: Option<&Value>) -> Vec<Device> {
    let list = list.and_then(Value::as_array);
    let text = |device: &Value, key: &str| device.get(key)?.as_str().map(str::to_owned);
    list.into_iter()
        .flatten()
        .filter_map(|device| {
            Some(Device {
                rank: whole(device.get("rank"))?,
                host: text(device, "hostname").unwrap_or_default(),
                device: whole(device.get("device")),
                bus_id: text(device, "device_hex"),
                name: text(device, "device_info").unwrap_or_default(),
            })
        })
        .collect()
}

/// Counts the hosts of the device list; every process is in it.
pub(super) fn hosts(setup: &RunSetup) -> Option<u32> {
    let hosts: BTreeSet<&str> = setup
        .devices
        .iter()
        .map(|device| device.host.as_str())
        .collect();
    u32::try_from(hosts.len()).ok().filter(|hosts| *hosts > 0)
}

/// Counts the sizes that the configuration announces, as nccl-tests steps through them.
pub(super) fn announced_sizes(setup: &RunSetup) -> Option<u64> {
    let (min, max) = (setup.min_bytes?.get(), setup.max_bytes?.get());
    match setup.step? {
        SizeStep::Bytes(step) if step.get() > 0 && min <= max => {
            Some((max - min) / step.get() + 1).filter(|sizes| *sizes <= SIZES_MAX)
        }
        SizeStep::Factor(factor) if factor > 1.0 && min > 0 && min <= max => {
            let mut sizes = 0;
            let mut size = min as f64;
            while size <= max as f64 {
                sizes += 1;
                size *= factor;
            }
            Some(sizes)
        }
        SizeStep::Bytes(_) | SizeStep::Factor(_) => None,
    }
}
