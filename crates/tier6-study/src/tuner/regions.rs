//! Few regions of size, each with one path: least time plus evidence for each further region.
//!
//! For every number of regions the best placement is found by dynamic programming over the
//! sizes; a further region is accepted only when it gains more than noise can. The gain of
//! one set of regions over another is the sum of differences of ln(time) over the sizes at
//! which they differ, and its standard deviation follows from the noise of both times. A best
//! placement is picked from many, so the gain must exceed more standard deviations than a single
//! comparison would need, and the more the more regions are added at once: n regions that
//! each pick the better of two equal paths gain about as sqrt(n) by noise alone.

use super::contender::Level;

/// A gain below so many standard deviations, times the root of the number of regions added,
/// may be noise: one region of one of a few paths on 25 sizes can be placed in some hundred
/// ways, and one comparison passes by chance in 3 of 100 000.
const SIGMAS: f64 = 4.0;
/// More regions than this are no few.
const REGIONS_MAX: usize = 12;

/// Some sizes in a row with one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Region {
    /// Index of the first size.
    pub(crate) first: usize,
    /// Index of the last size.
    pub(crate) last: usize,
    /// Index of the contender.
    pub(crate) contender: usize,
}

/// The levels of every contender at every size; `None` where it was not measured.
pub(crate) struct Levels {
    /// By contender, then size.
    pub(crate) rows: Vec<Vec<Option<Level>>>,
    /// Number of sizes; at each at least one contender has a level.
    pub(crate) sizes: usize,
}

impl Levels {
    fn cost(&self, contender: usize, size: usize) -> f64 {
        self.rows[contender][size].map_or(f64::INFINITY, |level| level.ln_us)
    }
}

/// Returns the regions that the levels support; `margin` is the least relative gain per size
/// that is worth a further region. Empty without sizes.
pub(crate) fn regions(levels: &Levels, margin: f64) -> Vec<Region> {
    let most = REGIONS_MAX.min(levels.sizes);
    let mut plans = placements(levels, most).into_iter().flatten();
    let Some(mut best) = plans.next() else {
        return any_placement(levels);
    };
    for plan in plans {
        if gains(levels, &best, &plan, margin) {
            best = plan;
        }
    }
    join(&best)
}

/// Paths that were measured on few sizes may need more regions than are few.
fn any_placement(levels: &Levels) -> Vec<Region> {
    let all = placements(levels, levels.sizes);
    all.into_iter()
        .flatten()
        .next()
        .map(|plan| join(&plan))
        .unwrap_or_default()
}

/// A contender for each size.
type Plan = Vec<usize>;

/// Returns the best plan with one region, with two, and so on; `None` where there is none.
fn placements(levels: &Levels, most: usize) -> Vec<Option<Plan>> {
    let contenders = levels.rows.len();
    // The least cost of sizes 0..=size with `count` regions that ends in a contender, and
    // the contender of the size before.
    let mut costs = vec![vec![vec![f64::INFINITY; contenders]; levels.sizes]; most];
    let mut before = vec![vec![vec![0; contenders]; levels.sizes]; most];
    for count in 0..most {
        for size in 0..levels.sizes {
            for c in 0..contenders {
                let (reached, from) = if size == 0 {
                    (if count == 0 { 0.0 } else { f64::INFINITY }, c)
                } else {
                    let stay = (costs[count][size - 1][c], c);
                    let switch = (count > 0)
                        .then(|| least_but(&costs[count - 1][size - 1], c))
                        .flatten();
                    match switch {
                        Some(switch) if switch.0 < stay.0 => switch,
                        _ => stay,
                    }
                };
                costs[count][size][c] = reached + levels.cost(c, size);
                before[count][size][c] = from;
            }
        }
    }
    (0..most)
        .map(|count| {
            let last = levels.sizes.checked_sub(1)?;
            let (cost, end) = least_but(&costs[count][last], usize::MAX)?;
            cost.is_finite()
                .then(|| walk_back(&before, count, last, end))
        })
        .collect()
}

/// Returns the least cost and its index, one index left out; the first of equals.
fn least_but(costs: &[f64], left_out: usize) -> Option<(f64, usize)> {
    costs
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != left_out)
        .map(|(index, cost)| (*cost, index))
        .min_by(|a, b| a.0.total_cmp(&b.0))
}

fn walk_back(before: &[Vec<Vec<usize>>], count: usize, last: usize, end: usize) -> Plan {
    let mut plan = vec![end; last + 1];
    let mut count = count;
    for size in (1..=last).rev() {
        let from = before[count][size][plan[size]];
        if from != plan[size] {
            count -= 1;
        }
        plan[size - 1] = from;
    }
    plan
}

/// Says whether a plan with more regions gains more than noise and more than the margin.
fn gains(levels: &Levels, old: &Plan, new: &Plan, margin: f64) -> bool {
    let mut gain = 0.0;
    let mut variance = 0.0;
    let mut sizes = 0.0;
    for (size, (&from, &to)) in old.iter().zip(new).enumerate() {
        if from != to
            && let (Some(old), Some(new)) = (levels.rows[from][size], levels.rows[to][size])
        {
            gain += old.ln_us - new.ln_us;
            variance += old.variance + new.variance;
            sizes += 1.0;
        }
    }
    let added = join(new).len().saturating_sub(join(old).len()) as f64;
    gain > (SIGMAS * f64::sqrt(variance * added)).max(margin * sizes)
}

fn join(plan: &Plan) -> Vec<Region> {
    let mut regions: Vec<Region> = Vec::new();
    for (size, &contender) in plan.iter().enumerate() {
        match regions.last_mut() {
            Some(region) if region.contender == contender => region.last = size,
            _ => regions.push(Region {
                first: size,
                last: size,
                contender,
            }),
        }
    }
    regions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(rows: &[&[f64]], sigma: f64) -> Levels {
        let level = |us: &f64| {
            us.is_finite().then(|| Level {
                ln_us: us.ln(),
                variance: sigma * sigma,
            })
        };
        Levels {
            rows: rows
                .iter()
                .map(|row| row.iter().map(level).collect())
                .collect(),
            sizes: rows[0].len(),
        }
    }

    fn found(rows: &[&[f64]], sigma: f64) -> Vec<(usize, usize, usize)> {
        regions(&levels(rows, sigma), 0.01)
            .into_iter()
            .map(|region| (region.first, region.last, region.contender))
            .collect()
    }

    #[test]
    fn two_regions_where_each_path_wins_clearly() {
        let fast = [10.0, 10.0, 12.0, 20.0, 40.0];
        let wide = [20.0, 20.0, 20.0, 18.0, 20.0];
        assert_eq!(found(&[&fast, &wide], 0.01), [(0, 2, 0), (3, 4, 1)]);
        // One region of whatever is best on the whole, when the noise hides the rest.
        assert_eq!(found(&[&fast, &wide], 0.4).len(), 1);
    }

    #[test]
    fn turns_within_noise_are_one_region() {
        let a = [10.0, 10.3, 10.0, 10.3, 10.0, 10.3];
        let b = [10.2, 10.0, 10.2, 10.0, 10.2, 10.0];
        assert_eq!(found(&[&a, &b], 0.02).len(), 1);
    }

    #[test]
    fn a_path_that_was_not_measured_is_not_taken() {
        let nan = f64::NAN;
        let small = [10.0, 10.0, nan, nan];
        let large = [nan, 30.0, 40.0, 50.0];
        assert_eq!(found(&[&small, &large], 0.01), [(0, 1, 0), (2, 3, 1)]);
        let apart = [nan, 30.0, nan, 50.0];
        let other = [10.0, nan, 10.0, nan];
        assert_eq!(found(&[&apart, &other], 0.01).len(), 4);
    }

    #[test]
    fn an_island_of_one_size_needs_a_clear_gain() {
        let a = [10.0, 10.0, 10.0, 10.0, 10.0];
        let island = [20.0, 20.0, 5.0, 20.0, 20.0];
        assert_eq!(found(&[&a, &island], 0.02).len(), 3);
        let shallow = [20.0, 20.0, 9.5, 20.0, 20.0];
        assert_eq!(found(&[&a, &shallow], 0.02).len(), 1);
    }

    #[test]
    fn nothing_measured_is_no_region() {
        assert!(regions(&levels(&[&[]], 0.1), 0.01).is_empty());
    }
}
