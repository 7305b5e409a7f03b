//! Fabrics without switches: ring, full mesh, torus.

use super::{Site, cable};
use crate::resolve::Cable;
use crate::topology::LinkClassId;
use crate::{SystemError, SystemProblem};
use std::collections::BTreeSet;

/// Joins neighbours on each ring; the positive direction comes first at every end.
pub(super) fn ring(
    site: &mut Site<'_, '_>,
    class: LinkClassId,
    orders: &[Vec<u32>],
) -> Result<(), SystemError> {
    let natural = [(0..site.n_ends()).collect()];
    let orders = if orders.is_empty() { &natural } else { orders };
    for order in orders {
        let distinct: BTreeSet<u32> = order.iter().copied().collect();
        if distinct.len() != order.len() || order.iter().any(|&end| end >= site.n_ends()) {
            let problem = SystemProblem::BadValue {
                key: "orders".to_owned(),
                reason: format!("a ring visits chips below {} once each", site.n_ends()),
            };
            return Err(SystemError::new(site.tier.place(), problem));
        }
        let cables = circle(site, class, order);
        site.lay(&cables)?;
    }
    Ok(())
}

/// Cables around a circle; two ends need only one.
fn circle(site: &Site<'_, '_>, class: LinkClassId, order: &[u32]) -> Vec<Cable> {
    let n_cables = match order.len() {
        0 | 1 => 0,
        2 => 1,
        n => n,
    };
    let end = |at: usize| site.ends[order[at % order.len()] as usize];
    (0..n_cables)
        .map(|at| cable(end(at), end(at + 1), class, site.tier.lanes))
        .collect()
}

/// Joins each end to each other.
pub(super) fn full_mesh(site: &mut Site<'_, '_>, class: LinkClassId) -> Result<(), SystemError> {
    let n = u64::from(site.n_ends());
    site.draft.expect_cables(n * (n - 1) / 2)?;
    let mut cables = Vec::new();
    for (at, &a) in site.ends.iter().enumerate() {
        for &b in &site.ends[at + 1..] {
            cables.push(cable(a, b, class, site.tier.lanes));
        }
    }
    site.lay(&cables)
}

/// Joins neighbours in every dimension, around; the last dimension varies fastest.
pub(super) fn torus(
    site: &mut Site<'_, '_>,
    class: LinkClassId,
    dims: &[u32],
) -> Result<(), SystemError> {
    let product = dims
        .iter()
        .try_fold(1_u64, |product, &dim| product.checked_mul(dim.into()))
        .unwrap_or(u64::MAX);
    if product != u64::from(site.n_ends()) {
        let count = site.n_ends().into();
        return Err(site
            .mismatch("product of `dims`", product, "count", count)
            .hint("the ends of all dimensions multiply to the count"));
    }
    let mut stride = site.n_ends();
    for &dim in dims {
        stride /= dim;
        let mut cables = Vec::new();
        for start in 0..site.n_ends() {
            let is_first_of_line = (start / stride).is_multiple_of(dim);
            if is_first_of_line {
                let line: Vec<u32> = (0..dim).map(|at| start + at * stride).collect();
                cables.extend(circle(site, class, &line));
            }
        }
        site.lay(&cables)?;
    }
    Ok(())
}
