//! The paths from one chip that have been laid.

use crate::network::PathId;

/// Receiver and flow.
type Key = (u32, u32);

/// Paths sorted by receiver and flow. Collectives ask for receivers in rising order, apart from
/// where they begin again at the first, so that most of them are found beside the one before.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    paths: Vec<(Key, PathId)>,
    /// Where the search begins: after the last path that was found or put.
    near: usize,
}

impl Known {
    /// Returns the path of a key, or where it would have to be put.
    pub(super) fn find(&mut self, key: Key) -> Result<PathId, usize> {
        let at = if self.is_place_of(key, self.near) {
            self.near
        } else {
            self.paths.partition_point(|(other, _)| *other < key)
        };
        match self.paths.get(at) {
            Some((other, path)) if *other == key => {
                self.near = at + 1;
                Ok(*path)
            }
            _ => Err(at),
        }
    }

    /// Puts a path where [`Known::find`] missed it.
    pub(super) fn insert(&mut self, at: usize, key: Key, path: PathId) {
        debug_assert!(self.is_place_of(key, at), "the order must stay");
        self.paths.insert(at, (key, path));
        self.near = at + 1;
    }

    /// Says whether all paths before a place have lower keys, and none from there on.
    fn is_place_of(&self, key: Key, at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| self.paths[before].0);
        let after = self.paths.get(at).map(|(other, _)| *other);
        before.is_none_or(|before| before < key) && after.is_none_or(|after| key <= after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_whatever_the_order() {
        let mut known = Known::default();
        let keys = [
            (5, 0),
            (6, 0),
            (6, 1),
            (9, 0),
            (0, 0),
            (1, 0),
            (8, 3),
            (2, 7),
        ];
        for (number, key) in (0..).zip(keys) {
            let gap = known.find(key).unwrap_err();
            known.insert(gap, key, PathId(number));
        }
        for (number, key) in (0..).zip(keys) {
            assert_eq!(known.find(key), Ok(PathId(number)));
        }
        assert_eq!(known.find((7, 0)), Err(6));
        assert_eq!(known.find((9, 1)), Err(8));
        assert!(known.paths.is_sorted());
    }
}
