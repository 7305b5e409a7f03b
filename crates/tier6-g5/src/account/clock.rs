//! What a chip does at each moment, and for how long it did what.

use tier6_units::SimTime;

use crate::ChipAccount;

/// Something that a rank begins or ends doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Sending,
    Reducing,
    /// An instruction is ready but for the receiver's credit.
    WaitingForCredit,
}

/// The account of a rank while it runs.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    account: ChipAccount,
    since: SimTime,
    sending: u32,
    reducing: u32,
    without_credit: u32,
    is_on: bool,
}

impl Clock {
    /// Starts the clock: from now on the rank waits when it does nothing.
    pub(crate) fn start(&mut self, now: SimTime) {
        self.since = now;
        self.is_on = true;
    }

    pub(crate) fn begin(&mut self, doing: Doing, now: SimTime) {
        self.settle(now);
        *self.count(doing) += 1;
    }

    pub(crate) fn end(&mut self, doing: Doing, now: SimTime) {
        self.settle(now);
        let count = self.count(doing);
        *count = count
            .checked_sub(1)
            .expect("Invariant: what ends has begun");
    }

    /// Notes that an instruction is complete.
    pub(crate) fn done(&mut self, now: SimTime) {
        self.account.done = now;
    }

    /// Returns the account at `now`.
    pub(crate) fn account(&mut self, now: SimTime) -> ChipAccount {
        self.settle(now);
        let waited_on = now.saturating_sub(self.account.done);
        let mut account = self.account;
        // After its last instruction a rank waits for nobody.
        account.waiting_for_peer = account.waiting_for_peer.saturating_sub(waited_on);
        account
    }

    fn settle(&mut self, now: SimTime) {
        let span = now.saturating_sub(self.since);
        if !self.is_on || span == SimTime::ZERO {
            return;
        }
        self.since = now;
        let account = &mut self.account;
        if self.sending > 0 {
            account.sending += span;
        }
        if self.reducing > 0 {
            account.reducing += span;
        }
        if self.sending == 0 && self.reducing == 0 {
            if self.without_credit > 0 {
                account.waiting_for_credit += span;
            } else {
                account.waiting_for_peer += span;
            }
        }
    }

    fn count(&mut self, doing: Doing) -> &mut u32 {
        match doing {
            Doing::Sending => &mut self.sending,
            Doing::Reducing => &mut self.reducing,
            Doing::WaitingForCredit => &mut self.without_credit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chip_that_does_nothing_waits() {
        let at = SimTime::from_ps;
        let mut clock = Clock::default();
        clock.start(at(5));
        clock.begin(Doing::Sending, at(10));
        clock.begin(Doing::Sending, at(12));
        clock.begin(Doing::Reducing, at(18));
        clock.end(Doing::Sending, at(20));
        clock.end(Doing::Sending, at(25));
        clock.end(Doing::Reducing, at(27));
        clock.begin(Doing::WaitingForCredit, at(30));
        clock.end(Doing::WaitingForCredit, at(34));
        clock.done(at(40));
        let account = clock.account(at(50));
        assert_eq!(account.sending, at(15));
        assert_eq!(account.reducing, at(9));
        assert_eq!(account.waiting_for_credit, at(4));
        assert_eq!(account.waiting_for_peer, at(5 + 3 + 6));
        assert_eq!(account.done, at(40));
    }
}
