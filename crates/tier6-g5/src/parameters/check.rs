//! What cannot run, told before it does.

use tier6_units::SimTime;

use super::{
    Arbiter, CdmaSplit, Channels, Dcqcn, G5Parameters, Headers, Paxi, RateControl, RcLink,
    Recovery, SwitchQueue,
};
use crate::paxi::CLASSES;

/// Why parameters cannot run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ParameterError {
    /// A count that must be one or more.
    #[error("`{0}` is zero; hint: give one or more, or leave the key out for the usual value")]
    Zero(&'static str),
    /// A number outside its range.
    #[error(
        "`{name}` is {value}, expected {expected}; hint: a key that is left out has the usual value"
    )]
    Range {
        /// The parameter.
        name: &'static str,
        /// What it is.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// Sequence numbers that cannot tell the frames of a window apart.
    #[error(
        "a window of {window} frames needs more than {bits}-bit sequence numbers (at most {limit}); hint: \
         a smaller `window`, or more `sequence_bits`"
    )]
    Window {
        /// Frames.
        window: u32,
        /// Bits of a sequence number.
        bits: u32,
        /// What the bits allow.
        limit: u32,
    },
    /// Fewer credits than one frame takes: nothing would ever be sent.
    #[error(
        "a frame of {frame} bytes takes {needed} credits of {unit} bytes, there are {count}; hint: a \
         `count` of at least {needed}, or a larger `unit`"
    )]
    CreditsBelowFrame {
        /// Bytes of a full frame.
        frame: u32,
        /// Credits that it takes.
        needed: u32,
        /// Bytes of a credit.
        unit: u32,
        /// Credits that there are.
        count: u32,
    },
    /// Congestion control that lives on marks, without the header that carries them.
    #[error(
        "ECN needs an IP header: DCQCN cannot run with compressed headers; hint: use full headers, or rely on \
         credits and pause frames"
    )]
    MarksWithoutIp,
    /// Headroom that does not fit the buffer.
    #[error(
        "a switch buffer of {buffer} bytes holds no pause headroom of {headroom} bytes; hint: a larger \
         `buffer`, a smaller `headroom` in `[g5.switch.pfc]`, or `enabled = false` there"
    )]
    Headroom {
        /// Bytes of the buffer.
        buffer: u64,
        /// Bytes of one port's headroom.
        headroom: u64,
    },
}

impl ParameterError {
    /// Returns the key of `[g5]` in a system file that says so.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Zero(name) | Self::Range { name, .. } => name,
            Self::Window { .. } => "rc_link.window",
            Self::CreditsBelowFrame { .. } => "rc_link.credits.count",
            Self::MarksWithoutIp => "rc_link.headers",
            Self::Headroom { .. } => "switch.buffer",
        }
    }
}

fn positive(name: &'static str, value: u64) -> Result<(), ParameterError> {
    if value == 0 {
        return Err(ParameterError::Zero(name));
    }
    Ok(())
}

fn within(
    name: &'static str,
    value: f64,
    holds: impl Fn(f64) -> bool,
    expected: &'static str,
) -> Result<(), ParameterError> {
    // A NaN holds nothing.
    if holds(value) {
        return Ok(());
    }
    Err(ParameterError::Range {
        name,
        value,
        expected,
    })
}

impl G5Parameters {
    /// Checks that a run can make progress with these parameters.
    ///
    /// # Errors
    ///
    /// When a count is zero, a number is outside its range, or two layers contradict each other.
    pub fn check(&self) -> Result<(), ParameterError> {
        positive("cdma.units", self.cdma.units.into())?;
        positive("cdma.threads", self.cdma.threads.into())?;
        positive("cdma.credits", self.cdma.credits.into())?;
        if let CdmaSplit::Per(split) = self.cdma.split {
            positive("cdma.split", split)?;
        }
        if let Some(paxi) = &self.paxi {
            paxi.check()?;
        }
        if let Some(rc_link) = &self.rc_link {
            rc_link.check(self.paxi.map_or(0, |paxi| paxi.segment))?;
        }
        self.queue.check()?;
        match &self.rate_control {
            RateControl::Off => Ok(()),
            RateControl::Dcqcn(dcqcn) => {
                let compressed = self
                    .rc_link
                    .is_some_and(|rc_link| rc_link.headers == Headers::Compressed);
                if compressed {
                    return Err(ParameterError::MarksWithoutIp);
                }
                dcqcn.check()
            }
        }
    }
}

impl Paxi {
    fn check(&self) -> Result<(), ParameterError> {
        positive("paxi.segment", self.segment.into())?;
        positive("paxi.outstanding", self.outstanding.into())?;
        Ok(())
    }
}

impl RcLink {
    fn check(&self, segment: u32) -> Result<(), ParameterError> {
        self.channels.check()?;
        positive("rc_link.window", self.window.into())?;
        positive("rc_link.timeout", self.timeout.ps())?;
        within(
            "rc_link.sequence_bits",
            self.sequence_bits.into(),
            |bits| (2.0..=31.0).contains(&bits),
            "2 to 31",
        )?;
        let limit = match self.recovery {
            Recovery::GoBackN => (1 << self.sequence_bits) - 1,
            Recovery::Selective { .. } => 1 << (self.sequence_bits - 1),
        };
        if self.window > limit {
            return Err(ParameterError::Window {
                window: self.window,
                bits: self.sequence_bits,
                limit,
            });
        }
        within(
            "rc_link.loss",
            self.loss,
            |loss| (0.0..1.0).contains(&loss),
            "0 or more, below 1",
        )?;
        let Some(credits) = self.credits else {
            return Ok(());
        };
        within(
            "rc_link.credits.unit",
            credits.unit.into(),
            |unit| (32.0..=2048.0).contains(&unit),
            "32 to 2048 bytes",
        )?;
        let frame = segment.saturating_add(self.overhead);
        let needed = frame.div_ceil(credits.unit).max(1);
        if needed > credits.count {
            return Err(ParameterError::CreditsBelowFrame {
                frame,
                needed,
                unit: credits.unit,
                count: credits.count,
            });
        }
        Ok(())
    }
}

impl Channels {
    fn check(self) -> Result<(), ParameterError> {
        within(
            "rc_link.channels.count",
            self.count.into(),
            |count| (1.0..=CLASSES as f64).contains(&count),
            "1 to 3",
        )?;
        match self.arbiter {
            Arbiter::Strict => Ok(()),
            Arbiter::Weighted(weights) => weights
                .iter()
                .try_for_each(|weight| positive("rc_link.channels.weights", (*weight).into())),
        }
    }
}

impl SwitchQueue {
    fn check(&self) -> Result<(), ParameterError> {
        within(
            "switch.threshold",
            self.dynamic_threshold,
            |share| share > 0.0 && share.is_finite(),
            "above 0",
        )?;
        if let Some(ecn) = self.ecn {
            within(
                "switch.ecn.p_max",
                ecn.curve.p_max,
                |share| (0.0..=1.0).contains(&share),
                "0 to 1",
            )?;
            within(
                "switch.ecn.k_max",
                ecn.curve.k_max as f64,
                |bytes| bytes >= ecn.curve.k_min as f64,
                "`k_min` or more",
            )?;
        }
        match (self.buffer, self.pfc) {
            (Some(0), _) => Err(ParameterError::Zero("switch.buffer")),
            (Some(buffer), Some(pfc)) if pfc.headroom >= buffer => Err(ParameterError::Headroom {
                buffer,
                headroom: pfc.headroom,
            }),
            (Some(_) | None, Some(_) | None) => Ok(()),
        }
    }
}

impl Dcqcn {
    fn check(&self) -> Result<(), ParameterError> {
        let share = |value: f64| value > 0.0 && value <= 1.0;
        within("dcqcn.g", self.g, share, "above 0, at most 1")?;
        within(
            "dcqcn.initial_alpha",
            self.initial_alpha,
            share,
            "above 0, at most 1",
        )?;
        if self.alpha_period == SimTime::ZERO {
            return Err(ParameterError::Zero("dcqcn.alpha_period"));
        }
        if self.timer == SimTime::ZERO {
            return Err(ParameterError::Zero("dcqcn.timer"));
        }
        if self.byte_counter == Some(0) {
            return Err(ParameterError::Zero("dcqcn.byte_counter"));
        }
        let rate = |value: f64| value > 0.0 && value.is_finite();
        within("dcqcn.additive", self.additive, rate, "above 0")?;
        within("dcqcn.hyper", self.hyper, rate, "above 0")?;
        within("dcqcn.min_rate", self.min_rate, rate, "above 0")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CreditScope, Credits};

    fn with_link(change: impl Fn(&mut RcLink)) -> Result<(), ParameterError> {
        let mut link = RcLink::defaults();
        change(&mut link);
        G5Parameters {
            rc_link: Some(link),
            ..G5Parameters::defaults()
        }
        .check()
    }

    #[test]
    fn marks_need_an_ip_header() {
        let mut parameters = G5Parameters {
            rate_control: RateControl::Dcqcn(Dcqcn::nvidia()),
            rc_link: Some(RcLink {
                headers: Headers::Compressed,
                ..RcLink::defaults()
            }),
            ..G5Parameters::defaults()
        };
        let error = parameters.check().unwrap_err();
        assert_eq!(error, ParameterError::MarksWithoutIp);
        assert!(error.to_string().starts_with("ECN needs an IP header"));
        parameters.rate_control = RateControl::Off;
        assert_eq!(parameters.check(), Ok(()));
    }

    #[test]
    fn sequence_numbers_bound_the_window() {
        assert!(with_link(|link| link.window = 4095).is_ok());
        assert_eq!(
            with_link(|link| link.window = 4096),
            Err(ParameterError::Window {
                window: 4096,
                bits: 12,
                limit: 4095
            })
        );
        let selective = |window| {
            with_link(|link| {
                link.recovery = Recovery::Selective { reorder: 0 };
                link.window = window;
            })
        };
        assert!(selective(2048).is_ok());
        assert!(selective(2049).is_err());
    }

    #[test]
    fn a_frame_must_fit_its_credits() {
        let with_credits = |unit, count| {
            with_link(|link| {
                link.credits = Some(Credits {
                    unit,
                    count,
                    period: SimTime::ZERO,
                    scope: CreditScope::PerLink,
                });
            })
        };
        assert!(with_credits(512, 3).is_ok());
        assert!(matches!(
            with_credits(512, 2),
            Err(ParameterError::CreditsBelowFrame { needed: 3, .. })
        ));
        assert!(with_credits(16, 4096).is_err());
    }

    #[test]
    fn what_is_no_number_is_refused() {
        assert!(with_link(|link| link.loss = f64::NAN).is_err());
        assert!(with_link(|link| link.loss = 1.0).is_err());
        assert!(with_link(|link| link.window = 0).is_err());
        let mut parameters = G5Parameters::defaults();
        parameters.queue.dynamic_threshold = f64::NAN;
        assert!(parameters.check().is_err());
    }
}
