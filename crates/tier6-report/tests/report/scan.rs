//! The 31-point scan of four V100 as a finished analysis. The medians, P95, CV and tuner times
//! are measured; the fits are least squares done here in a few lines, so that a change of
//! `tier6-fit` does not move the snapshots of this crate.

use tier6_collective::{Algorithm, Collective, DataType, Path, Protocol, RedOp};
use tier6_fit::{
    Basis, Finding, Fit, FitLabel, Interval, LatencyRegion, Line, Loss, Pattern, PointSummary,
    Regions, ResidualFinding, Saturation, SeriesAnalysis, Severity, Switch, Verdict,
};
use tier6_measure::{
    Correctness, Dialect, LibraryVersion, Placement, Ranks, RunEnd, RunSetup, Warning, WarningCode,
};
use tier6_report::{AnalysisReport, InputReport, RunReport, SeriesReport, Status};
use tier6_units::{Bytes, GbPerSec, Micros};

/// Median us, P95 us, CV %, tuner us (0: not printed) for 1 B, 2 B, 4 B .. 1 GiB.
const SCAN: [(f64, f64, f64, f64); 31] = [
    (18.435, 19.763, 4.71, 10.200),
    (18.315, 19.012, 3.78, 0.0),
    (18.410, 19.810, 4.27, 0.0),
    (18.465, 18.765, 3.29, 0.0),
    (18.400, 19.301, 3.07, 0.0),
    (18.285, 19.105, 2.37, 0.0),
    (18.385, 18.892, 2.41, 0.0),
    (18.110, 31.925, 36.12, 0.0),
    (18.215, 19.035, 2.85, 0.0),
    (18.350, 18.975, 2.60, 0.0),
    (18.330, 19.336, 2.55, 10.239),
    (18.490, 19.314, 2.30, 0.0),
    (18.845, 27.651, 23.75, 0.0),
    (18.370, 27.343, 23.11, 0.0),
    (18.305, 26.983, 23.19, 0.0),
    (19.010, 31.525, 24.07, 0.0),
    (19.640, 28.465, 21.70, 0.0),
    (20.595, 30.901, 24.79, 0.0),
    (23.390, 24.389, 1.92, 20.282),
    (33.515, 35.008, 2.03, 30.365),
    (49.620, 51.313, 1.68, 39.647),
    (73.985, 76.617, 1.80, 53.894),
    (105.105, 107.268, 1.04, 81.229),
    (155.030, 157.361, 0.79, 0.0),
    (269.645, 272.896, 0.62, 238.515),
    (469.645, 473.039, 0.36, 0.0),
    (865.005, 869.207, 0.25, 867.661),
    (1692.910, 1694.500, 0.04, 0.0),
    (3347.170, 3349.381, 0.04, 3384.243),
    (6629.795, 6633.874, 0.03, 0.0),
    (13246.050, 13261.500, 0.06, 13450.572),
];

const LL: Path = path(Protocol::Ll);
const LL128: Path = path(Protocol::Ll128);
const SIMPLE: Path = path(Protocol::Simple);

const fn path(protocol: Protocol) -> Path {
    Path {
        algorithm: Algorithm::Ring,
        protocol,
    }
}

/// The whole report of the scan.
pub fn report() -> AnalysisReport {
    AnalysisReport {
        inputs: vec![input("allreduce.txt")],
        status: Status::Ok,
        loss: Loss::Relative,
        series: vec![SeriesReport::new(0, analysis())],
        findings: Vec::new(),
    }
}

pub fn input(path: &str) -> InputReport {
    let warning = |line, message: &str| Warning {
        code: WarningCode::BadRow,
        line: Some(line),
        message: message.to_owned(),
    };
    InputReport {
        path: path.to_owned(),
        dialect: Dialect::NcclTestsText,
        rows: 310,
        warnings: vec![
            warning(41, "expected 13 columns, found 9"),
            warning(57, "expected 13 columns, found 9"),
            Warning {
                code: WarningCode::Missing,
                line: None,
                message: "no device list".to_owned(),
            },
        ],
        runs: vec![RunReport {
            setup: RunSetup {
                cycles: Some(10),
                library_version: Some(LibraryVersion::new(2, 22, 3)),
                ..RunSetup::default()
            },
            correctness: Correctness::Passed,
            end: RunEnd::Complete,
            footer: None,
            rows: 310,
            first_line: 1,
        }],
    }
}

pub fn analysis() -> SeriesAnalysis {
    let points: Vec<PointSummary> = (0..31).map(point).collect();
    let mut fits = Vec::new();
    for loss in [Loss::Relative, Loss::Absolute] {
        fits.push(fit(FitLabel::Global, loss, &points));
        for path in [LL, LL128, SIMPLE] {
            let own: Vec<PointSummary> = points
                .iter()
                .filter(|point| point.path == Some(path))
                .cloned()
                .collect();
            fits.push(fit(FitLabel::Path(path, 1), loss, &own));
        }
    }
    SeriesAnalysis {
        run: 0,
        collective: Some(Collective::AllReduce),
        ranks: Ranks::Stated(4),
        nodes: Some(1),
        datatype: Some(DataType::Int8),
        redop: Some(RedOp::Sum),
        placement: Placement::OutOfPlace,
        points,
        fits,
        switches: vec![switch(1 << 20, LL, LL128), switch(4 << 20, LL128, SIMPLE)],
        regions: Regions {
            latency: Some(LatencyRegion {
                first: Bytes::new(1),
                last: Bytes::new(32 << 10),
                low: Micros::new(18.110),
                high: Micros::new(19.010),
            }),
            saturation: Some(Saturation {
                threshold_pct: 80.0,
                entry: Bytes::new(32 << 20),
                peak_algbw: GbPerSec::new(81.06),
            }),
        },
        residuals: vec![ResidualFinding {
            fit: FitLabel::Path(LL, 1),
            pattern: Pattern::Curve,
            evidence: "largest at 256 KiB, ends on the other side".to_owned(),
            suspects: "channels and threads that change with size",
        }],
        findings: vec![Finding {
            severity: Severity::Note,
            code: "unstable-sizes",
            message: "7 sizes have a CV above 5 %: 128 B, 4 KiB to 128 KiB".to_owned(),
        }],
    }
}

fn point(power: usize) -> PointSummary {
    let (median, p95, cv, tuner) = SCAN[power];
    let bytes = Bytes::new(1 << power);
    let median = Micros::new(median);
    let algbw = GbPerSec::from_transfer(bytes, median).unwrap();
    PointSummary {
        bytes,
        samples: 10,
        median,
        p95: Some(Micros::new(p95)),
        cv_pct: Some(cv),
        stable: Some(cv <= 5.0),
        wrong: Some(0),
        algbw,
        busbw: Some(algbw.scaled(1.5)),
        wire: None,
        path: Some(match power {
            0..=19 => LL,
            20..=21 => LL128,
            _ => SIMPLE,
        }),
        tuner: (tuner > 0.0).then(|| Micros::new(tuner)),
        tuner_error_pct: (tuner > 0.0).then(|| (tuner / median.get() - 1.0) * 100.0),
        excluded: None,
    }
}

fn switch(bytes: u64, from: Path, to: Path) -> Switch {
    Switch {
        bytes: Bytes::new(bytes),
        from: FitLabel::Path(from, 1),
        to: FitLabel::Path(to, 1),
        basis: Basis::Path,
    }
}

/// Weighted least squares of time over bytes; weights 1 or 1 / time^2.
pub fn fit(label: FitLabel, loss: Loss, points: &[PointSummary]) -> Fit {
    let rows = points.iter().map(|point| {
        let (x, y) = (point.bytes.as_f64(), point.median.get());
        let weight = if loss == Loss::Relative {
            1.0 / (y * y)
        } else {
            1.0
        };
        (x, y, weight)
    });
    let sum =
        |term: &dyn Fn(f64, f64) -> f64| rows.clone().map(|(x, y, w)| w * term(x, y)).sum::<f64>();
    let (w, x, y) = (sum(&|_, _| 1.0), sum(&|x, _| x), sum(&|_, y| y));
    let (xx, xy) = (sum(&|x, _| x * x), sum(&|x, y| x * y));
    let slope = (xy * w - x * y) / (xx * w - x * x);
    let line = Line {
        alpha: Micros::new((y - slope * x) / w),
        beta: GbPerSec::new(1.0 / slope / 1e3),
    };
    let residuals: Vec<(Bytes, Micros, f64)> = points
        .iter()
        .map(|point| {
            let (predicted, measured) = (line.predict(point.bytes).get(), point.median.get());
            let error = (predicted / measured - 1.0) * 100.0;
            (point.bytes, Micros::new(measured - predicted), error)
        })
        .collect();
    let errors = || residuals.iter().map(|residual| residual.2.abs());
    let max = residuals
        .iter()
        .max_by(|a, b| a.2.abs().total_cmp(&b.2.abs()))
        .unwrap();
    let mean = points.iter().map(|point| point.median.get()).sum::<f64>() / points.len() as f64;
    let rest: f64 = residuals
        .iter()
        .map(|residual| residual.1.get().powi(2))
        .sum();
    let total: f64 = points
        .iter()
        .map(|point| (point.median.get() - mean).powi(2))
        .sum();
    let enough = points.len() >= 4;
    let around = |value: f64| {
        enough.then_some(Interval {
            low: value * 0.99,
            high: value * 1.01,
        })
    };
    Fit {
        basis: if label == FitLabel::Global {
            Basis::All
        } else {
            Basis::Path
        },
        verdict: if enough && label != FitLabel::Global {
            Verdict::Validated
        } else {
            Verdict::DescribesOnly
        },
        why: match (enough, &label) {
            (false, _) => "two points always lie on a line".to_owned(),
            (true, FitLabel::Global) => "points left out are predicted badly".to_owned(),
            (true, _) => "held-out error in keeping with the fit".to_owned(),
        },
        label,
        loss,
        first: points[0].bytes,
        last: points[points.len() - 1].bytes,
        points: u32::try_from(points.len()).unwrap(),
        alpha_ci: around(line.alpha.get()),
        beta_ci: around(line.beta.get()),
        line: Some(line),
        r2: Some(1.0 - rest / total),
        mape_pct: Some(errors().sum::<f64>() / points.len() as f64),
        max_error: Some((max.2.abs(), max.0)),
        rmspe_pct: Some(
            (errors().map(|error| error * error).sum::<f64>() / points.len() as f64).sqrt(),
        ),
        held_out_rmspe_pct: enough.then_some(2.5),
        residuals,
    }
}
