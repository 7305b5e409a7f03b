//! Contention on a ring from routes alone: the table of FACTS B.4, in units of M over the rate
//! of a link. It holds because antipodal traffic goes the positive way.

use tier6_system::{ChipId, FabricSpec, SystemSpec, Topology};
use tier6_units::{GbPerSec, Micros};

/// One transfer of a step: sender, receiver, share of M.
type Transfer = (u32, u32, f64);

fn ring(n: u32) -> Topology {
    let fabric = FabricSpec::ring();
    SystemSpec::uniform(n, fabric, GbPerSec::new(1.0), Micros::new(0.0))
        .resolve()
        .unwrap()
}

/// Sum over steps of the load of the busiest link.
fn coefficient(n: u32, steps: &[Vec<Transfer>]) -> f64 {
    let ring = ring(n);
    let trees: Vec<_> = (0..n).map(|to| ring.routes_to(ChipId::new(to))).collect();
    let step_load = |step: &Vec<Transfer>| {
        let mut loads = vec![0.0; ring.links().len()];
        for &(from, to, share) in step {
            for link in trees[to as usize].route(ChipId::new(from), 0) {
                loads[link.index()] += share;
            }
        }
        loads.into_iter().fold(0.0, f64::max)
    };
    steps.iter().map(step_load).sum()
}

/// Every rank sends to its partner.
fn exchange(n: u32, share: f64, partner: impl Fn(u32) -> u32) -> Vec<Transfer> {
    (0..n).map(|rank| (rank, partner(rank), share)).collect()
}

/// ReduceScatter steps and the same again for AllGather.
fn twice(steps: Vec<Vec<Transfer>>) -> Vec<Vec<Transfer>> {
    [steps.clone(), steps].concat()
}

#[test]
fn link_loads_of_a_ring_are_those_of_the_table() {
    // N, ring, HD doubling, HD halving, recursive doubling, swing, pairwise AllToAll.
    let table = [
        (4_u32, [1.5, 2.0, 2.5, 3.0, 1.5, 1.0]),
        (8, [1.75, 3.0, 5.25, 7.0, 2.0, 2.0]),
        (16, [1.875, 4.0, 10.625, 15.0, 2.375, 4.0]),
        (32, [1.9375, 5.0, 21.3125, 31.0, 2.75, 8.0]),
    ];
    for (n, want) in table {
        let lg = n.ilog2();
        let half = |step: u32| 0.5_f64.powi(i32::try_from(step).unwrap() + 1);
        let step_list = |step: &dyn Fn(u32) -> Vec<Transfer>| (0..lg).map(step).collect();
        let chunk = 1.0 / f64::from(n);
        let ring_steps = (1..n)
            .map(|_| exchange(n, chunk, |rank| (rank + 1) % n))
            .collect();
        let doubling = step_list(&|k| exchange(n, half(k), |rank| rank ^ (1 << k)));
        let halving = step_list(&|k| exchange(n, half(k), |rank| rank ^ (n >> (k + 1))));
        let recursive: Vec<_> = step_list(&|k| exchange(n, 1.0, |rank| rank ^ (1 << k)));
        let swing = step_list(&|s| {
            let rho = (1 - (-2_i64).pow(s + 1)) / 3;
            exchange(n, half(s), |rank| {
                let sign = if rank % 2 == 0 { 1 } else { -1 };
                let to = (i64::from(rank) + sign * rho).rem_euclid(n.into());
                u32::try_from(to).unwrap()
            })
        });
        let pairwise: Vec<_> = (1..n)
            .map(|k| exchange(n, chunk, |rank| (rank + k) % n))
            .collect();
        let got = [
            coefficient(n, &twice(ring_steps)),
            coefficient(n, &twice(doubling)),
            coefficient(n, &twice(halving)),
            coefficient(n, &recursive),
            coefficient(n, &twice(swing)),
            coefficient(n, &pairwise),
        ];
        for (got, want) in got.iter().zip(want) {
            assert!(
                (got - want).abs() < 1e-9,
                "N = {n}: {got} instead of {want}"
            );
        }
    }
}
