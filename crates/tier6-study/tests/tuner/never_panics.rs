//! Any times, any sizes, any force: an answer or an error, and what is written is clean.

use proptest::prelude::*;
use tier6_collective::{DataType, Protocol, RedOp};
use tier6_nccl::{
    CostTable, Dialect, LintContext, NcclAlgorithm, NcclCollective, Release, Settings, lint_config,
    named_system, read_config,
};
use tier6_study::{
    ConfigOptions, Forced, Ll128, Predictions, Sweep, SweepPoint, audit_choices,
    config_from_sweeps, predicted_against_measured, read_performance_csv, write_plans,
};
use tier6_units::{Bytes, Micros};

fn time() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => 0.1..1e6,
        1 => Just(0.0),
        1 => any::<f64>(),
    ]
}

fn point() -> impl Strategy<Value = SweepPoint> {
    let bytes = prop_oneof![
        4 => (0_u32..36).prop_map(|exponent| 1_u64 << exponent),
        1 => any::<u64>(),
    ];
    let spread = prop::option::of(0.0..2.0);
    (bytes, time(), prop::option::of(time()), spread).prop_map(|(bytes, us, other, spread)| {
        SweepPoint {
            bytes: Bytes::new(bytes),
            time: Micros::new(us),
            other_placement: other.map(Micros::new),
            spread,
            path: None,
            predicted: other.map(Micros::new),
        }
    })
}

fn sweep() -> impl Strategy<Value = Sweep> {
    let algorithm = prop::option::of(prop::sample::select(NcclAlgorithm::ALL.to_vec()));
    let protocol = prop::option::of(prop::sample::select(Protocol::ALL.to_vec()));
    let channels = prop::option::weighted(0.1, 1..64);
    let points = prop::collection::vec(point(), 0..30);
    (algorithm, protocol, channels, points).prop_map(|(algorithm, protocol, channels, points)| {
        Sweep {
            label: "x".to_owned(),
            collective: NcclCollective::AllReduce,
            ranks: Some(8),
            nodes: Some(1),
            datatype: DataType::Float,
            redop: RedOp::Sum,
            forced: Forced {
                algorithm,
                protocol,
            },
            channels,
            points,
        }
    })
}

proptest! {
    #[test]
    fn any_text_reads(text in "\\PC{0,200}") {
        let _ = Forced::from_flags(&text);
        let _ = Forced::from_flags(&format!("NCCL_ALGO={text}"));
        let _ = Forced::from_file_name(&text);
        prop_assert!(read_performance_csv(&text).is_none());
    }

    #[test]
    fn any_cells_read(cells in prop::collection::vec("[a-z0-9.-]{0,6}|allreduce|ring|ll|1024|-1", 0..60)) {
        let header = "collective,size_bytes,algorithm,protocol,channels,nodes,ranks,pipeOps,regBuff,bandwidth_gbps,latency_us";
        let rows: Vec<String> = cells.chunks(11).map(|row| row.join(",")).collect();
        let read = read_performance_csv(&format!("{header}\n{}\n", rows.join("\n"))).unwrap();
        let points: usize = read.sweeps.iter().map(|sweep| sweep.points.len()).sum();
        prop_assert!(points + read.skipped.len() <= rows.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_sweeps_have_an_answer(
        sweeps in prop::collection::vec(sweep(), 0..8),
        is_known in any::<bool>(),
    ) {
        let release = Release::newest();
        let communicator = named_system("h100x8-dgx", release).unwrap().communicator;
        let table = CostTable::new(release, communicator, Settings::unset(release));
        let table = is_known.then_some(&table);
        let audit = audit_choices(&sweeps, table);
        for size in &audit.sizes {
            prop_assert!(!size.alternatives.is_empty());
        }
        for sweep in &sweeps {
            predicted_against_measured(sweep, Predictions::Carried);
            if let Some(table) = table {
                let model = Predictions::Table(table);
                predicted_against_measured(sweep, model);
            }
        }
        for ll128 in [Ll128::WhereNcclUsesIt, Ll128::Trusted] {
            let options = ConfigOptions { table, ll128, ..ConfigOptions::STANDARD };
            let Ok(plan) = config_from_sweeps(&sweeps, &options) else {
                continue;
            };
            prop_assert!(!plan.rows.is_empty());
            prop_assert_eq!(plan.rows[0].first, Bytes::new(0));
            prop_assert!(plan.rows.last().unwrap().last.is_none());
            let plans = [plan];
            for dialect in Dialect::ALL {
                let text = write_plans(&plans, dialect, table).unwrap();
                let config = read_config(&text, dialect);
                prop_assert!(config.findings.is_empty());
                let context = LintContext { table, ..LintContext::default() };
                for finding in lint_config(&config, &context) {
                    // Wild times do take turns.
                    prop_assert_eq!(finding.code, tier6_nccl::RuleCode::Alternating);
                }
            }
        }
    }
}
