//! The time of a path's hardware as the longest of its chains of messages.
//!
//! While a call keeps its structure (as many messages, channels, engines per message), its time is
//! the greatest of sums, one per chain: so many latencies, so many completions, so many bytes at
//! each rate. Such a sum is a [`Face`]. A run at some constants and one more per constant, each
//! moved a little, find the face of the chain that is longest there; it then bounds the time
//! everywhere, so that a few faces tell all sizes and constants that a fit goes through.
//!
//! Where the structure follows from the size (pieces of a pipeline, slices, engines of a message),
//! faces stand on the rungs of a [`Ladder`], one per structure, and times between rungs are on
//! straight lines.

/// One chain of messages.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Face {
    /// us that no constant and no byte moves.
    pub(super) fixed: f64,
    /// us per byte moved, at rates that are no constant.
    pub(super) per_byte: f64,
    /// Completions of messages.
    pub(super) syncs: f64,
    /// (constant, how often): times.
    pub(super) times: Vec<(usize, f64)>,
    /// (constant, us per byte moved at a constant of one): rates.
    pub(super) rates: Vec<(usize, f64)>,
}

/// Where a time is asked for: the constants, the completion of a message of the path's protocol,
/// in us, and how many bytes move per byte of data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) constants: &'a [f64],
    pub(super) sync: f64,
    pub(super) moved: f64,
}

/// A time in us with its derivatives by the logarithms of what it follows from.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Slope {
    pub(super) time: f64,
    /// By the completion of a message.
    pub(super) by_sync: f64,
    /// By the bytes moved per byte of data.
    pub(super) by_moved: f64,
    /// (constant, derivative).
    pub(super) by: Vec<(usize, f64)>,
}

/// The faces of one structure.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rung {
    /// The size that has it.
    pub(super) bytes: f64,
    pub(super) faces: Vec<Face>,
}

/// What the structure follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// The bytes of data.
    Data,
    /// The bytes moved.
    Moved,
}

/// What comes above the last rung.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Above {
    /// The same structure with more bytes.
    Scaled,
    /// As many more pieces as bytes: a straight line through the last two rungs.
    Straight,
}

/// Structures by size, ascending. Below the first the structure stays.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ladder {
    pub(super) rungs: Vec<Rung>,
    pub(super) measure: Measure,
    pub(super) above: Above,
}

impl Face {
    /// Returns the time for so many bytes moved.
    pub(super) fn time(&self, bytes: f64, place: Place<'_>) -> f64 {
        self.fixed + self.latency(place) + bytes * self.pace(place)
    }

    fn latency(&self, place: Place<'_>) -> f64 {
        let times = self.times.iter();
        let times = times.map(|(at, count)| count * place.constants[*at]);
        self.syncs * place.sync + times.sum::<f64>()
    }

    /// us per byte moved.
    pub(super) fn pace(&self, place: Place<'_>) -> f64 {
        let rates = self.rates.iter();
        let rates = rates.map(|(at, pace)| pace / place.constants[*at]);
        self.per_byte + rates.sum::<f64>()
    }

    fn slope(&self, bytes: f64, place: Place<'_>) -> Slope {
        let times = self.times.iter();
        let times = times.map(|(at, count)| (*at, count * place.constants[*at]));
        let rates = self.rates.iter();
        let rates = rates.map(|(at, pace)| (*at, -bytes * pace / place.constants[*at]));
        Slope {
            time: self.time(bytes, place),
            by_sync: self.syncs * place.sync,
            by_moved: bytes * self.pace(place),
            by: times.chain(rates).collect(),
        }
    }
}

impl Rung {
    /// Returns the longest chain for so many bytes moved.
    pub(super) fn longest(&self, bytes: f64, place: Place<'_>) -> Option<(f64, &Face)> {
        let timed = self
            .faces
            .iter()
            .map(|face| (face.time(bytes, place), face));
        timed.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    fn slope(&self, bytes: f64, place: Place<'_>) -> Slope {
        let longest = self.longest(bytes, place);
        longest.map_or_else(Slope::default, |(_, face)| face.slope(bytes, place))
    }
}

impl Ladder {
    /// Returns the rung whose structure a size has, if its structure is that of one.
    pub(super) fn rung_of(&self, data: f64, moved: f64) -> Option<usize> {
        let size = self.size(data, moved);
        let above = self.rungs.partition_point(|rung| rung.bytes < size);
        match self.rungs.get(above) {
            Some(rung) => (above == 0 || rung.bytes <= size).then_some(above),
            None if self.above == Above::Scaled || self.rungs.len() == 1 => above.checked_sub(1),
            None => None,
        }
    }

    /// Returns the time of so much data.
    pub(super) fn slope(&self, data: f64, place: Place<'_>) -> Slope {
        if let Some(at) = self.rung_of(data, place.moved) {
            return self.rungs[at].slope(data * place.moved, place);
        }
        let size = self.size(data, place.moved);
        let above = self.rungs.partition_point(|rung| rung.bytes < size);
        let upper = above.clamp(1, self.rungs.len() - 1);
        self.between(&self.rungs[upper - 1], &self.rungs[upper], size, place)
    }

    fn size(&self, data: f64, moved: f64) -> f64 {
        match self.measure {
            Measure::Data => data,
            Measure::Moved => data * moved,
        }
    }

    /// Returns the time on the straight line through two rungs.
    fn between(&self, low: &Rung, high: &Rung, size: f64, place: Place<'_>) -> Slope {
        let weight = (size - low.bytes) / (high.bytes - low.bytes);
        let moved = |rung: &Rung| match self.measure {
            Measure::Data => rung.bytes * place.moved,
            Measure::Moved => rung.bytes,
        };
        let (low_slope, high_slope) =
            (low.slope(moved(low), place), high.slope(moved(high), place));
        let mix =
            |of: fn(&Slope) -> f64| (1.0 - weight) * of(&low_slope) + weight * of(&high_slope);
        let by_moved = match self.measure {
            Measure::Data => mix(|slope| slope.by_moved),
            Measure::Moved => size * (high_slope.time - low_slope.time) / (high.bytes - low.bytes),
        };
        let weighed = |by: &[(usize, f64)], weight: f64| -> Vec<(usize, f64)> {
            by.iter().map(|(at, slope)| (*at, weight * slope)).collect()
        };
        let mut by = weighed(&low_slope.by, 1.0 - weight);
        by.extend(weighed(&high_slope.by, weight));
        Slope {
            time: mix(|slope| slope.time),
            by_sync: mix(|slope| slope.by_sync),
            by_moved,
            by,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One time of 2 us at constant 0, one rate at constant 1.
    const PLACE: Place<'static> = Place {
        constants: &[2.0, 10.0],
        sync: 0.5,
        moved: 1.0,
    };

    fn chains() -> Rung {
        let latency = Face {
            fixed: 1.0,
            syncs: 4.0,
            times: vec![(0, 3.0)],
            ..Face::default()
        };
        let bytes = Face {
            per_byte: 0.05,
            rates: vec![(1, 0.5)],
            ..Face::default()
        };
        Rung {
            bytes: 100.0,
            faces: vec![latency, bytes],
        }
    }

    #[test]
    fn the_longest_chain_is_the_time_and_its_derivatives() {
        let ladder = Ladder {
            rungs: vec![chains()],
            measure: Measure::Data,
            above: Above::Scaled,
        };
        let small = ladder.slope(10.0, PLACE);
        assert_eq!((small.time, small.by_sync, small.by_moved), (9.0, 2.0, 0.0));
        assert_eq!(small.by, [(0, 6.0)]);
        let large = ladder.slope(1000.0, PLACE);
        assert!((large.time - 100.0).abs() < 1e-9 && (large.by_moved - 100.0).abs() < 1e-9);
        assert_eq!(large.by, [(1, -50.0)]);
    }

    #[test]
    fn pieces_beyond_the_last_rung_are_on_a_straight_line() {
        let of = |bytes: f64, fixed: f64| Rung {
            bytes,
            faces: vec![Face {
                fixed,
                ..Face::default()
            }],
        };
        let ladder = Ladder {
            rungs: vec![of(100.0, 10.0), of(200.0, 14.0)],
            measure: Measure::Moved,
            above: Above::Straight,
        };
        let time = |data: f64| ladder.slope(data, PLACE).time;
        assert_eq!((time(50.0), time(100.0), time(150.0)), (10.0, 10.0, 12.0));
        assert_eq!((time(200.0), time(400.0)), (14.0, 22.0));
        // Twice the bytes moved are twice the data.
        let twice = Place {
            moved: 2.0,
            ..PLACE
        };
        let slope = ladder.slope(200.0, twice);
        assert_eq!((slope.time, slope.by_moved), (22.0, 16.0));
    }
}
