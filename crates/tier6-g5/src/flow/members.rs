//! The flows on a link. Most links have one at a time, which is kept in place.

/// A flow on a link, valid while its place has a message of this number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    pub(super) slot: u32,
    /// Number of the message, by injection; it comes again after 2^32 others.
    pub(super) number: u32,
    /// Load on the link per unit of its rate.
    pub(super) weight: f64,
}

/// Who has a place, apart from all else about it: searches ask for it once per link of a flow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tenant {
    /// Number of the message; in a free place, of the next one to come, of which no link has a
    /// member here.
    pub(super) number: u32,
    /// The last search that has met it.
    pub(super) search: u32,
}

/// Flows on a link, and some that have left.
#[derive(Debug, Clone, Default)]
pub(super) struct Members {
    first: Option<Member>,
    others: Vec<Member>,
}

impl Members {
    pub(super) fn push(&mut self, member: Member) {
        if self.first.is_none() && self.others.is_empty() {
            self.first = Some(member);
        } else {
            self.others.push(member);
        }
    }

    pub(super) fn clear(&mut self) {
        self.first = None;
        self.others.clear();
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.first.is_none() && self.others.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Member> {
        self.first.iter().chain(&self.others)
    }

    /// Keeps those for which it is true, in order.
    pub(super) fn retain(&mut self, mut stays: impl FnMut(Member) -> bool) {
        self.first = self.first.filter(|member| stays(*member));
        self.others.retain(|member| stays(*member));
    }
}
