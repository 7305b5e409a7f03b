//! The predictor: exact where the curve is a line, bounded where it is not, never a panic.

use proptest::prelude::*;
use tier6_fit::{Evidence, Grounds, KnownPoint, Predictor, PredictorError};
use tier6_units::{Bytes, Micros};

fn sweep(points: &[(u64, f64)]) -> Vec<KnownPoint> {
    points
        .iter()
        .map(|(bytes, us)| KnownPoint::new(Bytes::new(*bytes), Micros::new(*us)))
        .collect()
}

fn fitted(points: &[(u64, f64)]) -> Predictor {
    Predictor::fit(&sweep(points)).unwrap()
}

fn at(predictor: &Predictor, bytes: u64) -> f64 {
    predictor.predict(Bytes::new(bytes)).time.get()
}

/// Latency to 64 KiB, then a late switch: the line of the first path up to 1 MiB, a better one
/// from 2 MiB.
const SWITCHING: [(u64, f64); 8] = [
    (1 << 12, 20.0),
    (1 << 14, 21.0),
    (1 << 16, 25.0),
    (1 << 18, 41.0),
    (1 << 20, 105.0),
    (1 << 22, 130.0),
    (1 << 24, 280.0),
    (1 << 26, 880.0),
];

#[test]
fn a_gap_with_a_switch_is_a_compromise_of_its_explanations() {
    let predictor = fitted(&SWITCHING);
    let prediction = predictor.predict(Bytes::new(1 << 21));
    let Grounds::Between {
        even, late, early, ..
    } = prediction.grounds
    else {
        panic!("{:?}", prediction.grounds)
    };
    // Even: 105 + 25/3. Late: 105 + 64/(3/4) would leave the range, so 130. Early: 130 - 150/6.
    let close = |got: Micros, want: f64| (got.get() - want).abs() < 1e-9;
    assert!(
        close(even, 105.0 + 25.0 / 3.0)
            && close(late.unwrap(), 130.0)
            && close(early.unwrap(), 105.0)
    );
    let (even, late, early) = (113.0 + 1.0 / 3.0, 130.0, 105.0);
    let first = 4.0 / even + 1.0 / late + 1.0 / early;
    let second = 4.0 / (even * even) + 1.0 / (late * late) + 1.0 / (early * early);
    assert!((prediction.time.get() - first / second).abs() < 1e-9);
    let band = prediction.band.unwrap();
    assert!(band.low < prediction.time && prediction.time < band.high);
    insta::assert_snapshot!(prediction.grounds, @"between 1 MiB and 4 MiB, growing evenly (the line from below +14.7 %, the line from above -7.4 % in the middle)");
}

#[test]
fn predictions_say_whether_they_extrapolate() {
    let predictor = fitted(&SWITCHING);
    let evidence = |bytes| predictor.predict(Bytes::new(bytes)).evidence;
    assert_eq!(evidence(1 << 11), Evidence::Extrapolated);
    assert_eq!(evidence(1 << 12), Evidence::Interpolated);
    assert_eq!(evidence(1 << 21), Evidence::Interpolated);
    assert_eq!(evidence(1 << 27), Evidence::Extrapolated);
    // Through 16 and 64 MiB 600 us per 48 MiB, through 4 and 64 MiB 750 us per 60 MiB: one line.
    assert!((at(&predictor, 1 << 27) - (880.0 + 64.0 * 12.5)).abs() < 1e-9);
    let width = |bytes| {
        let band = predictor.predict(Bytes::new(bytes)).band.unwrap();
        band.high.get() / band.low.get()
    };
    assert!(width(1 << 27) < width(1 << 30), "the band widens outside");
}

#[test]
fn a_measured_size_is_its_time_unless_disturbed() {
    let mut points = sweep(&SWITCHING);
    for point in &mut points {
        point.other_placement = Some(point.time);
    }
    points[2].time = Micros::new(90.0);
    let predictor = Predictor::fit(&points).unwrap();
    assert!((at(&predictor, 1 << 14) - 21.0).abs() < 1e-9);
    assert!((at(&predictor, 1 << 16) - 25.0).abs() < 1e-9);
    let sentence = predictor.predict(Bytes::new(1 << 14)).grounds.to_string();
    assert_eq!(sentence, "16 KiB was measured");
}

#[test]
fn one_size_predicts_nothing_and_four_have_no_band() {
    let found = |points: &[(u64, f64)]| Predictor::fit(&sweep(points)).unwrap_err();
    assert_eq!(found(&[]), PredictorError::TooFewSizes { found: 0 });
    assert_eq!(found(&[(8, 1.0)]), PredictorError::TooFewSizes { found: 1 });
    assert_eq!(
        found(&[(8, 1.0), (8, 2.0)]),
        PredictorError::TooFewSizes { found: 1 }
    );
    let unusable = [
        (0, 1.0),
        (8, 0.0),
        (16, -1.0),
        (32, f64::NAN),
        (64, f64::INFINITY),
    ];
    assert_eq!(found(&unusable), PredictorError::TooFewSizes { found: 0 });
    let four = fitted(&[(8, 10.0), (16, 11.0), (32, 12.0), (64, 13.0)]);
    assert_eq!(four.predict(Bytes::new(24)).band, None);
    let message = found(&[(8, 1.0)]).to_string();
    assert_eq!(
        message,
        "prediction needs two sizes with a time above zero, found 1"
    );
}

#[test]
fn order_and_repeats_do_not_matter() {
    let ordered = fitted(&SWITCHING);
    let mut shuffled = SWITCHING.to_vec();
    shuffled.reverse();
    shuffled.extend(SWITCHING);
    assert_eq!(fitted(&shuffled), ordered);
}

/// An ascending sweep with irregular steps.
fn sizes() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::btree_set(1_u64..1 << 34, 2..40).prop_map(|set| set.into_iter().collect())
}

proptest! {
    #[test]
    fn a_line_is_reproduced_between_any_sizes(
        sizes in sizes(),
        alpha in 0.5..1e4_f64,
        gb_per_s in 0.01..1e4_f64,
        share in 1_u64..9,
    ) {
        let time = |bytes: u64| alpha + bytes as f64 / gb_per_s / 1e3;
        let points: Vec<_> = sizes.iter().map(|bytes| (*bytes, time(*bytes))).collect();
        let predictor = fitted(&points);
        for pair in sizes.windows(2) {
            let asked = pair[0] + (pair[1] - pair[0]) / share;
            prop_assert!((at(&predictor, asked) / time(asked) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_line_is_reproduced_outside_a_sweep(
        first in 3_u32..24,
        count in 2_u32..8,
        alpha in 0.5..1e3_f64,
        gb_per_s in 0.1..1e3_f64,
        beyond in 1_u32..10,
    ) {
        let time = |bytes: u64| alpha + bytes as f64 / gb_per_s / 1e3;
        let points: Vec<_> = (first..first + count).map(|power| (1 << power, time(1 << power))).collect();
        let predictor = fitted(&points);
        for asked in [1 << (first - 1), 1, 1 << (first + count + beyond)] {
            // A slope keeps the digits in which two neighbouring times differ.
            let digits = alpha / (time(1 << (first + 1)) - time(1 << first));
            let tolerance = 1e-9 + 1e-13 * digits * f64::from(1 << beyond);
            prop_assert!((at(&predictor, asked) / time(asked) - 1.0).abs() < tolerance);
        }
    }

    #[test]
    fn times_that_rise_are_never_left(
        sizes in sizes(),
        rises in prop::collection::vec(0.0..2.0_f64, 40),
        share in 1_u64..9,
    ) {
        let mut us = 5.0;
        let points: Vec<_> = sizes.iter().zip(rises).map(|(bytes, rise)| { us *= 1.0 + rise; (*bytes, us) }).collect();
        let predictor = fitted(&points);
        let mut before = 0.0;
        for pair in points.windows(2) {
            let inside = pair[0].0 + (pair[1].0 - pair[0].0) / share;
            for asked in [pair[0].0, inside, pair[1].0] {
                let got = at(&predictor, asked);
                prop_assert!(got >= before * (1.0 - 1e-12), "{got} after {before}");
                prop_assert!(got <= pair[1].1 * (1.0 + 1e-12) && got >= pair[0].1 * (1.0 - 1e-12));
                before = got;
            }
        }
    }

    #[test]
    fn no_input_panics_and_every_time_is_positive(
        points in prop::collection::vec((any::<u64>(), any::<f64>(), prop::option::of(any::<f64>())), 0..24),
        near in prop::collection::vec((0_u64..64, 0.1..100.0_f64), 0..24),
        asked in prop::collection::vec(any::<u64>(), 8),
    ) {
        let known = points.iter().map(|(bytes, us, other)| KnownPoint {
            other_placement: other.map(Micros::new),
            ..KnownPoint::new(Bytes::new(*bytes), Micros::new(*us))
        });
        let known: Vec<_> = known.chain(sweep(&near)).collect();
        let Ok(predictor) = Predictor::fit(&known) else { return Ok(()) };
        for bytes in asked.into_iter().chain([0, 1, 2, 63, u64::MAX]) {
            let prediction = predictor.predict(Bytes::new(bytes));
            let us = prediction.time.get();
            prop_assert!(us.is_finite() && (us > 0.0 || bytes == 0), "{us} at {bytes}");
            if let Some(band) = prediction.band {
                prop_assert!(band.low <= prediction.time && prediction.time <= band.high);
            }
        }
    }

    #[test]
    fn scaling_times_scales_predictions(scale in 0.01..100.0_f64, asked in 1_u64..1 << 30) {
        let scaled: Vec<_> = SWITCHING.iter().map(|(bytes, us)| (*bytes, us * scale)).collect();
        let ratio = at(&fitted(&scaled), asked) / at(&fitted(&SWITCHING), asked);
        prop_assert!((ratio / scale - 1.0).abs() < 1e-9);
    }
}
