//! Writing of `[g5]`.

use super::Text;
use crate::spec::g5::{
    AckMergeSpec, ArbiterSpec, ByteCounterSpec, CdmaSpec, CreditScopeSpec, DcqcnPreset, DcqcnSpec,
    G5Spec, HeadersSpec, LayerState, MemorySpec, PathRule, PaxiSpec, QueueSpec, RcLinkSpec,
    RecoverySpec, SplitSpec,
};
use tier6_units::Bytes;

impl Text {
    pub(super) fn g5(&mut self, g5: &G5Spec) {
        self.layer("[g5]", g5.state);
        if let Some(cdma) = &g5.cdma {
            self.cdma(cdma);
        }
        if let Some(memory) = &g5.memory {
            self.memory(memory);
        }
        if let Some(paxi) = &g5.paxi {
            self.paxi(paxi);
        }
        if let Some(rc_link) = &g5.rc_link {
            self.rc_link(rc_link);
        }
        for (header, protocol) in [("[g5.ll]", &g5.ll), ("[g5.ll128]", &g5.ll128)] {
            if let Some(protocol) = protocol {
                self.table(header);
                self.optional("sync", protocol.sync.as_ref());
                self.optional("share", protocol.share.as_ref());
            }
        }
        if let Some(switch) = &g5.switch {
            self.queue(switch);
        }
        if let Some(paths) = g5.paths {
            self.table("[g5.paths]");
            self.string("choice", paths.name());
            if let PathRule::SubFlows(flows) = paths {
                self.count("flows", flows);
            }
        }
        if let Some(dcqcn) = &g5.dcqcn {
            self.dcqcn(dcqcn);
        }
    }

    fn layer(&mut self, header: &str, state: LayerState) {
        self.table(header);
        if !state.is_on() {
            self.raw("enabled", "false");
        }
    }

    fn optional_bytes(&mut self, key: &str, size: Option<Bytes>) {
        if let Some(size) = size {
            self.string(key, &size.to_string());
        }
    }

    fn optional_word(&mut self, key: &str, word: Option<&str>) {
        if let Some(word) = word {
            self.string(key, word);
        }
    }

    fn optional_number(&mut self, key: &str, number: Option<f64>) {
        if let Some(number) = number {
            self.raw(key, &format!("{number:?}"));
        }
    }

    fn cdma(&mut self, cdma: &CdmaSpec) {
        self.layer("[g5.cdma]", cdma.state);
        self.optional_count("units", cdma.units);
        self.optional_count("threads", cdma.threads);
        match cdma.split {
            Some(SplitSpec::All) => self.string("split", "all"),
            Some(SplitSpec::Per(size)) => self.optional_bytes("split", Some(size)),
            None => {}
        }
        self.optional_count("credits", cdma.credits);
        self.optional("start", cdma.start.as_ref());
        self.optional("sync", cdma.sync.as_ref());
        self.optional("rate", cdma.rate.as_ref());
    }

    fn memory(&mut self, memory: &MemorySpec) {
        self.layer("[g5.memory]", memory.state);
        self.optional("reduce", memory.reduce.as_ref());
        self.optional("copy", memory.copy.as_ref());
    }

    fn paxi(&mut self, paxi: &PaxiSpec) {
        self.layer("[g5.paxi]", paxi.state);
        self.optional("latency", paxi.latency.as_ref());
        self.optional_bytes("segment", paxi.segment);
        self.optional_count("outstanding", paxi.outstanding);
    }

    fn rc_link(&mut self, link: &RcLinkSpec) {
        self.layer("[g5.rc_link]", link.state);
        self.optional_bytes("overhead", link.overhead);
        self.optional_word("headers", link.headers.map(HeadersSpec::name));
        self.optional_count("sequence_bits", link.sequence_bits);
        self.optional_count("window", link.window);
        self.optional_word("recovery", link.recovery.map(RecoverySpec::name));
        self.optional_count("reorder", link.reorder);
        match &link.ack_merge {
            Some(AckMergeSpec::Never) => self.string("ack_merge", "never"),
            Some(AckMergeSpec::Every(period)) => self.constant("ack_merge", period),
            None => {}
        }
        self.optional_bytes("ack", link.ack);
        self.optional("timeout", link.timeout.as_ref());
        self.optional_count("retries", link.retries);
        self.optional_number("loss", link.loss);
        if let Some(channels) = &link.channels {
            self.layer("[g5.rc_link.channels]", LayerState::On);
            self.optional_count("count", channels.count);
            self.optional_word("arbiter", channels.arbiter.map(ArbiterSpec::name));
            self.optional_count("requests", channels.requests);
            self.optional_count("responses", channels.responses);
            self.optional_count("multicasts", channels.multicasts);
        }
        if let Some(credits) = &link.credits {
            self.layer("[g5.rc_link.credits]", credits.state);
            self.optional_bytes("unit", credits.unit);
            self.optional_count("count", credits.count);
            self.optional("period", credits.period.as_ref());
            self.optional_word("scope", credits.scope.map(CreditScopeSpec::name));
        }
    }

    fn queue(&mut self, queue: &QueueSpec) {
        self.layer("[g5.switch]", queue.state);
        self.optional_bytes("buffer", queue.buffer);
        self.optional_number("threshold", queue.threshold);
        if let Some(pfc) = &queue.pfc {
            self.layer("[g5.switch.pfc]", pfc.state);
            self.optional_bytes("reserve", pfc.reserve);
            self.optional_bytes("resume", pfc.resume);
            self.optional_bytes("headroom", pfc.headroom);
        }
        if let Some(ecn) = &queue.ecn {
            self.layer("[g5.switch.ecn]", ecn.state);
            self.optional_bytes("k_min", ecn.k_min);
            self.optional_bytes("k_max", ecn.k_max);
            self.optional_number("p_max", ecn.p_max);
        }
    }

    fn dcqcn(&mut self, dcqcn: &DcqcnSpec) {
        self.layer("[g5.dcqcn]", dcqcn.state);
        self.optional_word("preset", dcqcn.preset.map(DcqcnPreset::name));
        self.optional_number("g", dcqcn.g);
        self.optional("alpha_period", dcqcn.alpha_period.as_ref());
        self.optional_number("initial_alpha", dcqcn.initial_alpha);
        self.optional("cut_interval", dcqcn.cut_interval.as_ref());
        self.optional("cnp_interval", dcqcn.cnp_interval.as_ref());
        self.optional("timer", dcqcn.timer.as_ref());
        match dcqcn.byte_counter {
            Some(ByteCounterSpec::None) => self.string("byte_counter", "none"),
            Some(ByteCounterSpec::Every(size)) => self.optional_bytes("byte_counter", Some(size)),
            None => {}
        }
        self.optional_count("fast_recovery", dcqcn.fast_recovery);
        self.optional("additive", dcqcn.additive.as_ref());
        self.optional("hyper", dcqcn.hyper.as_ref());
        self.optional("min_rate", dcqcn.min_rate.as_ref());
        self.optional("budget", dcqcn.budget.as_ref());
    }
}
