//! Path choice against balls in bins (FACTS D.4): m flows of line rate on m equal paths.

use tier6_g5::switch::PathChooser;

/// Largest load of a path, throughput of the slowest flow, mean utilisation; all over seeds.
fn hashed(m: u32, sub_flows: u32) -> (f64, f64, f64) {
    let trials = 1_500;
    let (mut largest, mut slowest, mut used) = (0.0, 0.0, 0.0);
    for seed in 0..trials {
        let chooser = PathChooser::new(seed);
        let mut load = vec![0_u32; m as usize];
        for flow in 0..m {
            for sub_flow in 0..sub_flows {
                load[chooser.choose((flow, flow + m), 0, sub_flow, m as usize)] += 1;
            }
        }
        let share = |load: u32| f64::from(load) / f64::from(sub_flows);
        let most = share(*load.iter().max().unwrap());
        largest += most;
        slowest += 1.0 / most.max(1.0);
        used += load.iter().map(|&load| share(load).min(1.0)).sum::<f64>() / f64::from(m);
    }
    let trials = trials as f64;
    (largest / trials, slowest / trials, used / trials)
}

fn within_five_percent(got: f64, expected: f64, what: &str) {
    // The table is rounded to two digits and sampled itself.
    assert!(
        (got / expected - 1.0).abs() < 0.05,
        "{what}: {got:.3}, expected {expected}"
    );
}

#[test]
fn hashed_flows_collide_as_balls_in_bins() {
    let table = [
        (
            4,
            [2.12, 1.78, 1.54, 1.37, 1.27],
            [0.51, 0.67, 0.80],
            [0.69, 0.91],
        ),
        (
            8,
            [2.58, 2.09, 1.76, 1.53, 1.37],
            [0.41, 0.58, 0.74],
            [0.66, 0.91],
        ),
        (
            16,
            [3.08, 2.43, 1.97, 1.66, 1.47],
            [0.34, 0.52, 0.69],
            [0.64, 0.90],
        ),
        (
            32,
            [3.54, 2.71, 2.16, 1.80, 1.55],
            [0.30, 0.47, 0.65],
            [0.64, 0.90],
        ),
        (
            64,
            [3.97, 2.98, 2.34, 1.92, 1.63],
            [0.26, 0.43, 0.62],
            [0.64, 0.90],
        ),
    ];
    for (m, largest, slowest, used) in table {
        for (column, sub_flows) in [1, 2, 4, 8, 16].into_iter().enumerate() {
            let got = hashed(m, sub_flows);
            let what = format!("{m} paths, {sub_flows} sub-flows");
            within_five_percent(got.0, largest[column], &format!("largest load, {what}"));
            if column % 2 == 0 {
                within_five_percent(got.1, slowest[column / 2], &format!("slowest flow, {what}"));
            }
            if column % 4 == 0 {
                within_five_percent(got.2, used[column / 4], &format!("utilisation, {what}"));
            }
        }
    }
}

/// P(no collision) = m!/m^m.
#[test]
fn few_seeds_have_no_collision() {
    for (m, percent) in [(2_u32, 50.0), (4, 9.375), (8, 0.240)] {
        let trials = 100_000;
        let clean = (0..trials)
            .filter(|&seed| {
                let chooser = PathChooser::new(seed);
                let used = (0..m).fold(0_u32, |used, flow| {
                    used | 1 << chooser.choose((flow, 100), 0, 0, m as usize)
                });
                used.count_ones() == m
            })
            .count();
        let got = 100.0 * clean as f64 / trials as f64;
        // Three standard deviations of the sample.
        let tolerance = 3.0 * (percent * (100.0 - percent) / trials as f64).sqrt();
        assert!(
            (got - percent).abs() < tolerance,
            "{m}: {got} for {percent}"
        );
    }
}
