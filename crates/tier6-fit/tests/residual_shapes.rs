//! Each shape of residuals is found in data made to have it, and none in pure noise.

use tier6_fit::{Pattern, PredictedPoint, PredictionOrigin, ResidualShape, residual_shapes};
use tier6_stats::{Rng, Weighting, fit_line};
use tier6_units::{Bytes, Micros};

const ALPHA: f64 = 20.0;
const BETA: f64 = 80.0;

fn line(bytes: f64) -> f64 {
    ALPHA + bytes / BETA / 1e3
}

/// Twenty-seven sizes from 16 B to 1 GiB with 1 % noise, predicted by the true line.
fn made(seed: u64, distort: impl Fn(usize, f64, f64) -> f64) -> Vec<PredictedPoint> {
    let mut rng = Rng::new(seed);
    (4..=30_u32)
        .enumerate()
        .map(|(index, power)| {
            let bytes = f64::from(1_u32 << power);
            let truth = distort(index, bytes, line(bytes));
            PredictedPoint {
                bytes: Bytes::new(1 << power),
                measured: Micros::new(truth * (1.0 + 0.01 * rng.normal())),
                predicted: Micros::new(line(bytes)),
            }
        })
        .collect()
}

/// Replaces the predictions by the relative fit of the points themselves.
fn fitted(points: &[PredictedPoint]) -> Vec<PredictedPoint> {
    let sizes: Vec<f64> = points.iter().map(|point| point.bytes.as_f64()).collect();
    let times: Vec<f64> = points.iter().map(|point| point.measured.get()).collect();
    let fit = fit_line(&sizes, &times, Weighting::Relative).unwrap();
    let predict = |point: &PredictedPoint| PredictedPoint {
        predicted: Micros::new(fit.predict(point.bytes.as_f64())),
        ..*point
    };
    points.iter().map(predict).collect()
}

fn first(shapes: &[ResidualShape]) -> (Pattern, String) {
    (shapes[0].pattern, shapes[0].evidence.clone())
}

#[test]
fn a_fixed_cost_is_an_offset() {
    for seed in 0..20 {
        let points = made(seed, |_, _, time| time + 2.0);
        let (pattern, evidence) = first(&residual_shapes(&points, PredictionOrigin::Elsewhere));
        assert_eq!(pattern, Pattern::Offset, "{evidence}");
        let us: f64 = evidence.split(' ').next().unwrap().parse().unwrap();
        assert!((us - 2.0).abs() < 0.3, "{evidence}");
    }
}

#[test]
fn lost_bandwidth_is_growth() {
    for seed in 0..20 {
        let points = made(seed, |_, bytes, time| time + 0.1 * bytes / BETA / 1e3);
        let (pattern, evidence) = first(&residual_shapes(&points, PredictionOrigin::Elsewhere));
        assert_eq!(pattern, Pattern::Growth, "{evidence}");
        // 10 % of 1 MiB / 80 GB/s.
        let per_mib: f64 = evidence.split(' ').next().unwrap().parse().unwrap();
        assert!((per_mib / 1.311 - 1.0).abs() < 0.15, "{evidence}");
    }
}

#[test]
fn a_fixed_cost_with_lost_bandwidth_is_both() {
    let points = made(1, |_, bytes, time| time + 2.0 + 0.1 * bytes / BETA / 1e3);
    let mut found: Vec<&str> = residual_shapes(&points, PredictionOrigin::Elsewhere)
        .iter()
        .map(|shape| shape.pattern.name())
        .collect();
    found.sort_unstable();
    assert_eq!(found, ["growth", "offset"]);
}

#[test]
fn a_step_at_a_size_is_a_jump() {
    for (origin, seeds) in [
        (PredictionOrigin::Elsewhere, 0..20),
        (PredictionOrigin::SamePoints, 20..40),
    ] {
        for seed in seeds {
            let points = made(
                seed,
                |index, _, time| if index < 9 { time } else { 1.12 * time },
            );
            let points = match origin {
                PredictionOrigin::Elsewhere => points,
                PredictionOrigin::SamePoints => fitted(&points),
            };
            let (pattern, evidence) = first(&residual_shapes(&points, origin));
            assert_eq!(pattern, Pattern::Jump, "{evidence}");
            assert!(evidence.contains("8 KiB"), "{evidence}");
        }
    }
}

#[test]
fn one_size_far_off_is_a_spike() {
    for origin in [PredictionOrigin::Elsewhere, PredictionOrigin::SamePoints] {
        for seed in 0..20 {
            let points = made(
                seed,
                |index, _, time| if index == 10 { 1.15 * time } else { time },
            );
            let points = match origin {
                PredictionOrigin::Elsewhere => points,
                PredictionOrigin::SamePoints => fitted(&points),
            };
            let (pattern, evidence) = first(&residual_shapes(&points, origin));
            assert_eq!(pattern, Pattern::Spike, "{evidence}");
            assert!(
                evidence.starts_with("16 KiB is") && evidence.contains("above"),
                "{evidence}"
            );
        }
    }
}

#[test]
fn two_spikes_are_two_findings() {
    let points = made(
        3,
        |index, _, time| if index % 12 == 6 { 1.2 * time } else { time },
    );
    let shapes = residual_shapes(&points, PredictionOrigin::SamePoints);
    assert_eq!(shapes.len(), 2, "{shapes:?}");
    assert!(shapes.iter().all(|shape| shape.pattern == Pattern::Spike));
}

#[test]
fn a_slow_middle_is_a_curve() {
    let bent = |_: usize, bytes: f64, time: f64| {
        let place = (bytes.log2() - 17.0) / 13.0;
        time * (1.04 - 0.12 * place * place)
    };
    for origin in [PredictionOrigin::Elsewhere, PredictionOrigin::SamePoints] {
        for seed in 0..20 {
            let points = made(seed, bent);
            let points = match origin {
                PredictionOrigin::Elsewhere => points,
                PredictionOrigin::SamePoints => fitted(&points),
            };
            let (pattern, evidence) = first(&residual_shapes(&points, origin));
            assert_eq!(pattern, Pattern::Curve, "{evidence}");
        }
    }
}

#[test]
fn noise_is_scatter() {
    let mut alarms = [0_u32; 2];
    for seed in 0..500 {
        let points = made(seed, |_, _, time| time);
        let own = residual_shapes(&fitted(&points), PredictionOrigin::SamePoints);
        let other = residual_shapes(&points, PredictionOrigin::Elsewhere);
        for (alarms, shapes) in alarms.iter_mut().zip([own, other]) {
            assert!(!shapes.is_empty());
            *alarms += u32::from(shapes[0].pattern != Pattern::Scatter);
        }
    }
    // About 1 % allowed: 5 of 500, three standard deviations above is 12.
    assert!(alarms.iter().all(|count| *count <= 12), "{alarms:?}");
}

#[test]
fn too_little_data_has_no_shape() {
    let points = made(1, |_, _, time| time);
    assert!(residual_shapes(&points[..4], PredictionOrigin::Elsewhere).is_empty());
    assert!(residual_shapes(&[], PredictionOrigin::SamePoints).is_empty());
    let broken: Vec<PredictedPoint> = points
        .iter()
        .map(|point| PredictedPoint {
            measured: Micros::new(f64::NAN),
            ..*point
        })
        .collect();
    assert!(residual_shapes(&broken, PredictionOrigin::Elsewhere).is_empty());
}

#[test]
fn exact_predictions_are_scatter() {
    let mut points = made(1, |_, _, time| time);
    for point in &mut points {
        point.measured = point.predicted;
    }
    for origin in [PredictionOrigin::Elsewhere, PredictionOrigin::SamePoints] {
        assert_eq!(first(&residual_shapes(&points, origin)).0, Pattern::Scatter);
    }
}
