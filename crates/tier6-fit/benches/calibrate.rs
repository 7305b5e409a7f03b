//! How much faster is a fit of five constants than the grid that source document 003 searches?
//!
//! Both calibrate the two-level AllReduce on the same times: three settings of one system with 2 %
//! of noise, which tell all five constants, and the one setting of the document, which does not.

use std::time::Instant;
use tier6_collective::{Algorithm, Collective, Protocol};
use tier6_fit::{
    CalibrateOptions, Calibration, Call, HeldOut, Method, Observed, Setting, TwoLevel, calibrate,
};
use tier6_stats::Rng;
use tier6_system::{SystemSpec, preset};
use tier6_units::{Bytes, Micros};

/// How often a fit is timed; the grid runs once.
const ROUNDS: u32 = 20;

fn main() {
    let system = preset("h100-x8-ib-ndr").expect("the preset exists");
    let at = |per_node, nodes| Setting { per_node, nodes };
    for settings in [vec![at(8, 2)], vec![at(4, 2), at(8, 2), at(8, 4)]] {
        let observed: Vec<Observed> = settings.iter().map(|setting| sweep(*setting)).collect();
        let (grid, grid_s) = run(&system, &observed, Method::Grid, HeldOut::Untested);
        let names: Vec<String> = settings.iter().map(ToString::to_string).collect();
        println!("{}", names.join(", "));
        println!(
            "  grid of a million: {grid_s:.2} s, RMSPE {:.3} %",
            grid.rmspe_pct
        );
        for (name, held_out) in [
            ("fit and rank check", HeldOut::Untested),
            ("with held-out errors", HeldOut::Tested),
        ] {
            let (fit, fit_s) = run(&system, &observed, Method::Fit, held_out);
            println!(
                "  {name}: {:.3} ms, RMSPE {:.3} %; {:.0} times faster",
                fit_s * 1e3,
                fit.rmspe_pct,
                grid_s / fit_s
            );
        }
    }
}

/// Returns a calibration and the seconds that it takes.
fn run(
    system: &SystemSpec,
    observed: &[Observed],
    method: Method,
    held_out: HeldOut,
) -> (Calibration, f64) {
    let options = CalibrateOptions {
        method,
        held_out,
        ..CalibrateOptions::STANDARD
    };
    let rounds = if method == Method::Grid { 1 } else { ROUNDS };
    let start = Instant::now();
    let mut made = None;
    for _ in 0..rounds {
        made = calibrate(system, observed, &options).ok();
    }
    let seconds = start.elapsed().as_secs_f64() / f64::from(rounds);
    (made.expect("the case is in the domain"), seconds)
}

/// Times of a setting at 24 sizes, with noise.
fn sweep(setting: Setting) -> Observed {
    let mut rng = Rng::new(u64::from(setting.per_node * 100 + setting.nodes));
    let points: Vec<(Bytes, Micros)> = (10..34)
        .map(|bits| {
            let bytes = Bytes::new(1 << bits);
            let noise = 1.0 + 0.02 * (2.0 * rng.uniform() - 1.0);
            let time = TwoLevel::TYPICAL.time(setting, bytes).get();
            (bytes, Micros::new(time * noise))
        })
        .collect();
    let call = Call {
        collective: Collective::AllReduce,
        algorithm: Some(Algorithm::Hierarchical),
        protocol: Some(Protocol::Simple),
        ranks: setting.per_node * setting.nodes,
        nodes: setting.nodes,
    };
    Observed::new(setting.to_string(), call, &points)
}
