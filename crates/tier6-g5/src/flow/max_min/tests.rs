use proptest::prelude::*;

use super::MaxMin;

/// Capacities; limits and links of flows.
#[derive(Debug, Clone)]
struct Case {
    capacities: Vec<f64>,
    flows: Vec<(f64, Vec<(u32, f64)>)>,
}

impl Case {
    fn plain(capacities: &[f64], routes: &[&[u32]]) -> Self {
        let flow = |route: &&[u32]| {
            let uses = route.iter().map(|link| (*link, 1.0)).collect();
            (f64::INFINITY, uses)
        };
        Self {
            capacities: capacities.to_vec(),
            flows: routes.iter().map(flow).collect(),
        }
    }

    fn solve(&self) -> Vec<f64> {
        self.solve_with(&mut MaxMin::default())
    }

    fn solve_with(&self, solver: &mut MaxMin) -> Vec<f64> {
        solver.clear();
        self.capacities.iter().for_each(|c| solver.add_link(*c));
        for (limit, uses) in &self.flows {
            for (link, load) in uses {
                solver.add_use(*link, *load);
            }
            solver.add_flow(*limit);
        }
        solver.solve().to_vec()
    }

    fn load(&self, rates: &[f64], link: u32) -> f64 {
        let loads = self.flows.iter().zip(rates).map(|((_, uses), rate)| {
            let uses = uses.iter().filter(|(at, _)| *at == link);
            uses.map(|(_, weight)| weight * rate).sum::<f64>()
        });
        loads.sum()
    }
}

fn check(case: &Case, expect: &[f64]) {
    let rates = case.solve();
    assert_eq!(rates.len(), expect.len());
    for (rate, expect) in rates.iter().zip(expect) {
        assert!((rate - expect).abs() < 1e-12, "{rates:?}");
    }
}

#[test]
fn a_parking_lot_is_shared_by_its_bottleneck() {
    let one_of_each = Case::plain(&[1.0, 1.0, 1.0], &[&[0, 1, 2], &[0], &[1], &[2]]);
    check(&one_of_each, &[0.5; 4]);
    let crowded = Case::plain(&[1.0, 2.0], &[&[0, 1], &[0], &[0], &[1]]);
    check(&crowded, &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 5.0 / 3.0]);
}

#[test]
fn what_a_limited_flow_leaves_goes_to_the_others() {
    let mut case = Case::plain(&[3.0, 10.0], &[&[0], &[0], &[0, 1]]);
    case.flows[0].0 = 0.5;
    check(&case, &[0.5, 1.25, 1.25]);
    case.flows[2].0 = 1.0;
    check(&case, &[0.5, 1.5, 1.0]);
    case.flows[1].0 = 0.25;
    check(&case, &[0.5, 0.25, 1.0]);
}

#[test]
fn a_heavy_use_counts_for_more() {
    let mut case = Case::plain(&[3.0], &[&[0], &[0]]);
    case.flows[0].1[0].1 = 2.0;
    check(&case, &[1.0, 1.0]);
    case.flows[1].0 = 0.5;
    check(&case, &[1.25, 0.5]);
}

#[test]
fn a_dead_link_gives_nothing() {
    check(&Case::plain(&[0.0, 2.0], &[&[0, 1], &[1]]), &[0.0, 2.0]);
}

#[test]
fn flows_without_links_are_limited_by_themselves_only() {
    let mut case = Case::plain(&[], &[&[], &[]]);
    case.flows[0].0 = 7.0;
    assert_eq!(case.solve(), [7.0, f64::INFINITY]);
}

#[test]
fn flows_that_are_alike_get_the_same_to_the_bit() {
    // 255 thirds of nothing in particular: rounding differs link by link.
    let n = 256;
    let routes: Vec<[u32; 2]> = (0..n)
        .flat_map(|from| {
            let others = (0..n).filter(move |to| *to != from);
            others.map(move |to| [from, n + to])
        })
        .collect();
    let routes: Vec<&[u32]> = routes.iter().map(<[u32; 2]>::as_slice).collect();
    let rates = Case::plain(&vec![0.05; 2 * n as usize], &routes).solve();
    assert!(
        rates
            .iter()
            .all(|rate| rate.to_bits() == rates[0].to_bits())
    );
    assert!((rates[0] * 255.0 - 0.05).abs() < 1e-15);
}

fn cases() -> impl Strategy<Value = Case> {
    let capacities = prop::collection::vec(0.5..20.0_f64, 1..12);
    capacities.prop_flat_map(|capacities| {
        let n_links = u32::try_from(capacities.len()).unwrap();
        let limit = prop_oneof![2 => Just(f64::INFINITY), 1 => 0.1..10.0_f64];
        let weight = prop_oneof![3 => Just(1.0), 1 => 0.25..4.0_f64];
        let uses = prop::collection::btree_map(0..n_links, weight, 1..=n_links as usize);
        let uses = uses.prop_map(|uses| uses.into_iter().collect());
        let flows = prop::collection::vec((limit, uses), 1..30);
        flows.prop_map(move |flows| Case {
            capacities: capacities.clone(),
            flows,
        })
    })
}

/// Checks what makes an allocation max-min fair: no link carries more than it can, and every
/// flow has its limit or a full link on which nobody is faster.
fn assert_fair(case: &Case, rates: &[f64]) -> Result<(), TestCaseError> {
    let loads: Vec<f64> = (0..)
        .take(case.capacities.len())
        .map(|link| case.load(rates, link))
        .collect();
    for (load, capacity) in loads.iter().zip(&case.capacities) {
        prop_assert!(*load <= capacity * (1.0 + 1e-9), "{load} of {capacity}");
    }
    for ((limit, uses), rate) in case.flows.iter().zip(rates) {
        prop_assert!(*rate <= limit * (1.0 + 1e-9));
        let is_bottleneck = |link: u32| {
            let others = case.flows.iter().zip(rates);
            let fastest = others
                .filter(|((_, uses), _)| uses.iter().any(|(at, _)| *at == link))
                .map(|(_, rate)| *rate)
                .fold(0.0, f64::max);
            let at = link as usize;
            loads[at] >= case.capacities[at] * (1.0 - 1e-9) && *rate >= fastest * (1.0 - 1e-9)
        };
        prop_assert!(
            *rate >= limit * (1.0 - 1e-9) || uses.iter().any(|(link, _)| is_bottleneck(*link)),
            "a flow at {rate} has no bottleneck"
        );
    }
    Ok(())
}

proptest! {
    #[test]
    fn rates_are_max_min_fair(case in cases()) {
        assert_fair(&case, &case.solve())?;
    }

    #[test]
    fn the_order_of_flows_does_not_matter(
        (case, order) in cases().prop_flat_map(|case| {
            let order = Just((0..case.flows.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(case), order)
        })
    ) {
        let rates = case.solve();
        let shuffled = Case {
            capacities: case.capacities.clone(),
            flows: order.iter().map(|at| case.flows[*at].clone()).collect(),
        };
        for (at, rate) in order.iter().zip(shuffled.solve()) {
            prop_assert!((rate - rates[*at]).abs() <= 1e-9 * rate);
        }
    }

    #[test]
    fn a_solver_remembers_nothing(first in cases(), second in cases()) {
        let mut solver = MaxMin::default();
        first.solve_with(&mut solver);
        prop_assert_eq!(second.solve_with(&mut solver), second.solve());
    }
}
