//! The constants of `[g5]` that a system gives, as values to print.

use super::{ConstantDescription, describe_constant};
use crate::constant::{Constant, Evidence, Quantity};
use crate::spec::g5::{
    AckMergeSpec, ByteCounterSpec, CreditScopeSpec, DcqcnPreset, G5Spec, HeadersSpec, LayerState,
    PathRule, RecoverySpec, SplitSpec,
};
use tier6_units::Bytes;

/// A list under construction.
#[derive(Default)]
struct List {
    table: &'static str,
    constants: Vec<ConstantDescription>,
}

impl List {
    /// Starts a table; one that is off says only that.
    fn table(&mut self, table: &'static str, state: LayerState) -> bool {
        self.table = table;
        if !state.is_on() {
            self.stated("enabled", Some("false"));
        }
        state.is_on()
    }

    fn stated(&mut self, key: &str, value: Option<impl ToString>) {
        self.constants
            .extend(value.map(|value| ConstantDescription {
                name: format!("{}.{key}", self.table),
                value: value.to_string(),
                evidence: Evidence::Stated,
                source: None,
            }));
    }

    fn constant<T: Quantity>(&mut self, key: &str, constant: Option<&Constant<T>>) {
        let name = format!("{}.{key}", self.table);
        self.constants
            .extend(constant.map(|constant| describe_constant(name, constant)));
    }
}

pub(super) fn describe(g5: &G5Spec) -> Vec<ConstantDescription> {
    let mut list = List::default();
    if list.table("g5", g5.state) {
        engines(&mut list, g5);
        links(&mut list, g5);
        queues(&mut list, g5);
        rate_control(&mut list, g5);
    }
    list.constants
}

fn engines(list: &mut List, g5: &G5Spec) {
    if let Some(cdma) = &g5.cdma
        && list.table("g5.cdma", cdma.state)
    {
        list.stated("units", cdma.units);
        list.stated("threads", cdma.threads);
        let split = cdma.split.map(|split| match split {
            SplitSpec::All => "all".to_owned(),
            SplitSpec::Per(size) => size.to_string(),
        });
        list.stated("split", split);
        list.stated("credits", cdma.credits);
        list.constant("start", cdma.start.as_ref());
        list.constant("sync", cdma.sync.as_ref());
        list.constant("rate", cdma.rate.as_ref());
    }
    if let Some(memory) = &g5.memory
        && list.table("g5.memory", memory.state)
    {
        list.constant("reduce", memory.reduce.as_ref());
        list.constant("copy", memory.copy.as_ref());
    }
    for (table, protocol) in [("g5.ll", &g5.ll), ("g5.ll128", &g5.ll128)] {
        if let Some(protocol) = protocol {
            list.table = table;
            list.constant("sync", protocol.sync.as_ref());
            list.constant("share", protocol.share.as_ref());
        }
    }
}

fn links(list: &mut List, g5: &G5Spec) {
    if let Some(paxi) = &g5.paxi
        && list.table("g5.paxi", paxi.state)
    {
        list.constant("latency", paxi.latency.as_ref());
        list.stated("segment", paxi.segment);
        list.stated("outstanding", paxi.outstanding);
    }
    let Some(link) = &g5.rc_link else {
        return;
    };
    if !list.table("g5.rc_link", link.state) {
        return;
    }
    list.stated("overhead", link.overhead);
    list.stated("headers", link.headers.map(HeadersSpec::name));
    list.stated("sequence_bits", link.sequence_bits);
    list.stated("window", link.window);
    list.stated("recovery", link.recovery.map(RecoverySpec::name));
    list.stated("reorder", link.reorder);
    match &link.ack_merge {
        Some(AckMergeSpec::Never) => list.stated("ack_merge", Some("never")),
        Some(AckMergeSpec::Every(period)) => list.constant("ack_merge", Some(period)),
        None => {}
    }
    list.stated("ack", link.ack);
    list.constant("timeout", link.timeout.as_ref());
    list.stated("retries", link.retries);
    list.stated("loss", link.loss);
    if let Some(credits) = &link.credits
        && list.table("g5.rc_link.credits", credits.state)
    {
        list.stated("unit", credits.unit);
        list.stated("count", credits.count);
        list.constant("period", credits.period.as_ref());
        list.stated("scope", credits.scope.map(CreditScopeSpec::name));
    }
}

fn queues(list: &mut List, g5: &G5Spec) {
    if let Some(queue) = &g5.switch
        && list.table("g5.switch", queue.state)
    {
        list.stated("buffer", queue.buffer);
        list.stated("threshold", queue.threshold);
        if let Some(pfc) = &queue.pfc
            && list.table("g5.switch.pfc", pfc.state)
        {
            list.stated("reserve", pfc.reserve);
            list.stated("resume", pfc.resume);
            list.stated("headroom", pfc.headroom);
        }
        if let Some(ecn) = &queue.ecn
            && list.table("g5.switch.ecn", ecn.state)
        {
            list.stated("k_min", ecn.k_min);
            list.stated("k_max", ecn.k_max);
            list.stated("p_max", ecn.p_max);
        }
    }
    if let Some(paths) = g5.paths {
        list.table("g5.paths", LayerState::On);
        list.stated("choice", Some(paths.name()));
        if let PathRule::SubFlows(flows) = paths {
            list.stated("flows", Some(flows));
        }
    }
}

fn rate_control(list: &mut List, g5: &G5Spec) {
    let Some(dcqcn) = &g5.dcqcn else {
        return;
    };
    if !list.table("g5.dcqcn", dcqcn.state) {
        return;
    }
    list.stated("preset", dcqcn.preset.map(DcqcnPreset::name));
    list.stated("g", dcqcn.g);
    list.constant("alpha_period", dcqcn.alpha_period.as_ref());
    list.stated("initial_alpha", dcqcn.initial_alpha);
    list.constant("cut_interval", dcqcn.cut_interval.as_ref());
    list.constant("cnp_interval", dcqcn.cnp_interval.as_ref());
    list.constant("timer", dcqcn.timer.as_ref());
    let counter = dcqcn.byte_counter.map(|counter| match counter {
        ByteCounterSpec::None => "none".to_owned(),
        ByteCounterSpec::Every(size) => Bytes::to_string(&size),
    });
    list.stated("byte_counter", counter);
    list.stated("fast_recovery", dcqcn.fast_recovery);
    list.constant("additive", dcqcn.additive.as_ref());
    list.constant("hyper", dcqcn.hyper.as_ref());
    list.constant("min_rate", dcqcn.min_rate.as_ref());
    list.constant("budget", dcqcn.budget.as_ref());
}
