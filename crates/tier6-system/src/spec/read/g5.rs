//! Reading of `[g5]`.

use super::table::{Table, Value};
use crate::SystemError;
use crate::constant::Constant;
use crate::spec::g5::{
    AckMergeSpec, ArbiterSpec, ByteCounterSpec, CdmaSpec, ChannelsSpec, CreditScopeSpec,
    CreditsSpec, DcqcnPreset, DcqcnSpec, EcnSpec, G5Spec, HeadersSpec, LayerState, MemorySpec,
    MessageSpec, PathRule, PaxiSpec, PfcSpec, QueueSpec, RcLinkSpec, RecoverySpec, SplitSpec,
};
use tier6_units::{Bytes, Micros};

/// The largest segment, credit or framing: beyond, it is no packet.
const PACKET_MAX: u64 = 1 << 20;

pub(super) fn read_g5(value: &Value<'_>) -> Result<G5Spec, SystemError> {
    read_layers(value).map_err(|error| match error.hint {
        Some(_) => error,
        // Every key may be left out.
        None => error.hint("a key that is left out has the engine's usual value"),
    })
}

fn read_layers(value: &Value<'_>) -> Result<G5Spec, SystemError> {
    let table = value.table(&[
        "enabled", "cdma", "memory", "paxi", "rc_link", "ll", "ll128", "switch", "paths", "dcqcn",
    ])?;
    Ok(G5Spec {
        state: state(&table)?,
        cdma: table.optional("cdma", |layer| read_cdma(&layer))?,
        memory: table.optional("memory", |layer| read_memory(&layer))?,
        paxi: table.optional("paxi", |layer| read_paxi(&layer))?,
        rc_link: table.optional("rc_link", |layer| read_rc_link(&layer))?,
        ll: table.optional("ll", |protocol| read_message(&protocol))?,
        ll128: table.optional("ll128", |protocol| read_message(&protocol))?,
        switch: table.optional("switch", |layer| read_switch(&layer))?,
        paths: table.optional("paths", |layer| read_paths(&layer))?,
        dcqcn: table.optional("dcqcn", |layer| read_dcqcn(&layer))?,
    })
}

fn state(table: &Table<'_>) -> Result<LayerState, SystemError> {
    let state = table.optional("enabled", |enabled| {
        Ok(if enabled.boolean()? {
            LayerState::On
        } else {
            LayerState::Off
        })
    })?;
    Ok(state.unwrap_or_default())
}

fn read_cdma(value: &Value<'_>) -> Result<CdmaSpec, SystemError> {
    let table = value.table(&[
        "enabled", "units", "threads", "split", "credits", "start", "sync", "rate",
    ])?;
    Ok(CdmaSpec {
        state: state(&table)?,
        units: count(&table, "units")?,
        threads: count(&table, "threads")?,
        split: table.optional("split", |split| {
            if split.is_word("all") {
                return Ok(SplitSpec::All);
            }
            Ok(SplitSpec::Per(bytes_within(&split, 1, u64::MAX)?))
        })?,
        credits: count(&table, "credits")?,
        start: table.optional("start", |time| time.constant())?,
        sync: table.optional("sync", |time| time.constant())?,
        rate: table.optional("rate", |rate| rate.constant())?,
    })
}

fn read_message(value: &Value<'_>) -> Result<MessageSpec, SystemError> {
    let table = value.table(&["sync", "share"])?;
    Ok(MessageSpec {
        sync: table.optional("sync", |time| time.constant())?,
        share: table.optional("share", |share| share.constant())?,
    })
}

fn read_memory(value: &Value<'_>) -> Result<MemorySpec, SystemError> {
    let table = value.table(&["enabled", "reduce", "copy"])?;
    Ok(MemorySpec {
        state: state(&table)?,
        reduce: table.optional("reduce", |rate| rate.constant())?,
        copy: table.optional("copy", |rate| rate.constant())?,
    })
}

fn read_paxi(value: &Value<'_>) -> Result<PaxiSpec, SystemError> {
    let table = value.table(&["enabled", "latency", "segment", "outstanding"])?;
    Ok(PaxiSpec {
        state: state(&table)?,
        latency: table.optional("latency", |time| time.constant())?,
        segment: table.optional("segment", |size| bytes_within(&size, 1, PACKET_MAX))?,
        outstanding: count(&table, "outstanding")?,
    })
}

fn read_rc_link(value: &Value<'_>) -> Result<RcLinkSpec, SystemError> {
    let table = value.table(&[
        "enabled",
        "overhead",
        "headers",
        "sequence_bits",
        "window",
        "channels",
        "recovery",
        "reorder",
        "credits",
        "ack_merge",
        "ack",
        "timeout",
        "retries",
        "loss",
    ])?;
    let headers = HeadersSpec::ALL.map(|kind| (kind.name(), kind));
    let recoveries = RecoverySpec::ALL.map(|kind| (kind.name(), kind));
    Ok(RcLinkSpec {
        state: state(&table)?,
        overhead: table.optional("overhead", |size| bytes_within(&size, 0, PACKET_MAX))?,
        headers: table.optional("headers", |word| word.choice("kind of headers", &headers))?,
        sequence_bits: count(&table, "sequence_bits")?,
        window: count(&table, "window")?,
        channels: table.optional("channels", |channels| read_channels(&channels))?,
        recovery: table.optional("recovery", |word| {
            word.choice("way to recover", &recoveries)
        })?,
        reorder: table.optional("reorder", |frames| Ok(frames.count(0)?.value))?,
        credits: table.optional("credits", |credits| read_credits(&credits))?,
        ack_merge: table.optional("ack_merge", |merge| {
            if merge.is_word("never") {
                return Ok(AckMergeSpec::Never);
            }
            Ok(AckMergeSpec::Every(above_zero(&merge)?))
        })?,
        ack: table.optional("ack", |size| bytes_within(&size, 0, PACKET_MAX))?,
        timeout: table.optional("timeout", |time| above_zero(&time))?,
        retries: table.optional("retries", |count| Ok(count.count(0)?.value))?,
        loss: table.optional("loss", |loss| number(&loss, 0.0, 1.0))?,
    })
}

fn read_channels(value: &Value<'_>) -> Result<ChannelsSpec, SystemError> {
    let table = value.table(&["count", "arbiter", "requests", "responses", "multicasts"])?;
    let arbiters = ArbiterSpec::ALL.map(|arbiter| (arbiter.name(), arbiter));
    Ok(ChannelsSpec {
        count: table.optional("count", |count| match count.count(1)?.value {
            channels @ 1..=3 => Ok(channels),
            channels => Err(count.bad(format!("expected 1 to 3 channels, found {channels}"))),
        })?,
        arbiter: table.optional("arbiter", |word| word.choice("arbiter", &arbiters))?,
        requests: count(&table, "requests")?,
        responses: count(&table, "responses")?,
        multicasts: count(&table, "multicasts")?,
    })
}

fn read_credits(value: &Value<'_>) -> Result<CreditsSpec, SystemError> {
    let table = value.table(&["enabled", "unit", "count", "period", "scope"])?;
    let scopes = CreditScopeSpec::ALL.map(|scope| (scope.name(), scope));
    Ok(CreditsSpec {
        state: state(&table)?,
        unit: table.optional("unit", |size| bytes_within(&size, 32, 2048))?,
        count: count(&table, "count")?,
        period: table.optional("period", |time| time.constant())?,
        scope: table.optional("scope", |word| word.choice("scope of credits", &scopes))?,
    })
}

fn read_switch(value: &Value<'_>) -> Result<QueueSpec, SystemError> {
    let table = value.table(&["enabled", "buffer", "threshold", "pfc", "ecn"])?;
    Ok(QueueSpec {
        state: state(&table)?,
        buffer: table.optional("buffer", |size| bytes_within(&size, 1, u64::MAX))?,
        threshold: table.optional("threshold", |share| number(&share, 1e-6, 1e6))?,
        pfc: table.optional("pfc", |pfc| read_pfc(&pfc))?,
        ecn: table.optional("ecn", |ecn| read_ecn(&ecn))?,
    })
}

fn read_pfc(value: &Value<'_>) -> Result<PfcSpec, SystemError> {
    let table = value.table(&["enabled", "reserve", "resume", "headroom"])?;
    let size = |key: &str| table.optional(key, |size| size.bytes());
    Ok(PfcSpec {
        state: state(&table)?,
        reserve: size("reserve")?,
        resume: size("resume")?,
        headroom: size("headroom")?,
    })
}

fn read_ecn(value: &Value<'_>) -> Result<EcnSpec, SystemError> {
    let table = value.table(&["enabled", "k_min", "k_max", "p_max"])?;
    let k_min = table.optional("k_min", |size| size.bytes())?;
    let k_max = table.optional("k_max", |size| {
        let k_max = size.bytes()?;
        match k_min {
            Some(k_min) if k_max < k_min => Err(size.bad("below `k_min`")),
            _ => Ok(k_max),
        }
    })?;
    Ok(EcnSpec {
        state: state(&table)?,
        k_min,
        k_max,
        p_max: table.optional("p_max", |share| number(&share, 0.0, 1.0))?,
    })
}

fn read_paths(value: &Value<'_>) -> Result<PathRule, SystemError> {
    let table = value.table(&["choice", "flows"])?;
    let choices = [
        PathRule::Preferred,
        PathRule::PerFlow,
        PathRule::SubFlows(1),
        PathRule::Spray,
        PathRule::RoundRobin,
    ];
    let choices = choices.map(|rule| (rule.name(), rule));
    let rule = table
        .need("choice")?
        .choice("way to choose paths", &choices)?;
    match (rule, table.get("flows")) {
        (PathRule::SubFlows(_), _) => {
            let flows = table.need("flows")?.count(1)?.value;
            Ok(PathRule::SubFlows(flows))
        }
        (_, Some(flows)) => Err(flows
            .bad("only `sub_flows` has a number of flows")
            .hint("choice = \"sub_flows\"")),
        (_, None) => Ok(rule),
    }
}

fn read_dcqcn(value: &Value<'_>) -> Result<DcqcnSpec, SystemError> {
    let table = value.table(&[
        "enabled",
        "preset",
        "g",
        "alpha_period",
        "initial_alpha",
        "cut_interval",
        "cnp_interval",
        "timer",
        "byte_counter",
        "fast_recovery",
        "additive",
        "hyper",
        "min_rate",
        "budget",
    ])?;
    let presets = DcqcnPreset::ALL.map(|preset| (preset.name(), preset));
    let share = |key: &str| table.optional(key, |share| number(&share, 0.0, 1.0));
    let rate = |key: &str| table.optional(key, |rate| rate.constant());
    Ok(DcqcnSpec {
        state: state(&table)?,
        preset: table.optional("preset", |word| word.choice("preset of DCQCN", &presets))?,
        g: share("g")?,
        alpha_period: table.optional("alpha_period", |time| above_zero(&time))?,
        initial_alpha: share("initial_alpha")?,
        cut_interval: table.optional("cut_interval", |time| time.constant())?,
        cnp_interval: table.optional("cnp_interval", |time| time.constant())?,
        timer: table.optional("timer", |time| above_zero(&time))?,
        byte_counter: table.optional("byte_counter", |counter| {
            if counter.is_word("none") {
                return Ok(ByteCounterSpec::None);
            }
            Ok(ByteCounterSpec::Every(bytes_within(&counter, 1, u64::MAX)?))
        })?,
        fast_recovery: table.optional("fast_recovery", |count| Ok(count.count(0)?.value))?,
        additive: rate("additive")?,
        hyper: rate("hyper")?,
        min_rate: rate("min_rate")?,
        budget: table.optional("budget", |time| time.constant())?,
    })
}

fn count(table: &Table<'_>, key: &str) -> Result<Option<u32>, SystemError> {
    table.optional(key, |count| Ok(count.count(1)?.value))
}

fn bytes_within(value: &Value<'_>, least: u64, most: u64) -> Result<Bytes, SystemError> {
    let size = value.bytes()?;
    if (least..=most).contains(&size.get()) {
        return Ok(size);
    }
    let most = match most {
        u64::MAX => "more".to_owned(),
        most => Bytes::new(most).to_string(),
    };
    Err(value.bad(format!("expected {least} B to {most}, found {size}")))
}

/// A number within bounds.
fn number(value: &Value<'_>, least: f64, most: f64) -> Result<f64, SystemError> {
    let number = value.number()?;
    if (least..=most).contains(&number) {
        Ok(number)
    } else {
        Err(value.bad(format!("expected {least} to {most}, found {number}")))
    }
}

/// A period: one of zero would never let time pass.
fn above_zero(value: &Value<'_>) -> Result<Constant<Micros>, SystemError> {
    let period: Constant<Micros> = value.constant()?;
    if period.value.get() > 0.0 {
        Ok(period)
    } else {
        Err(value.bad("expected a time above zero"))
    }
}
