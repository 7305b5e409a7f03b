//! Published values of the parameters, each with its source (FACTS A.2, D.1, D.2).

use tier6_units::{ByteTime, GbPerSec, SimTime};

use super::{
    AckMerge, Arbiter, Cdma, CdmaSplit, Channels, CreditScope, Credits, Dcqcn, EcnCurve,
    G5Parameters, Headers, Memory, PathChoice, Paxi, Pfc, RateControl, RcLink, Recovery,
    SwitchQueue, TargetClamp,
};

/// Ports of a chip of [`G5Parameters::defaults`]: 450 GB/s in ports of 50 GB/s.
const PORTS: u32 = 9;

const fn ns(ns: u64) -> SimTime {
    SimTime::from_ps(1_000 * ns)
}

const fn us(us: u64) -> SimTime {
    ns(1_000 * us)
}

/// Bytes per second of a rate in Mb/s, the unit in which DCQCN's rates are published.
const fn mbit(mbit: f64) -> f64 {
    mbit * 1e6 / 8.0
}

impl G5Parameters {
    /// Returns the defaults of every layer (FACTS A.2) for a chip of 450 GB/s per direction.
    ///
    /// A system with other chips replaces `cdma.rate` and scales `paxi.outstanding`. Memory and
    /// reductions cost nothing, for no published figure says what they do; there are no marks and
    /// no rate control, as on the links inside a node.
    pub fn defaults() -> Self {
        Self {
            software: SimTime::ZERO,
            cdma: Cdma::defaults(GbPerSec::new(450.0)),
            memory: Memory {
                reduce: ByteTime::ZERO,
                copy: ByteTime::ZERO,
            },
            paxi: Some(Paxi::defaults(PORTS)),
            rc_link: Some(RcLink::defaults()),
            queue: SwitchQueue::lossless(),
            paths: PathChoice::PerFlow,
            rate_control: RateControl::Off,
            contexts: None,
        }
    }
}

impl Cdma {
    /// Returns 8 engines of 8 threads that share `rate`, a split of 64 KiB, 32 receive credits;
    /// start and completion are conservative priors (FACTS A.2).
    pub fn defaults(rate: GbPerSec) -> Self {
        Self {
            units: 8,
            threads: 8,
            split: CdmaSplit::Per(64 << 10),
            credits: 32,
            start: ns(250),
            sync: ns(300),
            rate: Some(ByteTime::at(rate)),
        }
    }
}

impl Paxi {
    /// Returns 0.15 us between the buses, encoding and decoding included, segments of 1,344 B, 512
    /// outstanding requests for each port (FACTS A.2, A.4).
    ///
    /// 512 · 1,344 B cover 13.8 us of round trip on a port of 50 GB/s.
    pub const fn defaults(ports: u32) -> Self {
        Self {
            latency: ns(150),
            segment: 1344,
            outstanding: 512 * ports,
        }
    }
}

impl RcLink {
    /// Returns frames of 58 B around a segment, 12-bit sequence numbers (FACTS A.2) with all the
    /// window that they allow, and the 4,096 initial credits of source document 004, here of
    /// 512 B. The scanner's visit, the timeout and the retries (`InfiniBand`'s largest count) are
    /// priors.
    pub const fn defaults() -> Self {
        Self {
            channels: Channels::shared(),
            overhead: 58,
            headers: Headers::Ip,
            sequence_bits: 12,
            window: 4095,
            recovery: Recovery::GoBackN,
            credits: Some(Credits {
                unit: 512,
                count: 4096,
                period: SimTime::ZERO,
                scope: CreditScope::PerLink,
            }),
            ack: AckMerge::Every(ns(100)),
            ack_bytes: 0,
            timeout: us(100),
            retries: 7,
            loss: 0.0,
        }
    }
}

impl Channels {
    /// Returns one channel for all classes; several take turns by PAXI's weights, 8 : 8 : 256 for
    /// requests, responses and multicasts (FACTS A.4).
    pub const fn shared() -> Self {
        Self {
            count: 1,
            arbiter: Arbiter::Weighted([8, 8, 256]),
        }
    }
}

impl SwitchQueue {
    /// Returns a buffer of 32 MB that pauses before it drops (FACTS A.2: 16 to 64 MB), without
    /// marks.
    pub const fn lossless() -> Self {
        Self {
            buffer: Some(32_000_000),
            dynamic_threshold: 1.0,
            pfc: Some(Pfc::hpcc()),
            ecn: None,
        }
    }
}

impl Pfc {
    /// Returns 4 KB of reserve and a resume 3 KB below the threshold (FACTS D.2, HPCC's switch),
    /// with headroom for 1.5 us of delay at 50 GB/s with frames of 1.4 KB by
    /// [`Pfc::headroom_for`].
    pub const fn hpcc() -> Self {
        Self {
            reserve: 4096,
            resume: 3072,
            headroom: 156_640,
        }
    }
}

impl EcnCurve {
    /// Returns 5 KB, 200 KB, 1 %: the DCQCN paper's at 40 Gb/s (FACTS D.1).
    pub const fn sigcomm15() -> Self {
        Self {
            k_min: 5_000,
            k_max: 200_000,
            p_max: 0.01,
        }
    }

    /// Returns HPCC's: 100 and 400 KB for each 25 Gb/s of the link, 20 % (FACTS D.1).
    pub fn hpcc(rate: GbPerSec) -> Self {
        let per_gbit = |bytes: f64| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "`as` saturates: a rate that is none marks always"
            )]
            let threshold = (bytes * 8.0 * rate.get()).round() as u64;
            threshold
        };
        Self {
            k_min: per_gbit(4_000.0),
            k_max: per_gbit(16_000.0),
            p_max: 0.2,
        }
    }

    /// Returns `SimAI.conf`'s for the nearest of its link speeds, 100, 200 and 400 Gb/s
    /// (FACTS D.1).
    pub fn simai(rate: GbPerSec) -> Self {
        let (k_min, k_max, p_max) = match 8.0 * rate.get() {
            gbit if gbit >= 300.0 => (800_000, 3_200_000, 0.2),
            gbit if gbit >= 150.0 => (300_000, 1_200_000, 0.8),
            _ => (400_000, 1_600_000, 0.2),
        };
        Self {
            k_min,
            k_max,
            p_max,
        }
    }
}

/// The columns of FACTS D.1. A dash there is the value that changes nothing here.
impl Dcqcn {
    /// Returns the DCQCN paper's parameters. It has no hyper increase, so that is the additive
    /// one, and no least rate, so that is the additive step.
    pub const fn sigcomm15() -> Self {
        Self {
            g: 1.0 / 256.0,
            alpha_period: us(55),
            initial_alpha: 1.0,
            cut_interval: SimTime::ZERO,
            clamp: TargetClamp::Always,
            cnp_interval: us(50),
            timer: us(55),
            byte_counter: Some(10_000_000),
            fast_recovery: 5,
            additive: mbit(40.0),
            hyper: mbit(40.0),
            min_rate: mbit(40.0),
            budget: SimTime::ZERO,
        }
    }

    /// Returns the defaults of NVIDIA's adapters.
    pub const fn nvidia() -> Self {
        Self {
            g: 5.0 / 1024.0,
            alpha_period: us(1),
            initial_alpha: 1023.0 / 1024.0,
            cut_interval: us(4),
            clamp: TargetClamp::Always,
            cnp_interval: us(4),
            timer: us(300),
            byte_counter: Some(32_767),
            fast_recovery: 1,
            additive: mbit(5.0),
            hyper: mbit(50.0),
            min_rate: mbit(1.0),
            budget: SimTime::ZERO,
        }
    }

    /// Returns what HPCC's ns-3 configuration sets (its `CLAMP_TARGET_RATE` is 0); a notice per
    /// marked packet.
    pub const fn hpcc() -> Self {
        Self {
            g: 1.0 / 256.0,
            alpha_period: us(1),
            initial_alpha: 1.0,
            cut_interval: us(4),
            clamp: TargetClamp::AfterIncrease,
            cnp_interval: SimTime::ZERO,
            timer: us(900),
            byte_counter: None,
            fast_recovery: 1,
            additive: mbit(50.0),
            hyper: mbit(100.0),
            min_rate: mbit(100.0),
            budget: SimTime::ZERO,
        }
    }

    /// Returns what HPCC's ns-3 code holds before its configuration is read.
    pub const fn hpcc_code() -> Self {
        Self {
            g: 1.0 / 16.0,
            alpha_period: us(55),
            timer: us(1500),
            fast_recovery: 5,
            additive: mbit(5.0),
            hyper: mbit(50.0),
            ..Self::hpcc()
        }
    }

    /// Returns what `SimAI.conf` sets: HPCC's configuration.
    pub const fn simai() -> Self {
        Self::hpcc()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_can_run() {
        for rate_control in [
            RateControl::Off,
            RateControl::Dcqcn(Dcqcn::sigcomm15()),
            RateControl::Dcqcn(Dcqcn::nvidia()),
            RateControl::Dcqcn(Dcqcn::hpcc()),
            RateControl::Dcqcn(Dcqcn::hpcc_code()),
            RateControl::Dcqcn(Dcqcn::simai()),
        ] {
            let parameters = G5Parameters {
                rate_control,
                ..G5Parameters::defaults()
            };
            assert_eq!(parameters.check(), Ok(()));
        }
        assert_eq!(G5Parameters::ideal().check(), Ok(()));
    }

    /// FACTS A.2: with the defaults no single-switch path is limited by the outstanding window.
    #[test]
    fn the_outstanding_window_covers_a_single_switch() {
        let paxi = Paxi::defaults(1);
        let covered = f64::from(paxi.outstanding * paxi.segment) / 50.0 / 1e3;
        assert!((covered - 13.8).abs() < 0.05, "{covered} us at 50 GB/s");
        // Two half links of 0.936 us and a switch of 0.3, both ways, and the bus latency.
        assert!(covered > 2.0 * (2.0 * 0.936 + 0.3) + 0.15);
    }

    #[test]
    fn thresholds_grow_with_the_link() {
        let hundred = EcnCurve::hpcc(GbPerSec::new(12.5));
        assert_eq!((hundred.k_min, hundred.k_max), (400_000, 1_600_000));
        let quarter = EcnCurve::hpcc(GbPerSec::new(3.125));
        assert_eq!((quarter.k_min, quarter.k_max), (100_000, 400_000));
        assert_eq!(EcnCurve::simai(GbPerSec::new(25.0)).k_min, 300_000);
        assert_eq!(EcnCurve::simai(GbPerSec::new(50.0)).k_max, 3_200_000);
    }
}
