//! The sender's half of DCQCN.

use tier6_units::{ByteTime, GbPerSec, SimTime};

use crate::{Dcqcn, TargetClamp};

/// At this share of the line a sender counts as recovered: averaging alone never gets there.
const RECOVERED: f64 = 0.999;

/// A sender that cuts its rate on notices and raises it on a timer and a byte counter.
///
/// ```
/// use tier6_g5::Dcqcn;
/// use tier6_g5::congestion::DcqcnSender;
/// use tier6_units::{GbPerSec, SimTime};
///
/// let mut sender = DcqcnSender::new(&Dcqcn::sigcomm15(), GbPerSec::new(5.0));
/// assert!(sender.is_at_line_rate());
/// sender.on_cnp(SimTime::ZERO);
/// assert_eq!(sender.rate(), GbPerSec::new(2.5));
/// assert_eq!(sender.next_timer(), Some(Dcqcn::sigcomm15().timer));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DcqcnSender {
    parameters: Dcqcn,
    /// Bytes per second, like the two rates.
    line: f64,
    current: f64,
    target: f64,
    pace: ByteTime,
    /// The congestion estimate at `estimated`, and nothing before the first notice.
    alpha: Option<f64>,
    estimated: SimTime,
    last_cut: Option<SimTime>,
    timer: Option<SimTime>,
    timer_events: u32,
    byte_events: u32,
    bytes: u64,
}

impl DcqcnSender {
    /// Returns a sender at line rate.
    pub fn new(parameters: &Dcqcn, line: GbPerSec) -> Self {
        let rate = line.get() * 1e9;
        Self {
            parameters: *parameters,
            line: rate,
            current: rate,
            target: rate,
            pace: ByteTime::at(line),
            alpha: None,
            estimated: SimTime::ZERO,
            last_cut: None,
            timer: None,
            timer_events: 0,
            byte_events: 0,
            bytes: 0,
        }
    }

    /// Takes a notice: cuts the rate by alpha/2, if the last cut is long enough ago. A notice within
    /// the interval only keeps the estimate from decaying.
    pub fn on_cnp(&mut self, now: SimTime) {
        let g = self.parameters.g;
        let alpha = self.alpha_at(now).unwrap_or(self.parameters.initial_alpha);
        self.alpha = Some(alpha);
        self.estimated = now;
        let too_soon = |last| now < last + self.parameters.cut_interval;
        if self.last_cut.is_some_and(too_soon) {
            return;
        }
        self.last_cut = Some(now);
        let raised = self.timer.is_none() || self.timer_events.max(self.byte_events) > 0;
        match self.parameters.clamp {
            TargetClamp::AfterIncrease if !raised => {}
            TargetClamp::Always | TargetClamp::AfterIncrease => self.target = self.current,
        }
        let least = self.parameters.min_rate.min(self.line);
        self.set(least.max(self.current * (1.0 - alpha / 2.0)));
        self.alpha = Some((1.0 - g) * alpha + g);
        self.timer = Some(now + self.parameters.timer);
        self.timer_events = 0;
        self.byte_events = 0;
        self.bytes = 0;
    }

    /// Returns when [`DcqcnSender::on_timer`] is due; never while the rate is the line's.
    pub const fn next_timer(&self) -> Option<SimTime> {
        self.timer
    }

    /// Raises the rate if the timer is due; a timer set before the last cut does nothing.
    pub fn on_timer(&mut self, now: SimTime) {
        if self.timer.is_none_or(|due| now < due) {
            return;
        }
        self.timer = Some(now + self.parameters.timer);
        self.timer_events = self.timer_events.saturating_add(1);
        self.increase();
    }

    /// Counts bytes sent, and raises the rate when they are enough.
    pub fn on_sent(&mut self, bytes: u64) {
        let (Some(limit), Some(_)) = (self.parameters.byte_counter, self.timer) else {
            return;
        };
        self.bytes += bytes;
        while self.bytes >= limit && self.timer.is_some() {
            self.bytes -= limit;
            self.byte_events = self.byte_events.saturating_add(1);
            self.increase();
        }
    }

    /// One event of the timer or the byte counter: the first F halve the way to the target, the
    /// next raise the target as well, by `R_HAI` when both counters have passed F. Without a byte
    /// counter the timer raises it by `R_AI` once and by `R_HAI` from then on, as HPCC's code does.
    fn increase(&mut self) {
        let f = self.parameters.fast_recovery;
        let (most, least) = match self.parameters.byte_counter {
            Some(_) => (
                self.timer_events.max(self.byte_events),
                self.timer_events.min(self.byte_events),
            ),
            None => (self.timer_events, self.timer_events.saturating_sub(1)),
        };
        if least > f {
            self.target += self.parameters.hyper;
        } else if most > f {
            self.target += self.parameters.additive;
        }
        self.target = self.target.min(self.line);
        let rate = f64::midpoint(self.target, self.current);
        if rate >= RECOVERED * self.line {
            self.set(self.line);
            self.timer = None;
        } else {
            self.set(rate);
        }
    }

    fn set(&mut self, rate: f64) {
        self.current = rate;
        self.pace = ByteTime::at(GbPerSec::new(rate / 1e9));
    }

    /// Returns the congestion estimate: it decays for every whole period without a notice.
    pub fn alpha_at(&self, now: SimTime) -> Option<f64> {
        let periods = now.saturating_sub(self.estimated).ps() / self.parameters.alpha_period.ps();
        let decay = 1.0 - self.parameters.g;
        // After 2^31 periods nothing is left, whatever g.
        self.alpha
            .map(|alpha| alpha * decay.powi(i32::try_from(periods).unwrap_or(i32::MAX)))
    }

    /// Returns the current rate.
    pub fn rate(&self) -> GbPerSec {
        GbPerSec::new(self.current / 1e9)
    }

    /// Returns what a byte takes at the current rate.
    pub const fn pace(&self) -> ByteTime {
        self.pace
    }

    /// Returns whether the sender is not limited.
    pub const fn is_at_line_rate(&self) -> bool {
        self.timer.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: f64 = 5.0;

    fn us(us: f64) -> SimTime {
        SimTime::from(tier6_units::Micros::new(us))
    }

    /// Runs timers only, until line rate; returns the time of it.
    fn recover(sender: &mut DcqcnSender) -> SimTime {
        let mut last = SimTime::ZERO;
        while let Some(due) = sender.next_timer() {
            let before = sender.rate().get();
            sender.on_timer(due);
            assert!(sender.rate().get() >= before);
            last = due;
        }
        assert!((sender.rate().get() - LINE).abs() < 1e-9);
        last
    }

    #[test]
    fn no_notice_is_line_rate() {
        let mut sender = DcqcnSender::new(&Dcqcn::nvidia(), GbPerSec::new(LINE));
        for _ in 0..1_000 {
            sender.on_sent(1 << 20);
        }
        assert_eq!((sender.next_timer(), sender.rate().get()), (None, LINE));
        assert_eq!(sender.pace(), ByteTime::at(GbPerSec::new(LINE)));
    }

    #[test]
    fn cuts_follow_the_estimate() {
        let parameters = Dcqcn::sigcomm15();
        let mut sender = DcqcnSender::new(&parameters, GbPerSec::new(LINE));
        let (mut rate, mut alpha) = (LINE, 1.0);
        for cut in 0..5 {
            sender.on_cnp(us(50.0 * f64::from(cut)));
            rate *= 1.0 - alpha / 2.0;
            alpha = (1.0 - parameters.g) * alpha + parameters.g;
            assert!((sender.rate().get() - rate).abs() < 1e-9);
        }
        // Ten periods without a notice.
        let decayed = sender.alpha_at(us(200.0 + 10.0 * 55.0)).unwrap();
        assert!((decayed - alpha * (1.0 - parameters.g).powi(10)).abs() < 1e-12);
    }

    #[test]
    fn one_cut_in_an_interval_and_none_below_the_least_rate() {
        let mut sender = DcqcnSender::new(&Dcqcn::hpcc(), GbPerSec::new(LINE));
        for at in [0.0, 1.0, 2.0, 3.9] {
            sender.on_cnp(us(at));
            assert!((sender.rate().get() - LINE / 2.0).abs() < 1e-9);
        }
        sender.on_cnp(us(4.0));
        assert!(sender.rate().get() < LINE / 3.0);
        for cut in 2..100 {
            sender.on_cnp(us(4.0 * f64::from(cut)));
        }
        assert!((sender.rate().get() - 0.0125).abs() < 1e-9, "100 Mb/s");
    }

    #[test]
    fn cuts_in_a_row_may_leave_the_target() {
        let mut sender = DcqcnSender::new(&Dcqcn::hpcc(), GbPerSec::new(LINE));
        for cut in 0..8 {
            sender.on_cnp(us(4.0 * f64::from(cut)));
        }
        let low = sender.rate().get();
        sender.on_timer(sender.next_timer().unwrap());
        assert!((sender.rate().get() - f64::midpoint(low, LINE)).abs() < 1e-9);
        // The timer has raised the rate, so the next cut takes the target down.
        sender.on_cnp(us(1e6));
        assert!(sender.target < LINE * 0.51e9);
    }

    /// After one cut the target is the line: fast recovery, half the way each time T.
    #[test]
    fn fast_recovery_halves_the_way() {
        let mut sender = DcqcnSender::new(&Dcqcn::sigcomm15(), GbPerSec::new(LINE));
        sender.on_cnp(SimTime::ZERO);
        for event in 1..=5 {
            sender.on_timer(sender.next_timer().unwrap());
            let missing = LINE / 2.0 / f64::from(1 << event);
            assert!((sender.rate().get() - (LINE - missing)).abs() < 1e-9);
        }
    }

    /// After a second cut the target is half of the line: F·T + (R/2)/`R_AI`·T.
    #[test]
    fn recovery_takes_its_time() {
        for (timer, additive_mbit) in [(55.0, 40.0), (55.0, 400.0), (300.0, 100.0)] {
            let parameters = Dcqcn {
                timer: us(timer),
                additive: additive_mbit * 1e6 / 8.0,
                byte_counter: Some(u64::MAX),
                ..Dcqcn::sigcomm15()
            };
            let mut sender = DcqcnSender::new(&parameters, GbPerSec::new(LINE));
            sender.on_cnp(SimTime::ZERO);
            sender.on_cnp(SimTime::ZERO);
            let took = recover(&mut sender).to_micros().get();
            let steps = LINE * 1e9 / 2.0 / parameters.additive;
            let law = (f64::from(parameters.fast_recovery) + steps) * timer;
            // Averaging is a few steps behind the target at the end.
            assert!(
                took >= law - timer && took < law + 10.0 * timer,
                "{took} for {law}"
            );
        }
    }

    #[test]
    fn both_counters_past_f_raise_faster() {
        let parameters = Dcqcn {
            hyper: 10.0 * Dcqcn::sigcomm15().additive,
            byte_counter: Some(1_000_000),
            ..Dcqcn::sigcomm15()
        };
        let fresh = || {
            let mut sender = DcqcnSender::new(&parameters, GbPerSec::new(LINE));
            for _ in 0..4 {
                sender.on_cnp(SimTime::ZERO);
            }
            sender
        };
        let by_timer = recover(&mut fresh());
        let mut both = fresh();
        while let Some(due) = both.next_timer() {
            both.on_timer(due);
            both.on_sent(1_000_000);
        }
        let mut bytes_only = fresh();
        for _ in 0..10 {
            bytes_only.on_sent(1_000_000);
        }
        assert!(bytes_only.rate().get() > LINE / 8.0);
        assert_eq!(both.rate(), GbPerSec::new(LINE));
        assert!(by_timer > us(55.0 * 100.0));
    }
}
