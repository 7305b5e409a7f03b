//! Links on which messages have met or parted since rates were shared last.

/// Links, each once or a few times; the latest comes first out.
#[derive(Debug, Default)]
pub(super) struct Changed {
    links: Vec<u32>,
    /// By link, whether it has been seen; of use while some are forgotten.
    seen: Vec<bool>,
}

impl Changed {
    pub(super) fn new(n_links: usize) -> Self {
        Self {
            links: Vec::new(),
            seen: vec![false; n_links],
        }
    }

    pub(super) fn push(&mut self, link: u32) {
        self.links.push(link);
        if self.links.len() > 4 * self.seen.len() {
            self.forget_repeated();
        }
    }

    pub(super) fn pop(&mut self) -> Option<u32> {
        self.links.pop()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Keeps of each link only the latest mention, in order.
    fn forget_repeated(&mut self) {
        self.links.reverse();
        let seen = &mut self.seen;
        self.links
            .retain(|link| !std::mem::replace(&mut seen[*link as usize], true));
        self.links.reverse();
        self.seen.fill(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_repeated_is_forgotten_and_the_order_stays() {
        let mut changed = Changed::new(3);
        for link in [0, 1, 0, 2, 1, 1, 0, 0, 1, 0, 0, 1, 0] {
            changed.push(link);
        }
        assert_eq!(changed.links, [2, 1, 0]);
        changed.push(2);
        let order = std::iter::from_fn(|| changed.pop());
        assert_eq!(order.collect::<Vec<_>>(), [2, 0, 1, 2]);
        assert!(changed.is_empty());
    }
}
